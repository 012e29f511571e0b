#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Allreduce between four hosts over links of limited speed, through gradnic's NICs: without compression, lattice, paper, and the
# worker-aggregator baseline. Real gradients, repeated to the size.
# bench/exchange/links.sh [BUILD] [OUT.json]
#     RATES="200mbit 1gbit" SIZES="25000000 100000000" ITERATIONS=3 ROUNDS=1 CUTS="fill mtu" PREFIX=gnlinks
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${1:-$root/build/release}
out=${2:--}
read -ra rates <<<"${RATES:-200mbit 1gbit}"
read -ra sizes <<<"${SIZES:-25000000 100000000}"
read -ra cuts <<<"${CUTS:-fill mtu}"
iterations=${ITERATIONS:-3} rounds=${ROUNDS:-1}
export GRADNIC=$build/tools/gradnic
# shellcheck source=scripts/testbed
source "$root/scripts/testbed"
# shellcheck source=tests/net/ranks.sh
source "$root/tests/net/ranks.sh"
testbed_possible || exit 1
gradients=$root/tests/data/gradients/cnn-it100-w%r.npy.gz
rows=$(mktemp)
trap 'testbed_down; rm -f "$rows"' EXIT

# NAME|NIC|ARGS. The aggregator's second leg is compressed in wa-lattice and wa-paper; with "-weights" it is not, as in the paper.
cases=()
for cut in "${cuts[@]}"; do
    cases+=("ring-lattice-$cut|-p lattice -k 10 --cut $cut|-p lattice -k 10" "ring-paper-$cut|-p paper -k 10 --cut $cut|-p paper -k 10")
done
cases=("ring-plain-no-nic||" "ring-none|-p lattice -k 10|" "${cases[@]}"
    "wa-none|-p lattice -k 10|--algorithm worker-aggregator"
    "wa-lattice-weights|-p lattice -k 10|-p lattice -k 10 --algorithm worker-aggregator --aggregator-weights"
    "wa-lattice|-p lattice -k 10|-p lattice -k 10 --algorithm worker-aggregator"
    "wa-paper-weights|-p paper -k 10|-p paper -k 10 --algorithm worker-aggregator --aggregator-weights")

busy() { awk '/^cpu /{print $2 + $3 + $4 + $6 + $7 + $8, $5}' /proc/stat; }  # user nice system irq softirq steal; idle

run_case() { # RATE SIZE NAME NIC ARGS
    local before after cpu bytes ratio=null
    before=$(busy) bytes=$(testbed_link_bytes)
    # shellcheck disable=SC2086
    ranks_start -b "$2" -e "$2" -n "$iterations" -w 1 --link "$1" --input "$gradients" --timeout 60s --json $5
    ranks_wait
    ranks_good "$3"
    after=$(busy) bytes=$(($(testbed_link_bytes) - bytes))
    cpu=$(awk -v b="$before" -v a="$after" 'BEGIN { split(b, x); split(a, y); u = y[1] - x[1]; print u / (u + y[2] - x[2]) }')
    [ -z "$4" ] || ratio=$(testbed_stats 1 | jq '[.. | .ratio? // empty] | first // null')
    jq -c --arg name "$3" --arg rate "$1" --argjson cpu "$cpu" --argjson bytes "$bytes" --argjson ratio "$ratio" --argjson n "$((iterations + 1))" '
        {name: $name, rate: $rate, size: .results[0].size, time_us: .results[0].time_us, wrong: .results[0].wrong,
         identical: .results[0].identical, cpu: $cpu, link_bytes: ($bytes / $n | floor), ratio: $ratio}' "$testbed_dir/rank0.out" >>"$rows"
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
    def median: sort | if length % 2 == 1 then .[length / 2 | floor] else (.[length / 2 - 1] + .[length / 2]) / 2 end;
    def bits: if endswith("gbit") then (rtrimstr("gbit") | tonumber) * 1e9 else (rtrimstr("mbit") | tonumber) * 1e6 end;
    {date: $date, kernel: $kernel, cores: $cores, hosts: 4, results: [group_by([.rate, .size])[] |
        (map(select(.name == "ring-none").time_us) | median) as $none | (map(select(.name == "wa-none").time_us) | median) as $wa |
        group_by(.name)[] | (map(.time_us) | median) as $t | .[0] as $r |
        (1.5 * $r.size * 8 / ($r.rate | bits) * 1e6) as $raw | ($raw * 1514 / (if $r.name == "ring-plain-no-nic" then 1448 else 1412 end)) as $bound |
        {rate: $r.rate, size: $r.size, name: $r.name, time_ms: ($t / 1000), runs_ms: map(.time_us / 1000), wrong: (map(.wrong) | add),
         identical: (map(.identical) | all), bound_ms: ($bound / 1000), over_bound: ($t / $bound - 1), over_raw_bound: ($t / $raw - 1),
         speedup_over_ring: ($none / $t), speedup_over_aggregator: ($wa / $t), nic_ratio: $r.ratio, cpu: (map(.cpu) | median),
         link_bytes: (map(.link_bytes) | median)}]}' "$rows" >"$rows.json"
jq -r '["rate", "size", "case", "ms", "over bound", "x ring", "x aggregator", "NIC ratio", "CPU", "wrong"], (.results[] | [.rate, .size, .name,
    (.time_ms * 10 | round / 10), "\(.over_bound * 1000 | round / 10) %", (.speedup_over_ring * 100 | round / 100),
    (.speedup_over_aggregator * 100 | round / 100), ((.nic_ratio // 1) * 100 | round / 100), "\(.cpu * 100 | round) %", .wrong]) | @tsv' "$rows.json" |
    column -t -s "$(printf '\t')" >&2
if [ "$out" = - ]; then cat "$rows.json"; else cp "$rows.json" "$out"; fi
rm -f "$rows.json"
