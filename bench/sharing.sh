#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What it gains that jobs share a switch's slots: real switches with little memory in each of their
# modes, one to three jobs of two workers, vectors of several sizes, on emulated links. For `gradnic
# figures dsa-sharing`. The switch delays what comes and goes, so a few slots do not fill a link.
#
#   bench/sharing.sh RESULT.json [BUILD]      needs root; five minutes
#       RATE=100mbit DELAY=4ms SLOTS=64 ITERATIONS=5 PREFIX=gnshr
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
[ $# -ge 1 ] || { sed -n '3,8s/^# \{0,1\}//p' "$0" >&2; exit 2; }
result=$1
export GRADNIC=${2:-$root/build/release}/tools/gradnic
rate=${RATE:-100mbit} delay=${DELAY:-4ms} slots=${SLOTS:-64} iterations=${ITERATIONS:-5}
sizes=(-b 512K -e 8M -f 4)
# shellcheck source=bench/emulated.sh
source "$root/bench/emulated.sh"
testbed_possible || exit 1
rows=$(mktemp)
trap 'testbed_down; rm -f "$rows" "$rows".*' EXIT
root_address=10.78.0.254
testbed_up 7 --prefix "${PREFIX:-gnshr}" --rate "$rate" --no-nic
tc -n "$(testbed_netns 7)" qdisc del dev wire0 root # the parameter server's link is not limited
tc -n "$(testbed_netns 0)" qdisc del dev p7 root
server=$(testbed_address 7)
for mode in partitioned shared preemptive; do
    options=(--mode "$mode" --slots "$slots" --reserve 0 --delay "$delay")
    if [ "$mode" = partitioned ]; then
        window=$((slots / 4)) # a quarter each: room for four jobs, as who partitions must plan
        options+=(--quota "$window")
    else
        window=$slots
        options+=(--windows $((8 * slots)) --quota $((2 * slots)) --ps "$server:7777")
    fi
    for jobs in 1 2 3; do
        [ "$mode" = partitioned ] || daemon 7 ps --role ps -l "$server" --slots $((8 * slots))
        daemon 0 switch -l "$root_address" "${options[@]}"
        for ((job = 0; job < jobs; job++)); do ranks $((1 + 2 * job)) 2 "$root_address"; done
        done_with "$mode $jobs"
    done
done
testbed_down

jq -s --arg date "$(date -u +%F)" --arg kernel "$(uname -r)" --arg cpu "$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1)" \
    --argjson cores "$(nproc)" --arg rate "$rate" --arg delay "$delay" --argjson slots "$slots" --argjson iterations "$iterations" \
    '{benchmark: "sharing.sh", date: $date, cpu: $cpu, cores: $cores, kernel: $kernel, rate: $rate, delay: $delay, slots: $slots, iterations: $iterations, results: .}' \
    "$rows" >"$result.part" && mv "$result.part" "$result" && echo "written: $result"
