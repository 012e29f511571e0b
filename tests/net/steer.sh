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
# With the firewall's mark, the way back to a source leads past the device. Hosts that look for it
# (rp_filter) take what comes out of it all the same.
for host in 1 2; do
    testbed_nic_stop $host
    testbed_run $host sysctl -qw net.ipv4.conf.all.rp_filter=2
    testbed_nic_start $host || fail "the NIC of a host that looks at sources"
    if [ "$how" = mark ]; then
        grep -q 'net.ipv4.conf.all.rp_filter is 2: the kernel drops what comes out of gn0' "$testbed_dir/nic$host.log" || fail "no warning about rp_filter: $(cat "$testbed_dir/nic$host.log")"
        testbed_nic_stop $host
        testbed_run $host sysctl -qw net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.default.rp_filter=2
        testbed_nic_start $host || fail "the NIC of a host that looks at sources of new devices"
        expect "rp_filter of the device" "$(testbed_run $host sysctl -n net.ipv4.conf.gn0.rp_filter)" -eq 0
        expect "warnings about rp_filter" "$(grep -c rp_filter "$testbed_dir/nic$host.log")" -eq 1
    fi
done
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
# What the host forwards for others stays on the kernel's path: the peer would refuse its source.
way=("$(testbed_link_address 2)/32" via "$(testbed_link_address 1)")
testbed_run 1 sysctl -qw net.ipv4.ip_forward=1 net.ipv4.conf.{all,wire0}.send_redirects=0
testbed_run 0 ip route add "${way[@]}" || fail "a way through host 1"
testbed_run 0 ping -c 2 -i 0.1 -W 1 -q -Q 0x28 "$(testbed_link_address 2)" >/dev/null || fail "what host 1 forwards"
testbed_run 0 ip route del "${way[@]}"
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
for version in 4 6; do
    expect "what is left behind a killed NIC (IPv$version)" "$(steered 1 $version | tr '\n' ' ')" = "0 0 "
done

# The kernel notes the device's MTU for the peer's address, where the firewall marks. A NIC that
# starts then does not take it for the wire's, or each start would make the packets smaller.
mtus() { "$gradnic" nic status -c "$(testbed_control 1)" --json | jq -c '[.wire_mtu, .host_mtu]'; }
testbed_run 1 ip route flush cache
testbed_nic_start 1 || fail "the NIC anew"
before=$(mtus)
serve 2 -i "$grads" -k 10
stream 1 "$(testbed_link_address 2)" -i "$grads" --tos 0x28 -t 0.5
[ "$how" != mark ] || testbed_run 1 ip route get "$(testbed_link_address 2)" | grep -q 'mtu 1464' ||
    fail "the kernel has noted nothing"
testbed_nic_stop 1
testbed_nic_start 1 || fail "the NIC behind traffic"
[ "$(mtus)" = "$before" ] || fail "MTUs at the second start: $(mtus), not $before"
# Nor does a NIC that runs follow what it has told the host itself: datagrams that fill each MTU.
testbed_run 1 python3 - "$(testbed_link_address 2)" <<'PY' || fail "datagrams"
import socket, sys, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 0x28)
s.setsockopt(socket.IPPROTO_IP, 10, 2)  # IP_MTU_DISCOVER, IP_PMTUDISC_DO
s.connect((sys.argv[1], 9))
for _ in range(300):
    try:
        s.send(bytes(s.getsockopt(socket.IPPROTO_IP, 14) - 28))  # IP_MTU
    except OSError:
        pass
    time.sleep(0.01)
PY
[ "$(mtus)" = "$before" ] || fail "MTUs behind datagrams: $(mtus), not $before"
# That word of the kernel's hides the wire's MTU. When it is lowered to something above it, the NIC
# sees it all the same.
for host in 1 2; do ip -n "$(testbed_netns $host)" link set wire0 mtu 1470; done
follows() { [ "$("$gradnic" nic status -c "$(testbed_control 1)" --json | jq .wire_mtu)" -eq 1470 ]; }
stream 1 "$(testbed_link_address 2)" -i "$grads" --tos 0x28 -t 1.5
for _ in $(seq 100); do ! follows || break; sleep 0.05; done
follows || fail "MTUs on a smaller link: $(mtus)"
