#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Hostile datagrams. Members of another job send them to their own port. Strangers send them to the
# first job's ports and to TCP. The first job's sums stay right, and its links full.
# shellcheck source=tests/net/switch_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/switch_lib.sh"

seconds=6
[ "${GN_LONG:-0}" = 0 ] || seconds=60
job=(count 200000 slots 128 rounds 2)
begin 5 --rate 20mbit
switch_start --udp 9000 --channels 4
workers 1 alone 2 "${job[@]}"
workers_good alone
before=$(result alone-0 mb_per_s)

# Two members of another job flood; meanwhile the first runs until they are done.
workers 3 flood 2 flood $((seconds * 1000))
until_running flood
flood=("${pids[@]}")
runs=0 best=0
ends=$(($(date +%s) + seconds - 1))
testbed_start 5 python3 "$here/switch_noise.py" "$switch_address" 7777 9000-9001 "$seconds" >"$testbed_dir/noise.out" 2>"$testbed_dir/noise.err"
noise=$testbed_pid
while [ "$(date +%s)" -lt "$ends" ]; do
    workers 1 "beside$runs" 2 "${job[@]}"
    workers_good "beside$runs"
    now=$(result "beside$runs-0" mb_per_s)
    best=$(jq -n "[$best, $now] | max")
    runs=$((runs + 1))
done
pids=("${flood[@]}")
for rank in 0 1; do wait "${pids[$rank]}" || fail "flood $rank"; done
wait "$noise" || fail "noise"
switch_stat . >"$testbed_dir/stats"
expect "runs beside the flood" "$runs" -ge 1
expect "hostile datagrams" "$(result flood-0 flooded)" -gt 5000
[ -z "${GN_VERBOSE:-}" ] || cat "$testbed_dir"/beside*.out "$testbed_dir/stats"
echo "alone $before MB/s, beside the flood $best MB/s"
[ "$(jq -n "$best > 0.5 * $before")" = true ] || fail "beside the flood only $best MB/s, alone $before"
expect "datagrams of strangers" "$(jq .total.udp.unregistered "$testbed_dir/stats")" -gt 300
for reason in "malformed" "no such job" "from another start of the job" "another level or number of workers" "slot and chunk do not match"; do
    expect "$reason" "$(jq --arg r "$reason" '[.total.core.drops[] | select(.reason == $r).packets] | add' "$testbed_dir/stats")" -gt 0
done
# And it still works, for all.
workers 1 after 4 rounds 2
workers_good after
switch_stop TERM
expect "exit status" "$switch_status" -eq 0
