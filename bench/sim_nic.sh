#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Two NICs in hardware and the link between them, simulated: goodput, what the link carries, and the
# bottleneck, at 10 to 100 Gbit/s. Prints the tables of docs/sim-nic.md and docs/hardware-fill.md,
# and writes every report to a JSON file.
#
#   bench/sim_nic.sh RESULT.json [FILE]
#   FILE                gradients (default: one of tests/data/gradients)
#   MODEL=rtl           the hardware itself (default: behavioural)
#   TABLES='paced ...'  only these: paced, unlimited, clock, sizes (default: all)
#   GRADNIC=path        the program (default: build/release/tools/gradnic)
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
gradnic=${GRADNIC:-$root/build/release/tools/gradnic}
model=${MODEL:-behavioural}
tables=${TABLES:-paced unlimited clock sizes}
[ $# -ge 1 ] || { sed -n '3,12s/^# \{0,1\}//p' "$0" >&2; exit 2; }
[ -x "$gradnic" ] || { echo "sim_nic.sh: $gradnic: not there; build it, or set GRADNIC" >&2; exit 1; }
result=$1
file=${2:-$root/tests/data/gradients/cnn-it100-w0.npy.gz}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
: >"$work/all"

# run TABLE NAME OPTIONS...: one simulation, one line of a table
run() {
    local table=$1 name=$2
    [[ " $tables " == *" $table "* ]] || return 0
    shift 2
    "$gradnic" sim nic -q --json --model "$model" -i "$file" "$@" | jq -c --arg table "$table" --arg name "$name" '{table: $table, name: $name} + .' >>"$work/all"
}
# show TABLE TITLE: as Markdown
show() {
    [[ " $tables " == *" $1 "* ]] || return 0
    echo
    echo "== $2"
    echo
    echo "| link | clock | profile | goodput, Gbit/s | on the link, Gbit/s | link busy | times less | host waits | behind its pace | latency, median | bottleneck |"
    echo "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    jq -r --arg table "$1" 'def digits(n): . * pow(10; n) | round / pow(10; n);
        select(.table == $table) | .directions[0] as $d |
        "| \(.setup.rate_bit_s / 1e9) Gbit/s | \(.setup.clock_hz / 1e6) MHz | \(.name) | \($d.goodput_bit_s / 1e9 | digits(2)) | \($d.link.bit_s / 1e9 | digits(2)) | "
        + "\($d.link.busy * 100 | digits(1)) % | \($d.link_ratio | digits(2)) | \($d.compressor.stalled * 100 | digits(1)) % | \(if $d.behind_pace then "\($d.behind_pace * 100 | digits(1)) %" else "" end) | \($d.latency_ns.median / 1000 | digits(2)) us | \($d.bottleneck) |"' "$work/all"
}

profiles=(none paper lattice dense)

for rate in 10 25 40 100; do
    for profile in "${profiles[@]}"; do run paced "$profile" --rate "${rate}gbit" --pace "${rate}gbit" -p "$profile"; done
done
show paced "the host gives what an Ethernet of the link's rate would; NICs at 100 MHz ($model)"

for rate in 10 25 40 100; do
    for profile in "${profiles[@]}"; do run unlimited "$profile" --rate "${rate}gbit" -p "$profile"; done
done
show unlimited "the host gives what its NIC takes; NICs at 100 MHz ($model)"

for pair in 10:35 10:40 25:100 40:100 40:156.25 40:200 100:200 100:390.625 100:400; do
    run clock dense --rate "${pair%:*}gbit" --pace "${pair%:*}gbit" --clock "${pair#*:}mhz"
done
show clock "the clock that a link needs ($model)"

for profile in paper lattice dense; do
    for mtu in 1500 4000 9000; do
        run sizes "$profile, MTU $mtu" --rate 10gbit --pace 10gbit --host-mtu "$mtu" -p "$profile"
    done
done
show sizes "longer packets of the host, 10 Gbit/s; NICs at 100 MHz ($model)"

jq -s '{benchmark: "sim_nic.sh", runs: .}' "$work/all" >"$result"
