#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The NIC itself makes loss, duplication, reordering and delay. TCP carries on, and every value
# arrives within the bound.
# shellcheck source=tests/net/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

begin 2 --nic "--loss 1% --duplicate 1% --reorder 1% --delay 500us --jitter 100us --seed 7"
for cut in fill mtu; do
    testbed_set 1 --cut "$cut" || fail "set --cut"
    serve 2 -i "$grads" -k 10
    stream 1 "$(testbed_address 2)" -i "$grads" --tos 0x28 -t 2
    kill "$testbed_pid"
done
for counter in lost duplicated reordered delayed; do expect "$counter" "$(stat_of 1 ".tx.fault.$counter")" -gt 0; done
expect "overflow" "$(stat_of 1 .tx.fault.overflow)" -eq 0
expect "malformed" "$(stat_of 2 .rx.engine.malformed)" -eq 0

# At run time: a delay shows in the round trip, none does not.
testbed_set 1 --loss 0 --duplicate 0 --reorder 0 --delay 20ms --jitter 0 || fail "set --delay"
testbed_set 2 --loss 0 --duplicate 0 --reorder 0 --delay 0 --jitter 0 || fail "set --delay"
rtt() { testbed_run 1 ping -c 5 -i 0.05 -q "$(testbed_address 2)" | sed -n 's|^rtt.* = \([0-9]*\)\..*|\1|p'; }
expect "round trip with 20 ms delay" "$(rtt)" -ge 20
testbed_set 1 --delay 0 || fail "set --delay"
expect "round trip without delay" "$(rtt)" -lt 20
