#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What lost packets cost a sum in the network: four workers, links of limited speed, and a switch
# that loses packets in both directions. Times against no loss, and what was sent again against what
# was lost. Real gradients, repeated to the size.
#
#   bench/switch_loss.sh RESULT.json [BUILD]        needs root; three minutes a round
#       RATE=200mbit SIZE=25000000 LOSSES="0 0.01% 0.1% 1%" FORMATS="int32 dense" (or half)
#       ITERATIONS=3 ROUNDS=3 K=10 PREFIX=gnloss
#       RTO=TIME      shortest time after which workers send again (the program's own default)
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
[ $# -ge 1 ] || { sed -n '3,10s/^# \{0,1\}//p' "$0" >&2; exit 2; }
result=$1
export GRADNIC=${2:-$root/build/release}/tools/gradnic
rate=${RATE:-200mbit} size=${SIZE:-25000000} iterations=${ITERATIONS:-3} rounds=${ROUNDS:-3} k=${K:-10}
read -ra losses <<<"${LOSSES:-0 0.01% 0.1% 1%}"
read -ra formats <<<"${FORMATS:-int32 dense}"
# shellcheck source=bench/switch_testbed.sh
source "$root/bench/switch_testbed.sh"
testbed_possible || exit 1
gradients=$root/tests/data/gradients/cnn-it100-w%r.npy.gz
rows=$(mktemp)
trap 'testbed_down; rm -f "$rows" "$rows".*' EXIT

run_case() { # FORMAT LOSS ROUND
    local arguments="--switch-values 360"
    [ "$1" = half ] && arguments="--switch-values 720 --switch-half all"
    [ "$1" = int32 ] || [ "$1" = half ] || arguments="-p $1 -k $k"
    switch_up --loss "$2" --seed "$3"
    # shellcheck disable=SC2086  # the arguments are words
    ranks_start -b "$size" -e "$size" -n "$iterations" -w 1 --input "$gradients" --timeout 60s --json --algorithm switch --switch "$switch_address" \
        ${RTO:+--switch-rto $RTO} $arguments
    ranks_wait
    ranks_good "$1, $2 lost"
    switch_stats >"$testbed_dir/stats.json"
    kill "$switch_pid"
    wait "$switch_pid" || true
    # Every duplicate and repeated result is an answer to a packet that was sent again.
    jq -c --arg format "$1" --arg loss "$2" --argjson round "$3" --argjson n "$((iterations + 1))" --slurpfile stats "$testbed_dir/stats.json" '.results[0] |
        ($stats[0].shards | map(.fault_in.lost) | add) as $in | ($stats[0].shards | map(.fault_out.lost) | add) as $out | $stats[0].total.core as $core |
        {format: $format, loss: $loss, round: $round, size, time_us, wrong, identical, resent: (.resent_packets * 4), late: (.late_packets * 4),
         lost_up: ($in / $n), lost_down: ($out / $n), duplicates: (([$core.drops[] | select(.reason == "has been added already") | .packets] | add) / $n),
         results_again: ($core.repeated / $n), packets: ($core.packets / $n)}' "$testbed_dir/rank0.out" >>"$rows"
    tail -n 1 "$rows" >&2
}

testbed_up 4 --prefix "${PREFIX:-gnloss}" --rate "$rate" --no-nic
for ((round = 1; round <= rounds; round++)); do
    for format in "${formats[@]}"; do
        for loss in "${losses[@]}"; do run_case "$format" "$loss" "$round"; done
    done
done
testbed_down

# A packet that is lost on its way up is missed by all: all four workers send their parts of its
# chunk again, though three of these are there. One that is lost on its way down is missed by one.
jq -s --arg date "$(date -u +%FT%TZ)" --arg kernel "$(uname -r)" --arg cpu "$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1)" --argjson cores "$(nproc)" \
    --argjson load "$(cut -d ' ' -f 1 /proc/loadavg)" --arg rate "$rate" '
  def median: sort | if length % 2 == 1 then .[length / 2 | floor] else (.[length / 2 - 1] + .[length / 2]) / 2 end;
  . as $all |
  {benchmark: "switch_loss.sh", environment: {date: $date, cpu: $cpu, cores: $cores, kernel: $kernel, load: $load}, workers: 4, rate: $rate,
   results: [group_by([.format, (.loss | rtrimstr("%") | tonumber)])[] | .[0] as $r |
     [.[] as $x | $all[] | select(.format == $r.format and .round == $x.round and (.loss | rtrimstr("%") | tonumber) == 0) | $x.time_us / .time_us] as $inflation |
     {format: $r.format, loss: $r.loss, size: $r.size, time_ms: ((map(.time_us) | median) / 1000), runs_ms: map(.time_us / 1000),
      inflation: (if $inflation | length > 0 then $inflation | median else null end), wrong: (map(.wrong) | add), identical: (map(.identical) | all)} +
     (. as $rows | ["packets", "lost_up", "lost_down", "resent", "late", "duplicates", "results_again"] | map({key: ., value: (. as $k | $rows | map(.[$k]) | median)}) | from_entries) |
     .expected_resent = 4 * .lost_up + .lost_down],
   measurements: $all}' "$rows" >"$rows.json"

jq -r '(["format", "loss", "ms", "x no loss", "packets up", "lost up", "lost down", "resent", "4 x up + down", "already added", "results again", "wrong"]),
  (.results[] | [.format, .loss, (.time_ms * 10 | round / 10), (if .inflation then .inflation * 100 | round / 100 else "-" end), (.packets, .lost_up, .lost_down, .resent,
    .expected_resent, .duplicates, .results_again | round), .wrong]) | @tsv' "$rows.json" | column -t -s $'\t'
cp "$rows.json" "$result.part" && mv "$result.part" "$result" && echo "written: $result"
