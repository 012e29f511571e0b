#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Four workers and the software switch, each on a link of its own. Every format goes over links that
# lose, repeat and reorder.
# shellcheck source=tests/net/switch_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/switch_lib.sh"

begin 4 --rate 200mbit
switch_start --shards 2 --loss 1% --duplicate in:0.5% --reorder out:1% --seed 7
rounds=3
[ "${GN_LONG:-0}" = 0 ] || rounds=30
for format in 0 1 2; do
    workers 1 "sum$format" 4 format $format channels 2 slots 64 count 200000 rounds $rounds
    workers_good "sum$format"
    resent=$(result "sum$format-0" resent)
    expect "packets sent again in format $format" "$resent" -gt 0
done
expect "lost on the way in" "$(switch_stat '[.shards[].fault_in.lost] | add')" -gt 0
expect "lost on the way out" "$(switch_stat '[.shards[].fault_out.lost] | add')" -gt 0
expect "repeated on the way out" "$(switch_stat '[.shards[].fault_out.duplicated] | add')" -eq 0
expect "values added" "$(switch_stat .total.core.values)" -eq $((3 * rounds * 4 * 2 * 200000))
expect "jobs" "$(switch_stat .admission.ended)" -eq 3
expect "strangers" "$(switch_stat .total.udp.unregistered)" -eq 0
# Both shards had work, and the text form has the same number.
for shard in 0 1; do expect "sent by shard $shard" "$(switch_stat ".shards[$shard].sent.datagrams")" -gt 1000; done
switch_ask stats --prometheus | grep -q "^gradnic_switch_total_core_values_total{listen=\"$switch_address:7777\"} $((3 * rounds * 4 * 2 * 200000))$" || fail "Prometheus text"
switch_ask stats --prometheus | grep -q 'nobodys_drops_packets_total{.*shard="1",reason="malformed"} 0$' || fail "labels of drops"
switch_stop TERM
expect "exit status" "$switch_status" -eq 0
