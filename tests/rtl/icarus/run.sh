#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The engines in Icarus Verilog, which reads the standard in its own way, and which users of cocotb
# often have. It reads nic_top and each engine with every choice of profiles as Verilog-2001 without
# a warning, and sends frames of all profiles through both engines. Usage: run.sh
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
    for top in stream_compress stream_decompress nic_top; do
        translate "$top" -tnull "-P$top.PROFILES=$profiles" -c "$top.f"
    done
done
translate engines -o "$dir/engines.vvp" -c codec.f "$here/engines.v"

"$vectors" "$dir"
timeout 300 vvp -n "$dir/engines.vvp" "+vectors=$dir" | grep -v '^WARNING: .*Not enough words' | tee "$dir/said"
grep -q 'as the model says' "$dir/said" || { echo "icarus: the engines did not come to their end" >&2; exit 1; }
