#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What the real exchange and the real switch take on emulated links, for `gradnic figures
# calibration`, which simulates the same. Hosts are network namespaces. Links are slow enough that
# processors are no limit.
#
#   bench/calibration.sh RESULT.json [BUILD]      needs root; two minutes
#       RATE=100mbit SIZE=8000000 ITERATIONS=5 PREFIX=gncal
#       ONLY="ring shared"    these configurations alone
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
[ $# -ge 1 ] || { sed -n '3,9s/^# \{0,1\}//p' "$0" >&2; exit 2; }
result=$1
export GRADNIC=${2:-$root/build/release}/tools/gradnic
rate=${RATE:-100mbit} size=${SIZE:-8000000} iterations=${ITERATIONS:-5}
sizes=(-b "$size" -e "$size")
# shellcheck source=bench/emulated.sh
source "$root/bench/emulated.sh"
testbed_possible || exit 1
rows=$(mktemp)
trap 'testbed_down; rm -f "$rows" "$rows".*' EXIT

# measure NAME COUNT SWITCHES ARGS...   one job
measure() {
    local name=$1
    shift
    ranks 1 "$@"
    done_with "$name"
}

wanted() { [ -z "${ONLY-}" ] || [[ " $ONLY " = *" $1 "* ]]; }
root_address=10.78.0.254
testbed_up 8 --prefix "${PREFIX:-gncal}" --rate "$rate" --no-nic
for i in 7 8; do # leaves of a tree, or the parameter server of several jobs: their links are not limited
    tc -n "$(testbed_netns "$i")" qdisc del dev wire0 root
    tc -n "$(testbed_netns 0)" qdisc del dev "p$i" root
done
leaf_a=$(testbed_address 7) leaf_b=$(testbed_address 8)

for algorithm in ring direct worker-aggregator; do
    ! wanted "$algorithm" || measure "$algorithm" 4 "" --algorithm "$algorithm"
done
! wanted ring6 || measure ring6 6 "" --algorithm ring
if wanted switch; then
    daemon 0 switch -l "$root_address"
    measure switch 4 "$root_address"
fi
if wanted switch-loss; then
    daemon 0 switch -l "$root_address" --loss 1%
    measure switch-loss 4 "$root_address"
fi
if wanted tree; then
    daemon 0 root -l "$root_address"
    daemon 7 leaf-a -l "$leaf_a" --parent "$root_address:7777"
    daemon 8 leaf-b -l "$leaf_b" --parent "$root_address:7777"
    measure tree 4 "$leaf_a $leaf_b"
fi
for mode in shared preemptive; do
    wanted "$mode" || continue
    daemon 5 ps --role ps -l "$(testbed_address 5)" --slots 1024
    daemon 0 switch -l "$root_address" --mode "$mode" --ps "$(testbed_address 5):7777" --slots 64 --windows 1024
    measure "$mode" 4 "$root_address"
done
# Two jobs, and slots for an eighth of what they would have under way.
for mode in partitioned shared preemptive; do
    wanted "two-$mode" || continue
    options=(--mode "$mode" --slots 64 --reserve 0 --quota 32)
    if [ "$mode" != partitioned ]; then
        daemon 8 ps --role ps -l "$leaf_b" --slots 2048
        options=(--mode "$mode" --slots 64 --reserve 0 --windows 1024 --ps "$leaf_b:7777")
    fi
    daemon 0 switch -l "$root_address" "${options[@]}"
    ranks 1 3 "$root_address"
    ranks 4 3 "$root_address"
    done_with "two-$mode"
done
testbed_down

jq -s --arg date "$(date -u +%F)" --arg kernel "$(uname -r)" --arg cpu "$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1)" \
    --argjson cores "$(nproc)" --arg rate "$rate" --argjson size "$size" --argjson iterations "$iterations" \
    '{benchmark: "calibration.sh", date: $date, cpu: $cpu, cores: $cores, kernel: $kernel, rate: $rate, size: $size, iterations: $iterations, results: .}' \
    "$rows" >"$result.part" && mv "$result.part" "$result" && echo "written: $result"
