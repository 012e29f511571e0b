#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Two jobs of four workers each share a switch's slots, first come first served and by priority,
# over links that lose 1 %. Then the parameter server is killed.
# shellcheck source=tests/net/switch_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/switch_lib.sh"

rounds=2
[ "${GN_LONG:-0}" = 0 ] || rounds=20
begin 4 --rate 200mbit
testbed_start 0 "$testbed_gradnic" switch --role ps -l "$switch_address:7778" -c "$testbed_dir/ps.sock" --loss 1% >"$testbed_dir/ps.log" 2>&1
ps_pid=$testbed_pid
for ((i = 0; i < 100; i++)); do "$testbed_gradnic" switch status -c "$testbed_dir/ps.sock" >/dev/null 2>&1 && break; sleep 0.05; done
for mode in shared preemptive; do
    switch_start --mode "$mode" --ps "$switch_address:7778" --slots 64 --windows 2048 --loss 1%
    [ "$(switch_ask status --json | jq -r .mode)" = "$mode" ] || fail "mode"
    workers 1 "low-$mode" 4 format 2 channels 2 slots 64 count 150000 rounds $rounds priority 10
    low=("${pids[@]}")
    workers 1 "high-$mode" 4 format 0 slots 128 count 150000 rounds $rounds priority 1000
    workers_good "high-$mode"
    pids=("${low[@]}")
    workers_good "low-$mode"
    expect "$mode: collisions" "$(switch_stat .total.core.collisions)" -gt 0
    expect "$mode: contributions to the parameter server" "$(switch_stat .total.core.to_ps)" -gt 0
    evicted=$(switch_stat .total.core.evictions)
    if [ "$mode" = shared ]; then expect "$mode: evictions" "$evicted" -eq 0; else expect "$mode: evictions" "$evicted" -gt 0; fi
    [ "$mode" = preemptive ] || switch_stop TERM
done
ps_stat() { "$testbed_gradnic" switch stats --json -c "$testbed_dir/ps.sock" | jq -e "$1" || fail "the parameter server has no counter $1"; }
expect "chunks merged" "$(ps_stat .total.ps.merged)" -gt 0
expect "chunks that the switch had summed" "$(ps_stat .total.ps.whole)" -gt 0
expect "reminders" "$(ps_stat '.total.ps.reminders_switch + .total.ps.reminders_worker')" -gt 0

workers 1 lost 4 rounds 100000 pause 5 count 50000 timeout 5000
until_running lost
kill -s KILL "$ps_pid"
for rank in "${!pids[@]}"; do
    wait "${pids[$rank]}" && fail "worker $rank did not notice"
    grep -q "gone: the connection to the parameter server $switch_address:7778" "$testbed_dir/lost-$rank.out" || fail "worker $rank does not name the parameter server"
done
switch_stop TERM
expect "exit status" "$switch_status" -eq 0
