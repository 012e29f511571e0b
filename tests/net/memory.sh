#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A thousand flows at once: the NIC stays within 64 MiB, and knows them all.
# shellcheck source=tests/net/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

begin 2
testbed_start 2 python3 "$here/flows.py" serve "$(testbed_address 2)"
for ((i = 0; i < 100; i++)); do testbed_run 2 ss -Hltn 'sport = :7900' | grep -q . && break; sleep 0.05; done
mkfifo "$testbed_dir/enough"
testbed_run 1 python3 "$here/flows.py" connect "$(testbed_address 2)" <"$testbed_dir/enough" 2>"$testbed_dir/flows" &
client=$!
exec 3>"$testbed_dir/enough"
known=0
for ((i = 0; i < 600 && known < 1000; i++)); do
    kill -0 $client 2>/dev/null || break
    known=$(stat_of 1 .tx.engine.flows_now)
    sleep 0.05
done
exec 3>&-
expect "flows known" "$known" -ge 1000
wait $client || fail "the flows: $(cat "$testbed_dir/flows")"
expect "values compressed" "$(stat_of 1 .tx.rules[0].values)" -ge 4000000
for host in 1 2; do
    peak=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/${testbed_nic_pid[$host]}/status")
    echo "host $host: $peak KiB at most"
    expect "memory of NIC $host in KiB" "$peak" -lt 65536
done
