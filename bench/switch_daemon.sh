#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What the software switch costs its host. Four workers (network namespaces on this machine) sum
# vectors through `gradnic switch` with one shard. Processor time that the kernel charges to the
# switch's process is set against what came in: how many Gbit/s of gradients one core takes, and
# answers to all four. Sends go through the receivers' side of the veth; receiving softirqs may be
# charged to others.
#
#   bench/switch_daemon.sh RESULT.json [ROUNDS]     default: 3 rounds of each case; needs root
#   GRADNIC=path          the program (default: build/release/tools/gradnic)
#   SWITCH_CLIENT=path    the workers (default: build/release/tests/switch/switch_client)
[ $# -ge 1 ] || { sed -n '3,11s/^# \{0,1\}//p' "$0" >&2; exit 2; }
result=$1 rounds=${2:-3}
root=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=tests/net/switch_lib.sh
source "$root/tests/net/switch_lib.sh"
set -e

# MTU, values of a packet, slots of a stream, format (0 int32, 2 dense at 2^-10), arguments of the
# switch
cases=(
    "1500 64 256 0"
    "1500 256 128 0"
    "1500 256 128 0 --no-offload"
    "1500 256 128 2"
    "9000 1024 64 0"
    "9000 1024 64 0 --no-offload"
    "9000 2048 64 2"
)
rows=()

# nanoseconds that the switch's threads have run
cpu() { awk '{ sum += $1 } END { printf "%.0f", sum }' /proc/"$switch_pid"/task/*/schedstat; }

# once MTU VALUES SLOTS FORMAT [ARGUMENT]: one run, as a row of JSON
once() {
    local mtu=$1 values=$2 slots=$3 format=$4 before after
    shift 4
    switch_start -q --values 2048 "$@"
    before=$(cpu)
    workers 1 bench 4 values "$values" slots "$slots" format "$format" count 2000000 rounds 5 timeout 60000
    workers_good bench
    after=$(cpu)
    switch_ask stats --json | jq -c --argjson ns $((after - before)) --arg case "$mtu $values $format $*" \
        --argjson resent "$(jq -s 'map(.resent) | add' "$testbed_dir"/bench-*.out)" --argjson sent "$(jq -s 'map(.sent) | add' "$testbed_dir"/bench-*.out)" \
        '{case: $case, cpu_s: ($ns / 1e9), in_bytes: .total.udp.bytes, out_bytes: .total.udp.out_bytes, datagrams_in: .total.udp.datagrams,
          values: .total.core.values, resent: ($resent / $sent)} |
         . + {gbit_per_core: (.in_bytes * 8 / .cpu_s / 1e9), gvalues_per_core: (.values / .cpu_s / 1e9), us_per_datagram: (.cpu_s * 1e6 / .datagrams_in)}'
    switch_stop TERM
}

for ((round = 0; round < rounds; round++)); do
    for mtu in 1500 9000; do
        begin 4 --mtu "$mtu"
        for line in "${cases[@]}"; do
            read -ra words <<<"$line"
            [ "${words[0]}" = "$mtu" ] || continue
            rows+=("$(once "${words[@]}")")
        done
        testbed_down
    done
done
printf '%s\n' "${rows[@]}" | jq -s --argjson rounds "$rounds" --arg date "$(date -u +%FT%TZ)" --arg cores "$(nproc)" --arg load "$(cut -d' ' -f1-3 /proc/loadavg)" \
    --arg cpu "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)" '
    def median: sort | .[length / 2 | floor];
    {date: $date, cpu: $cpu, cores: $cores, load_at_end: $load, rounds: $rounds, cases: (group_by(.case) | map({case: .[0].case} +
        ([.[] | del(.case)] | . as $all | (.[0] | keys) | map({(.): ([$all[][.]] | median)}) | add)))}' >"$result"
{
    echo "MTU values format arguments|Gbit/s in, a core|Gvalues/s, a core|us a datagram|resent"
    jq -r '.cases[] | [.case, (.gbit_per_core * 100 | round / 100), (.gvalues_per_core * 1000 | round / 1000), (.us_per_datagram * 1000 | round / 1000), (.resent * 1000 | round / 1000)] | map(tostring) | join("|")' "$result"
} | column -t -s '|'
