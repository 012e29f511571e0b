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
# shellcheck source=bench/switch_testbed.sh
source "$root/bench/switch_testbed.sh"
testbed_possible || exit 1
rows=$(mktemp)
trap 'testbed_down; rm -f "$rows" "$rows".*' EXIT

# daemon HOST NAME ARGS...   a switch or parameter server there, until all end
daemon() {
    local host=$1 name=$2 i
    shift 2
    testbed_start "$host" "$testbed_gradnic" switch -q -c "$testbed_dir/$name.sock" "$@" >"$testbed_dir/$name.log" 2>&1
    daemons+=("$testbed_pid")
    for ((i = 0; i < 100; i++)); do
        "$testbed_gradnic" switch status -c "$testbed_dir/$name.sock" >/dev/null 2>&1 && return 0
        sleep 0.05
    done
    echo "$name did not start: $(tail -n 1 "$testbed_dir/$name.log")" >&2
    return 1
}

# ranks FIRST COUNT SWITCHES ARGS...   starts ranks on hosts from FIRST on. SWITCHES: addresses, for
# equal shares of the ranks, or none
ranks() {
    local first=$1 count=$2 switches i at
    read -ra switches <<<"$3"
    shift 3
    for ((i = 0; i < count; i++)); do
        at=()
        [ "${#switches[@]}" -eq 0 ] || at=(--algorithm switch --switch "${switches[i * ${#switches[@]} / count]}:7777" --switch-values 360 --switch-slots 256)
        testbed_start $((first + i)) "$testbed_gradnic" bench allreduce --rank "$i" --world-size "$count" -p none \
            --rendezvous "tcp://$(testbed_address "$first"):5000" -b "$size" -e "$size" -n "$iterations" -w 1 --timeout 60s --json \
            "${at[@]}" "$@" >"$testbed_dir/rank$first-$i.out" 2>"$testbed_dir/rank$first-$i.err"
        pids+=("$testbed_pid")
    done
}

# done_with NAME   waits for all ranks, ends the daemons, and keeps what rank 0 of each job says
done_with() {
    local pid after out
    for pid in "${pids[@]}"; do
        wait "$pid" || { echo "$1: a rank failed" >&2; cat "$testbed_dir"/*.err "$testbed_dir"/*.log >&2; exit 1; }
    done
    after=$(busy)
    [ ! -S "$testbed_dir/switch.sock" ] || switch_stats | jq -c '.total.core | {packets, collisions, to_ps}' >&2
    [ "${#daemons[@]}" -eq 0 ] || { kill "${daemons[@]}"; wait "${daemons[@]}" || true; }
    for out in "$testbed_dir"/rank*-0.out; do
        jq -c --arg name "$1" --arg before "$before" --arg after "$after" '.results[0] | def n: split(" ") | map(tonumber);
            {name: $name, ms: (.time_us / 1000), min_ms: (.time_min_us / 1000), max_ms: (.time_max_us / 1000), wrong,
             busy: ((($after | n) as $a | ($before | n) as $b | ($a[0] - $b[0]) / (($a[0] - $b[0]) + ($a[1] - $b[1]))) * 100 | round / 100)}' \
            "$out" >>"$rows"
        tail -n 1 "$rows" >&2
    done
    rm -f "$testbed_dir"/rank*
    daemons=() pids=() before=$(busy)
}

# measure NAME COUNT SWITCHES ARGS...   one job
measure() {
    local name=$1
    shift
    ranks 1 "$@"
    done_with "$name"
}

wanted() { [ -z "${ONLY-}" ] || [[ " $ONLY " = *" $1 "* ]]; }
daemons=() pids=() before=$(busy)
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
