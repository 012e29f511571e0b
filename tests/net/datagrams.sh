#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Marked UDP datagrams of all sizes, with an application's header left verbatim. They go one at a
# time and with UDP segmentation offload. Rules by port.
# shellcheck source=tests/net/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

begin 2 --nic "--rule tos=0x28,proto=udp,port=6000,k=10,head=12 --rule tos=0x28,k=8"
for version in 4 6; do
    for port in 6000 6001; do
        testbed_start 2 python3 "$here/datagrams.py" receive "$(testbed_address 2 $version)" $port >"$testbed_dir/far"
        far=$testbed_pid
        for ((i = 0; i < 100; i++)); do testbed_run 2 ss -Hlun "sport = :$port" | grep -q . && break; sleep 0.05; done
        testbed_run 1 python3 "$here/datagrams.py" send "$(testbed_address 2 $version)" $port || fail "sending to port $port"
        wait "$far" || fail "port $port over IPv$version: $(cat "$testbed_dir/far")"
    done
done
expect "datagrams compressed by the first rule" "$(stat_of 1 .tx.rules[0].compressed)" -gt 50
expect "datagrams compressed by the second" "$(stat_of 1 .tx.rules[1].compressed)" -gt 50
