#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sums over four workers on links of limited speed, by the ring and by a switch, uncompressed and compressed, taking turns: times, ratios of the rounds
# and claims. Real gradients, repeated to the size.
# bench/switch_speed.sh RESULT.json [BUILD]
#     RATES="1gbit" SIZES="25000000 100000000" ITERATIONS=3 ROUNDS=3 K=10 PREFIX=gnspeed
#     RTO=TIME      least time after which workers send again (the program's own default)
#     ONLY=REGEX    the cases whose names match
# Two minutes a round; needs root.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
[ $# -ge 1 ] || { sed -n '3,9s/^# \{0,1\}//p' "$0" >&2; exit 2; }
result=$1
export GRADNIC=${2:-$root/build/release}/tools/gradnic
read -ra rates <<<"${RATES:-1gbit}"
read -ra sizes <<<"${SIZES:-25000000 100000000}"
iterations=${ITERATIONS:-3} rounds=${ROUNDS:-3} k=${K:-10}
# shellcheck source=bench/switch_testbed.sh
source "$root/bench/switch_testbed.sh"
testbed_possible || exit 1
gradients=$root/tests/data/gradients/cnn-it100-w%r.npy.gz
rows=$(mktemp)
trap 'testbed_down; rm -f "$rows" "$rows".*' EXIT

# NAME|NIC|SWITCH|ARGS. 360 values are what 1500 bytes take as int32 with IPv4; a compressed packet of 2048 (without being told) is mostly shorter than that.
through="--algorithm switch --switch $switch_address${RTO:+ --switch-rto $RTO}"
cases=("ring|||" "switch||1|$through --switch-values 360"
    "ring-dense|-p dense -k $k||-p dense -k $k" "switch-dense||1|$through -p dense -k $k")
mapfile -t cases < <(printf '%s\n' "${cases[@]}" | awk -F '|' -v only="${ONLY:-.}" '$1 ~ only')
[ "${#cases[@]}" -gt 0 ] || { echo "switch_speed.sh: no case matches '$ONLY'" >&2; exit 2; }

run_case() { # RATE SIZE ROUND NAME ARGS
    local before after cpu ticks=0
    before=$(busy)
    [ -z "$switch_pid" ] || ticks=$(switch_ticks)
    # shellcheck disable=SC2086  # the arguments are words
    ranks_start -b "$2" -e "$2" -n "$iterations" -w 1 --input "$gradients" --timeout 60s --json $5
    ranks_wait
    ranks_good "$4"
    after=$(busy)
    [ -z "$switch_pid" ] || ticks=$(($(switch_ticks) - ticks))
    cpu=$(awk -v b="$before" -v a="$after" 'BEGIN { split(b, x); split(a, y); u = y[1] - x[1]; print u / (u + y[2] - x[2]) }')
    jq -c --arg name "$4" --arg rate "$1" --argjson round "$3" --argjson cpu "$cpu" --argjson ticks "$ticks" --argjson n "$((iterations + 1))" '.results[0] |
        {name: $name, rate: $rate, round: $round, size, time_us, wrong, identical, sent_bytes, received_bytes, resent_packets, late_packets, cpu: $cpu,
         switch_cpu_ms: ($ticks * 10 / $n)}' "$testbed_dir/rank0.out" >>"$rows"
    tail -n 1 "$rows" >&2
}

for rate in "${rates[@]}"; do
    for ((round = 1; round <= rounds; round++)); do
        for entry in "${cases[@]}"; do
            IFS='|' read -r name nic switch arguments <<<"$entry"
            switch_pid=
            if [ -z "$nic" ]; then testbed_up 4 --prefix "${PREFIX:-gnspeed}" --rate "$rate" --no-nic
            else testbed_up 4 --prefix "${PREFIX:-gnspeed}" --rate "$rate" --nic "$nic"; fi
            [ -z "$switch" ] || switch_up --slots 8192
            for size in "${sizes[@]}"; do run_case "$rate" "$size" "$round" "$name" "$arguments"; done
            testbed_down
        done
    done
done

# The bound of a case: the bytes of values that a link has to carry in one direction, in frames of 1514 bytes with 1448 bytes of TCP, or 1440 of a
# switch's packet. Compressed: the longer direction's datagrams, with 42 bytes of headers for each.
jq -s --arg date "$(date -u +%FT%TZ)" --arg kernel "$(uname -r)" --arg cpu "$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1)" --argjson cores "$(nproc)" \
    --argjson load "$(cut -d ' ' -f 1 /proc/loadavg)" '
  def median: if length == 0 then null else sort | if length % 2 == 1 then .[length / 2 | floor] else (.[length / 2 - 1] + .[length / 2]) / 2 end end;
  def bits: if endswith("gbit") then (rtrimstr("gbit") | tonumber) * 1e9 else (rtrimstr("mbit") | tonumber) * 1e6 end;
  def longest: [.sent_bytes, .received_bytes] | max;
  def bound: (.rate | bits) as $rate | if .name == "ring" then 1.5 * .size * 1514 / 1448 * 8 / $rate elif .name == "switch" then .size * 1514 / 1440 * 8 / $rate
    elif .name == "switch-dense" then (longest + (.size / 8192 | ceil) * 42) * 8 / $rate else null end;
  # A ratio is the median of the rounds own ratios: both sides of it were measured within the same minutes.
  def ratio($a; $b): . as $rows | [$rows[] | select(.name == $a) as $x | $rows[] | select(.name == $b and .round == $x.round) | $x.time_us / .time_us] | median;
  . as $all |
  {benchmark: "switch_speed.sh", environment: {date: $date, cpu: $cpu, cores: $cores, kernel: $kernel, load: $load}, workers: 4,
   results: [group_by([.rate, .size])[] | group_by(.name)[] | .[0] as $r | ($r | bound) as $bound | (map(.time_us) | median) as $t |
     {rate: $r.rate, size: $r.size, name: $r.name, time_ms: ($t / 1000), runs_ms: map(.time_us / 1000), wrong: (map(.wrong) | add), identical: (map(.identical) | all),
      bound_ms: (if $bound then $bound * 1000 else null end), over_bound: (if $bound then $t / 1e6 / $bound - 1 else null end),
      sent_bytes: (map(.sent_bytes) | median), received_bytes: (map(.received_bytes) | median), resent_packets: (map(.resent_packets // 0) | median),
      late_packets: (map(.late_packets // 0) | median), cpu: (map(.cpu) | median), switch_cpu_ms: (map(.switch_cpu_ms) | median)}],
   claims: [group_by([.rate, .size])[] | .[0] as $r | "\($r.rate), \($r.size) bytes: " as $where |
     ([.[] | select(.name == "switch") | longest] | median) as $plain | ([.[] | select(.name == "switch-dense") | longest] | median) as $dense |
     {name: ($where + "ring over switch"), value: ratio("ring"; "switch"), least: 1.4},
     {name: ($where + "switch over the link"), value: ((map(select(.name == "switch")) | map(.time_us / 1e6 / bound)) | median), most: 1.1},
     {name: ($where + "switch over switch-dense"), value: ratio("switch"; "switch-dense"), least: (if $plain and $dense then 0.8 * $plain / $dense else null end)},
     {name: ($where + "ring-dense over switch-dense"), value: ratio("ring-dense"; "switch-dense")}] | map(select(.value)),
   measurements: $all}' "$rows" >"$rows.json"

jq -r '(["rate", "size", "case", "ms", "over the link", "resent", "late", "switch CPU ms", "CPU", "wrong"]),
  (.results[] | [.rate, .size, .name, (.time_ms * 10 | round / 10), (if .over_bound then "\(.over_bound * 100 | round) %" else "-" end), (.resent_packets | round),
    (.late_packets | round), (.switch_cpu_ms | round), "\(.cpu * 100 | round) %", .wrong]) | @tsv' "$rows.json" | column -t -s $'\t'
echo
jq -r '.claims[] | "\(.name): \(.value * 100 | round / 100)" +
  (if .least then " (at least \(.least * 100 | round / 100)): \(if .value >= .least then "holds" else "FAILS" end)"
   elif .most then " (at most \(.most)): \(if .value <= .most then "holds" else "FAILS" end)" else "" end)' "$rows.json"
cp "$rows.json" "$result.part" && mv "$result.part" "$result" && echo "written: $result"
