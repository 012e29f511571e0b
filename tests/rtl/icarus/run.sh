#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The engines in Icarus Verilog, which reads the standard in its own way, and which users of cocotb
# often have. It reads the wrappers, and gn_nic_top and each engine with every choice of profiles,
# as Verilog-2001 without a warning. It sends frames of all profiles through both engines.
# gn_nic_top gets X wherever AXI4-Stream leaves something open (nic_x.v). Usage: run.sh
# PROGRAM-THAT-MAKES-VECTORS
set -euo pipefail
[ $# = 1 ] || { echo "usage: run.sh VECTORS" >&2; exit 2; }
vectors=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../../../rtl"
command -v iverilog >/dev/null || { echo "icarus: iverilog is not installed (scripts/setup --check)" >&2; exit 1; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# translate TOP ARGUMENTS...: whatever Icarus says of it is an error. (Of always @* it says what it
# waits for; that is not a fault.)
translate() {
    local top=$1
    shift
    iverilog -g2001 -Wall -Wno-sensitivity-entire-array -Wno-sensitivity-entire-vector -s "$top" "$@" >"$dir/log" 2>&1 || { cat "$dir/log"; exit 1; }
    [ ! -s "$dir/log" ] || { cat "$dir/log"; echo "icarus: warnings of $top" >&2; exit 1; }
}
for profiles in 1 2 3 4 5 6 7; do
    for top in gn_stream_compress gn_stream_decompress gn_nic_top; do
        translate "$top" -tnull "-P$top.PROFILES=$profiles" -c "$top.f"
    done
done
for top in gn_nic_port gn_nic_lanes gn_corundum_app gn_opennic_box; do
    translate "$top" -tnull -c "$top.f"
done
# A buffer that is too small for the frames is refused by name.
! iverilog -g2001 -s gn_nic_top -tnull -Pgn_nic_top.BUFFER_LOG2=8 -Pgn_nic_top.FRAME_MAX=9214 -c gn_nic_top.f >"$dir/log" 2>&1 ||
    { echo "icarus: a buffer of 8 KiB is taken for frames of 9214 bytes" >&2; exit 1; }
grep -q BUFFER_LOG2_is_too_small_for_frames_of_FRAME_MAX_bytes "$dir/log" || { cat "$dir/log"; exit 1; }
iverilog -g2001 -s gn_nic_top -tnull -Pgn_nic_top.BUFFER_LOG2=9 -Pgn_nic_top.FRAME_MAX=9214 -c gn_nic_top.f
translate engines -o "$dir/engines.vvp" -c codec.f "$here/engines.v"

# Inputs that never change, as SystemVerilog.
for profile in 0 1; do
    iverilog -g2012 -s still "-Pstill.PROFILE=$profile" -o "$dir/still.vvp" -c codec.f "$here/still.v"
    timeout 300 vvp -n "$dir/still.vvp" | tee "$dir/still"
    grep -q 'are right' "$dir/still" || { echo "icarus: the engines stand still with inputs that do" >&2; exit 1; }
done
iverilog -g2012 -s engines -o "$dir/engines_2012.vvp" -c codec.f "$here/engines.v"

"$vectors" "$dir"
for engines in engines engines_2012; do
    timeout 300 vvp -n "$dir/$engines.vvp" "+vectors=$dir" | grep -v '^WARNING: .*Not enough words' | tee "$dir/said"
    grep -q 'as the model says' "$dir/said" || { echo "icarus: the $engines did not come to their end" >&2; exit 1; }
done
for flows in 0 4; do
    iverilog -g2005 -s nic_x "-Pnic_x.FLOWS=$flows" -o "$dir/nic_x.vvp" -c gn_nic_top.f "$here/nic_x.v"
    for first in 3 4; do
        timeout 300 vvp -n "$dir/nic_x.vvp" "+first=$first" | tee "$dir/nic_x"
        grep -q 'nothing is X' "$dir/nic_x" || { echo "icarus: X in gn_nic_top, FLOWS_LOG2 $flows" >&2; exit 1; }
    done
done
