#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A NIC ends (in good order, or killed) and comes back in mid-flow. The connection lives on, and
# every value arrives.
# shellcheck source=tests/net/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

begin 2 --rate 200mbit
serve 2 -i "$grads" -k 10
stream 1 "$(testbed_address 2)" -i "$grads" --tos 0x28 -t 6 &
flow=$!
sleep 1
for what in "1 TERM" "2 TERM" "1 KILL" "2 KILL"; do
    read -r host signal <<<"$what"
    testbed_nic_stop "$host" "$signal"
    [ "$signal" = KILL ] || expect "exit status of NIC $host" "$testbed_status" -eq 0
    sleep 0.2
    testbed_nic_start "$host" || fail "NIC $host did not come back after $signal"
    sleep 0.8
done
wait $flow || fail "the stream did not survive"
expect "stored because the SYN was not seen" "$(stat_of 1 .tx.engine.stored_no_syn)" -gt 0
