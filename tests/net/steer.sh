#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Steering by DSCP: under the hosts' own addresses, marked packets go through the NICs and all others past them.
# shellcheck source=tests/net/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

begin 2 --steer dscp
for version in 4 6; do
    address=$(testbed_link_address 2 $version)
    before=$(stat_of 1 .tx.host.bytes)
    serve 2 -f "$grads"
    stream 1 "$address" -f "$grads" -t 1
    kill "$testbed_pid"
    expect "bytes of unmarked traffic in the NIC (IPv$version)" "$(stat_of 1 .tx.host.bytes)" -lt $((before + 10000))
    before=$(stat_of 1 .tx.rules[0].values)
    serve 2 -f "$grads" -k 10
    stream 1 "$address" -f "$grads" --tos 0x28 -t 1
    kill "$testbed_pid"
    expect "values compressed (IPv$version)" "$(stat_of 1 .tx.rules[0].values)" -gt $((before + 100000))
done
