#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The switch is killed in mid-job, and comes back. A worker is killed. A worker falls silent, and
# status says that it is waited for.
# shellcheck source=tests/net/switch_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/switch_lib.sh"

long_job=(rounds 100000 pause 5 count 50000 timeout 5000)
# told NAME BUT WHAT: every worker but one has ended in time, and says what
told() {
    local rank
    started=$(date +%s%N)
    for rank in "${!pids[@]}"; do
        [ "$rank" != "$2" ] || continue
        wait "${pids[$rank]}" && fail "worker $rank of $1 did not notice"
        grep -q "$3" "$testbed_dir/$1-$rank.out" || fail "worker $rank of $1 does not say '$3'"
    done
    expect "milliseconds until all of $1 had ended" $((($(date +%s%N) - started) / 1000000)) -lt 8000
}
client_of() { pgrep -f "switch_client $switch_address 7777 $1 $2 " | tail -n 1; } # NAME RANK

begin 4
switch_start --channels 16
workers 1 killed 4 "${long_job[@]}"
until_running killed
sleep 0.3
kill -s KILL "$switch_pid"
wait "$switch_pid" 2>/dev/null
told killed none "switch $switch_address:7777"

# It comes back at the same place; nothing of before is in the way.
switch_start --channels 16
workers 1 again 4 rounds 3
workers_good again

workers 1 one 4 "${long_job[@]}"
until_running one
kill -s KILL "$(client_of one 2)"
told one 2 "gone: rank 2 (10.78.0.3:"

workers 1 silent 4 "${long_job[@]}"
until_running silent
kill -s STOP "$(client_of silent 1)"
sleep 1
switch_ask status >"$testbed_dir/status" || fail "no status"
grep -q 'has waited .* for rank 1 (10.78.0.2:' "$testbed_dir/status" || fail "status does not say that rank 1 is waited for: $(cat "$testbed_dir/status")"
[ "$(switch_ask status --json | jq '[.jobs[].waiting[].waits_for[].rank] | unique == [1]')" = true ] || fail "someone else is waited for"
kill -s CONT "$(client_of silent 1)"
switch_ask end silent || fail "switch end"
told silent none "gone: it was ended at the switch"

# A switch that is told to end tells all.
workers 1 ends 4 "${long_job[@]}"
until_running ends
switch_stop INT
expect "exit status" "$switch_status" -eq 0
told ends none "gone: the switch was told to end"
