#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sums of gradients over four hosts (network namespaces) on links of limited speed, taking turns:
# the ring, direct and the worker-aggregator as they are, compressed by the ranks (library) and by
# NICs; two groups of two hosts; and a switch where the links meet. Real gradients at 2^-K, repeated
# to the size. Every result is checked.
#
#   bench/exchange/links.sh RESULT.json [BUILD]        needs root; about 6 minutes a round
#       RATES="200mbit 1gbit"           all cases run at these link rates
#       SIZES="25000000 100000000"      bytes of a vector
#       CURVE=""                        further rates: only the curve's cases, at the first size
#       CUTS="fill mtu"  K=10  ITERATIONS=2  ROUNDS=1  PREFIX=gnlinks
#       ONLY=REGEX                      the cases whose names match, for example '^ring'
#       RTO=TIME                        shortest time after which a worker sends to the switch again
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
[ $# -ge 1 ] || { sed -n '3,14s/^# \{0,1\}//p' "$0" >&2; exit 2; }
result=$1
export GRADNIC=${2:-$root/build/release}/tools/gradnic
read -ra rates <<<"${RATES:-200mbit 1gbit}"
read -ra curve <<<"${CURVE:-}"
read -ra sizes <<<"${SIZES:-25000000 100000000}"
read -ra cuts <<<"${CUTS:-fill mtu}"
iterations=${ITERATIONS:-2} rounds=${ROUNDS:-1} k=${K:-10}
# shellcheck source=bench/switch_testbed.sh
source "$root/bench/switch_testbed.sh"
testbed_possible || exit 1
gradients=$root/tests/data/gradients/cnn-it100-w%r.npy.gz
rows=$(mktemp)
trap 'testbed_down; rm -f "$rows" "$rows".*' EXIT

# NAME|NIC|SWITCH|ARGS. Without NIC the hosts have plain links. wa-dense compresses both legs,
# wa-dense-gradients only the one to the aggregator, as in the paper. 360 values are what 1500 bytes
# take as int32 with IPv4.
through="--algorithm switch --switch $switch_address${RTO:+ --switch-rto $RTO}"
cases=("ring|||" "ring-nic|-k $k||")
for profile in dense lattice paper; do
    for cut in "${cuts[@]}"; do
        cases+=("ring-$profile-$cut|-p $profile -k $k --cut $cut||-p $profile -k $k --offload nic")
    done
done
library="-p dense -k $k --offload library"
cases+=("ring-library|||$library" "direct-library|||$library --algorithm direct" "direct|||--algorithm direct"
    "wa-library|||$library --algorithm worker-aggregator"
    "group-ring|||--groups 2" "group-ring-library|||$library --groups 2"
    "group-aggregator-library|||$library --algorithm group-aggregator --groups 2"
    "aggregators-library|||$library --algorithm aggregators --groups 2"
    "switch||yes|$through --switch-values 360"
    "switch-dense||yes|$through -p dense -k $k"
    "wa|||--algorithm worker-aggregator"
    "wa-dense-gradients|-p dense -k $k||-p dense -k $k --offload nic --algorithm worker-aggregator --aggregator-weights"
    "wa-dense|-p dense -k $k||-p dense -k $k --offload nic --algorithm worker-aggregator")
mapfile -t cases < <(printf '%s\n' "${cases[@]}" | awk -F '|' -v only="${ONLY:-.}" '$1 ~ only')
[ "${#cases[@]}" -gt 0 ] || { echo "links.sh: no case matches '$ONLY'" >&2; exit 2; }
on_curve='^(ring|ring-dense-fill|ring-library|direct-library|switch|switch-dense)$'

# Packets that carried gradients, and gradient bytes in them, of all NICs: [packets, bytes].
sent() {
    local i
    for ((i = 1; i <= testbed_count; i++)); do testbed_stats "$i"; done |
        jq -sc 'map(.tx.rules[0]) | [(map(.compressed + .stored) | add), (map(.payload_bytes) | add)]'
}

run_case() { # RATE SIZE ROUND NAME NIC ARGS
    local before after cpu bytes ticks=0 sent_before=null sent_after=null ratio=null
    before=$(busy) bytes=$(testbed_link_bytes)
    [ -z "$switch_pid" ] || ticks=$(switch_ticks)
    [ -z "$5" ] || sent_before=$(sent)
    # shellcheck disable=SC2086  # the arguments are words
    ranks_start -b "$2" -e "$2" -n "$iterations" -w 1 --rate "$1" --input "$gradients" --timeout 60s --json $6
    ranks_wait
    ranks_good "$4"
    after=$(busy) bytes=$(($(testbed_link_bytes) - bytes))
    [ -z "$switch_pid" ] || ticks=$(($(switch_ticks) - ticks))
    cpu=$(awk -v b="$before" -v a="$after" 'BEGIN {
        split(b, x); split(a, y); u = y[1] - x[1]; print u / (u + y[2] - x[2]) }')
    [ -z "$5" ] || ratio=$(testbed_stats 1 | jq '[.. | .ratio? // empty] | first // null') sent_after=$(sent)
    jq -c --arg name "$4" --arg rate "$1" --argjson round "$3" --argjson cpu "$cpu" --argjson bytes "$bytes" \
        --argjson ratio "$ratio" \
        --argjson ticks "$ticks" --argjson from "$sent_before" --argjson to "$sent_after" \
        --argjson n "$((iterations + 1))" '
        .results[0] |
        {name: $name, rate: $rate, round: $round, size, time_us, wrong, identical, cpu: $cpu,
         link_bytes: ($bytes / $n | floor), ratio: $ratio,
         packets: (if $from then ($to[0] - $from[0]) / $n | floor else null end),
         packet_bytes: (if $from and $to[0] > $from[0] then ($to[1] - $from[1]) / ($to[0] - $from[0]) | floor
                        else null end),
         sent_bytes, received_bytes, sent_wire_bytes, received_wire_bytes, resent_packets: (.resent_packets // 0),
         switch_cpu_ms: ($ticks * 10 / $n)}' "$testbed_dir/rank0.out" >>"$rows"
    tail -n 1 "$rows" >&2
}

# run_rate RATE REGEX SIZE...: one turn of all cases whose names match
run_rate() {
    local rate=$1 matching=$2 entry name nic switch arguments size
    shift 2
    for entry in "${cases[@]}"; do
        IFS='|' read -r name nic switch arguments <<<"$entry"
        [[ $name =~ $matching ]] || continue
        switch_pid=
        if [ -z "$nic" ]; then testbed_up 4 --prefix "${PREFIX:-gnlinks}" --rate "$rate" --no-nic
        else testbed_up 4 --prefix "${PREFIX:-gnlinks}" --rate "$rate" --nic "$nic"; fi
        [ -z "$switch" ] || switch_up --slots 8192
        for size in "$@"; do run_case "$rate" "$size" "$round" "$name" "$nic" "$arguments"; done
        testbed_down
    done
}

for ((round = 1; round <= rounds; round++)); do
    for rate in "${rates[@]}"; do run_rate "$rate" . "${sizes[@]}"; done
    for rate in ${curve[@]+"${curve[@]}"}; do run_rate "$rate" "$on_curve" "${sizes[0]}"; done
done

# The bound is what a link has to carry in one direction. The ring, direct and rings of groups:
# 2(N-1)/N of the vector, or what rank 0 sent or received as streams. The switch: the vector. The
# worker-aggregator: N-1 vectors, at rank 0. A frame of 1514 bytes takes 1448 bytes of values by
# TCP, 1412 through a NIC, 1440 to the switch. Compressed packets to the switch: the longer
# direction's datagrams, with 42 bytes of headers each.
# A ratio of two times is the median of the rounds' own: both were measured within minutes.
jq -s --arg date "$(date -u +%FT%TZ)" --arg kernel "$(uname -r)" --argjson cores "$(nproc)" \
    --argjson load "$(cut -d ' ' -f 1 /proc/loadavg)" \
    --arg cpu "$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1)" --argjson k "$k" \
    --argjson rounds "$rounds" --argjson iterations "$iterations" '
    def median: map(select(. != null)) | if length == 0 then null else sort
        | if length % 2 == 1 then .[length / 2 | floor] else (.[length / 2 - 1] + .[length / 2]) / 2 end end;
    def bits: if endswith("gbit") then (rtrimstr("gbit") | tonumber) * 1e9 else (rtrimstr("mbit") | tonumber) * 1e6 end;
    def longest: [.sent_bytes, .received_bytes] | max;
    def longest_wire: [.sent_wire_bytes, .received_wire_bytes] | max;
    def bound: (.rate | bits) as $rate | (.size * 8 / $rate) as $bare |
        if .name == "ring" or .name == "direct" or .name == "group-ring" then 1.5 * $bare * 1514 / 1448
        elif .name == "ring-nic" then 1.5 * $bare * 1514 / 1412
        elif .name == "switch" then $bare * 1514 / 1440
        elif .name == "switch-dense" then (longest + (.size / 8192 | ceil) * 42) * 8 / $rate
        elif .name == "ring-library" or .name == "direct-library" or .name == "group-ring-library" then longest_wire * 8 / $rate * 1514 / 1448
        elif .name == "wa" then 3 * $bare * 1514 / 1448
        else null end;
    def faster($rows; $from): . as $own
        | [$rows[] | select(.name == $from) as $x | $own[] | select(.round == $x.round)
         | $x.time_us / .time_us] | median;
    {benchmark: "links.sh",
     environment: {date: $date, cpu: $cpu, cores: $cores, kernel: $kernel, load: $load}, hosts: 4, k: $k,
     rounds: $rounds, iterations: $iterations,
     results: [group_by([(.rate | bits), .size])[] | . as $rows | group_by(.name)[] | .[0] as $r |
        (map(.time_us) | median) as $t | (map(bound) | median) as $bound |
        {rate: $r.rate, rate_bits: ($r.rate | bits), size: $r.size, name: $r.name,
         time_ms: ($t / 1000), runs_ms: map(.time_us / 1000),
         faster_than_ring: faster($rows; "ring"), faster_than_wa: faster($rows; "wa"),
         faster_than_switch: faster($rows; "switch"),
         faster_than_ring_dense: faster($rows; "ring-dense-fill"),
         bound_ms: (if $bound then $bound * 1000 else null end),
         over_bound: (if $bound then $t / 1e6 / $bound - 1 else null end),
         wrong: (map(.wrong) | add), identical: (map(.identical) | all), nic_ratio: $r.ratio, cpu: (map(.cpu) | median),
         packets: (map(.packets) | median), packet_bytes: (map(.packet_bytes) | median),
         link_bytes: (map(.link_bytes) | median),
         sent_bytes: (map(.sent_bytes) | median), received_bytes: (map(.received_bytes) | median),
         resent_packets: (map(.resent_packets) | median),
         switch_cpu_ms: (map(.switch_cpu_ms) | median)}]}' "$rows" >"$rows.json"

jq -r 'def digits(n): if . == null then "-" else . * pow(10; n) | round / pow(10; n) end;
    ["rate", "size", "case", "ms", "over bound", "x ring", "x wa", "NIC ratio", "packets", "bytes each",
     "CPU", "wrong"], (.results[] |
    [.rate, .size, .name, (.time_ms | digits(1)),
     (if .over_bound then "\(.over_bound * 100 | digits(1)) %" else "-" end), (.faster_than_ring | digits(2)),
     (.faster_than_wa | digits(2)), (.nic_ratio | digits(2)), .packets // "-", .packet_bytes // "-",
     "\(.cpu * 100 | round) %", .wrong]) | @tsv' "$rows.json" |
    column -t -s $'\t'
echo
jq -r '.results[] | "\(.rate), \(.size) bytes: " as $where
    | if .name == "switch" and .faster_than_ring then
        $where + "the switch is \(.faster_than_ring * 100 | round / 100) times as fast as the ring (wanted 1.4), "
        + "\(.over_bound * 100 | round) % over the link (wanted 10 % at most)"
      elif .name == "switch-dense" and .faster_than_switch then
        $where + "dense makes the switch \(.faster_than_switch * 100 | round / 100) times as fast"
      else empty end' "$rows.json"
jq -e 'all(.results[]; .wrong == 0 and .identical)' "$rows.json" >/dev/null ||
    { echo "links.sh: sums were wrong" >&2; exit 1; }
cp "$rows.json" "$result.part" && mv "$result.part" "$result" && echo "written: $result"
