#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Steering under the hosts' own addresses. Marked packets go through the NICs, all others past them,
# and nothing of it stays behind. Steering is by DSCP, which is a packet's own mark. With the
# argument `mark` it is by the firewall's mark, as docs/nic.md sets it.
# shellcheck source=tests/net/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
how=${1:-dscp}

# HOST: runs what docs/nic.md says, to the letter.
set_marks() {
    local commands
    commands=$(sed -n 's/^    nft /nft /p' "$here/../../docs/nic.md")
    [ -n "$commands" ] && testbed_run "$1" bash -e -c "$commands"
}

steered() { # HOST VERSION: policy rules and routes of a NIC on that host
    testbed_run "$1" ip "-$2" rule | grep -c 'lookup 18766'
    testbed_run "$1" ip "-$2" route show table 18766 2>/dev/null | wc -l
}

begin 2 --steer "$how"
for host in 1 2; do [ "$how" != mark ] || set_marks $host || fail "no firewall marks on host $host"; done
for version in 4 6; do
    address=$(testbed_link_address 2 $version)
    before=$(stat_of 1 .tx.host.bytes)
    serve 2 -i "$grads"
    stream 1 "$address" -i "$grads" -t 1
    kill "$testbed_pid"
    expect "bytes of unmarked traffic in the NIC (IPv$version)" "$(stat_of 1 .tx.host.bytes)" -lt $((before + 10000))
    before=$(stat_of 1 .tx.rules[0].values)
    serve 2 -i "$grads" -k 10
    stream 1 "$address" -i "$grads" --tos 0x28 -t 1
    kill "$testbed_pid"
    expect "values compressed (IPv$version)" "$(stat_of 1 .tx.rules[0].values)" -gt $((before + 100000))
    expect "policy rules and routes (IPv$version)" "$(steered 1 $version | tr '\n' ' ')" = "1 1 "
done
testbed_nic_stop 1
expect "exit status" "$testbed_status" -eq 0
for version in 4 6; do expect "what is left of rules and routes (IPv$version)" "$(steered 1 $version | tr '\n' ' ')" = "0 0 "; done

# One that was killed leaves its rules. The next one starts all the same, and removes them.
testbed_nic_start 1 || fail "the NIC again"
testbed_nic_stop 1 KILL
expect "rules of a killed NIC" "$(steered 1 4 | head -n 1)" -eq 1
testbed_nic_start 1 || fail "the NIC behind a killed one"
for version in 4 6; do
    expect "policy rules and routes behind a killed NIC (IPv$version)" "$(steered 1 $version | tr '\n' ' ')" = "1 1 "
done
testbed_nic_stop 1
for version in 4 6; do expect "what is left behind a killed NIC (IPv$version)" "$(steered 1 $version | tr '\n' ' ')" = "0 0 "; done
