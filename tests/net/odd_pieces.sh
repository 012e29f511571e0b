#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# TCP's segments end within values, and packets are lost: what is sent again and what came before
# make one value, and that is within the bound. On a link whose MTU is no multiple of 4 the device's
# is one, so that segments end between values.
# shellcheck source=tests/net/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

begin 2 --mtu 1450 --nic "--loss 1%"
device_mtu() { testbed_run 1 cat /sys/class/net/gn0/mtu; }
expect "the device's MTU on a wire of 1450" "$(device_mtu)" -eq 1412
for mtu in 1412 1409; do
    for host in 1 2; do ip -n "$(testbed_netns $host)" link set gn0 mtu "$mtu" || fail "mtu $mtu"; done
    for overlay in 4 6; do
        serve 2 -i "$grads" -k 10
        stream 1 "$(testbed_address 2 "$overlay")" -i "$grads" --tos 0x28 -t 1.5
        kill "$testbed_pid"
    done
done
expect "packets lost" "$(stat_of 1 .tx.fault.lost)" -gt 50
expect "compressed packets" "$(stat_of 1 .tx.rules[0].compressed)" -gt 5000
