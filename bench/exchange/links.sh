#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Allreduce between four hosts over links of limited speed, through gradnic's NICs: without compression, with dense, lattice and paper, each
# with either cut, and the worker-aggregator baseline. Real gradients, repeated to the size.
# bench/exchange/links.sh [BUILD] [OUT.json]
#     RATES="200mbit 1gbit" SIZES="25000000 100000000" ITERATIONS=2 ROUNDS=1 CUTS="fill mtu" K=10 PREFIX=gnlinks
#     ONLY=REGEX    the cases whose names match, e.g. '^ring'
# About five minutes a rate.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${1:-$root/build/release}
out=${2:--}
read -ra rates <<<"${RATES:-200mbit 1gbit}"
read -ra sizes <<<"${SIZES:-25000000 100000000}"
read -ra cuts <<<"${CUTS:-fill mtu}"
iterations=${ITERATIONS:-2} rounds=${ROUNDS:-1} k=${K:-10}
export GRADNIC=$build/tools/gradnic
# shellcheck source=scripts/testbed
source "$root/scripts/testbed"
# shellcheck source=tests/net/ranks.sh
source "$root/tests/net/ranks.sh"
testbed_possible || exit 1
gradients=$root/tests/data/gradients/cnn-it100-w%r.npy.gz
rows=$(mktemp)
trap 'testbed_down; rm -f "$rows"' EXIT

# NAME|NIC|ARGS. The aggregator's second leg is compressed in wa-dense; with "-weights" it is not, as in the paper.
cases=("ring-plain-no-nic||" "ring-none|-k $k|")
for profile in dense lattice paper; do
    for cut in "${cuts[@]}"; do cases+=("ring-$profile-$cut|-p $profile -k $k --cut $cut|-p $profile -k $k"); done
done
cases+=("wa-none|-k $k|--algorithm worker-aggregator"
    "wa-dense-weights|-p dense -k $k|-p dense -k $k --algorithm worker-aggregator --aggregator-weights"
    "wa-dense|-p dense -k $k|-p dense -k $k --algorithm worker-aggregator")
mapfile -t cases < <(printf '%s\n' "${cases[@]}" | awk -F '|' -v only="${ONLY:-.}" '$1 ~ only')
[ "${#cases[@]}" -gt 0 ] || { echo "links.sh: no case matches '$ONLY'" >&2; exit 2; }

busy() { awk '/^cpu /{print $2 + $3 + $4 + $6 + $7 + $8, $5}' /proc/stat; }  # user nice system irq softirq steal; idle

# Packets that carried gradients, and gradient bytes in them, of all NICs: [packets, bytes].
sent() {
    local i
    for ((i = 1; i <= testbed_count; i++)); do testbed_stats "$i"; done |
        jq -sc 'map(.tx.rules[0]) | [(map(.compressed + .stored) | add), (map(.payload_bytes) | add)]'
}

run_case() { # RATE SIZE NAME NIC ARGS
    local before after cpu bytes sent_before=null sent_after=null ratio=null
    before=$(busy) bytes=$(testbed_link_bytes)
    [ -z "$4" ] || sent_before=$(sent)
    # shellcheck disable=SC2086
    ranks_start -b "$2" -e "$2" -n "$iterations" -w 1 --rate "$1" --input "$gradients" --timeout 60s --json $5
    ranks_wait
    ranks_good "$3"
    after=$(busy) bytes=$(($(testbed_link_bytes) - bytes))
    cpu=$(awk -v b="$before" -v a="$after" 'BEGIN { split(b, x); split(a, y); u = y[1] - x[1]; print u / (u + y[2] - x[2]) }')
    [ -z "$4" ] || ratio=$(testbed_stats 1 | jq '[.. | .ratio? // empty] | first // null') sent_after=$(sent)
    jq -c --arg name "$3" --arg rate "$1" --argjson cpu "$cpu" --argjson bytes "$bytes" --argjson ratio "$ratio" \
        --argjson from "$sent_before" --argjson to "$sent_after" --argjson n "$((iterations + 1))" '
        {name: $name, rate: $rate, size: .results[0].size, time_us: .results[0].time_us, wrong: .results[0].wrong,
         identical: .results[0].identical, cpu: $cpu, link_bytes: ($bytes / $n | floor), ratio: $ratio,
         packets: (if $from then ($to[0] - $from[0]) / $n | floor else null end),
         packet_bytes: (if $from and $to[0] > $from[0] then ($to[1] - $from[1]) / ($to[0] - $from[0]) | floor else null end)}' "$testbed_dir/rank0.out" >>"$rows"
    tail -n 1 "$rows" >&2
}

for rate in "${rates[@]}"; do
    for ((round = 0; round < rounds; round++)); do
        for entry in "${cases[@]}"; do
            IFS='|' read -r name nic arguments <<<"$entry"
            if [ -z "$nic" ]; then testbed_up 4 --prefix "${PREFIX:-gnlinks}" --rate "$rate" --no-nic
            else testbed_up 4 --prefix "${PREFIX:-gnlinks}" --rate "$rate" --nic "$nic"; fi
            for size in "${sizes[@]}"; do run_case "$rate" "$size" "$name" "$nic" "$arguments"; done
            testbed_down
        done
    done
done

# The bound: 2(N-1)/N * n / bandwidth, where the bandwidth is what Ethernet frames of 1514 bytes leave for the values: 1448 bytes without
# a NIC; with one, 28 bytes of IPv4 and UDP and 8 of the NIC's header less.
jq -s --arg date "$(date -u +%FT%TZ)" --arg kernel "$(uname -r)" --argjson cores "$(nproc)" '
    def median: if length == 0 then null else sort | if length % 2 == 1 then .[length / 2 | floor] else (.[length / 2 - 1] + .[length / 2]) / 2 end end;
    def over($a; $b): if $a then $a / $b else null end;
    def bits: if endswith("gbit") then (rtrimstr("gbit") | tonumber) * 1e9 else (rtrimstr("mbit") | tonumber) * 1e6 end;
    {date: $date, kernel: $kernel, cores: $cores, hosts: 4, results: [group_by([.rate, .size])[] |
        (map(select(.name == "ring-none").time_us) | median) as $none | (map(select(.name == "wa-none").time_us) | median) as $wa |
        group_by(.name)[] | (map(.time_us) | median) as $t | .[0] as $r |
        (1.5 * $r.size * 8 / ($r.rate | bits) * 1e6) as $raw | ($raw * 1514 / (if $r.name == "ring-plain-no-nic" then 1448 else 1412 end)) as $bound |
        {rate: $r.rate, size: $r.size, name: $r.name, time_ms: ($t / 1000), runs_ms: map(.time_us / 1000), wrong: (map(.wrong) | add),
         identical: (map(.identical) | all), bound_ms: ($bound / 1000), over_bound: ($t / $bound - 1), over_raw_bound: ($t / $raw - 1),
         speedup_over_ring: over($none; $t), speedup_over_aggregator: over($wa; $t), nic_ratio: $r.ratio, cpu: (map(.cpu) | median),
         packets: (map(.packets) | median), packet_bytes: (map(.packet_bytes) | median), link_bytes: (map(.link_bytes) | median)}]}' "$rows" >"$rows.json"
jq -r '["rate", "size", "case", "ms", "over bound", "x ring", "x aggregator", "NIC ratio", "packets", "bytes each", "CPU", "wrong"], (.results[] | [.rate, .size, .name,
    (.time_ms * 10 | round / 10), "\(.over_bound * 1000 | round / 10) %", ((.speedup_over_ring // 0) * 100 | round / 100),
    ((.speedup_over_aggregator // 0) * 100 | round / 100), ((.nic_ratio // 1) * 100 | round / 100), .packets // "-",
    .packet_bytes // "-", "\(.cpu * 100 | round) %", .wrong]) | @tsv' "$rows.json" |
    column -t -s "$(printf '\t')" >&2
if [ "$out" = - ]; then cat "$rows.json"; else cp "$rows.json" "$out"; fi
rm -f "$rows.json"
