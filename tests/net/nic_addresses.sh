#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A host has several addresses, and a NIC that listens on all of them. Its packets come from the one
# that its peer names, also when the kernel begins to prefer another, or when that one goes.
# shellcheck source=tests/net/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

begin 2
for host in 1 2; do testbed_nic_stop "$host"; done
link() { ip -n "$(testbed_netns 1)" addr "$1" "$2" dev wire0 "${@:3}" || fail "$*"; }

# start ONE TWO: NICs by which host 1 is known as ONE, and host 2 as TWO
start() {
    local host
    nics=()
    testbed_start 1 "$gradnic" nic -q -d gn0 -c "$testbed_dir/a1.sock" -a 10.77.0.1/24 -P "10.77.0.2/32=$2" 2>"$testbed_dir/a1.log"
    nics+=("$testbed_pid")
    testbed_start 2 "$gradnic" nic -q -d gn0 -c "$testbed_dir/a2.sock" -a 10.77.0.2/24 -P "10.77.0.1/32=$1" 2>"$testbed_dir/a2.log"
    nics+=("$testbed_pid")
    for host in 1 2; do
        for ((i = 0; i < 250; i++)); do
            ! "$gradnic" nic status -c "$testbed_dir/a$host.sock" >/dev/null 2>&1 || break
            sleep 0.02
        done
    done
}
stop() {
    local host
    kill "${nics[@]}"
    for host in 1 2; do
        wait "${nics[$((host - 1))]}" || fail "NIC $host ended with $?: $(cat "$testbed_dir/a$host.log")"
    done
}
# What the far side asks comes to the address that it knows, so the answer leaves from there.
reach() {
    testbed_run 2 ping -q -c 5 -i 0.2 -W 1 10.77.0.1 >"$testbed_dir/ping" || fail "$1: $(cat "$testbed_dir/ping")"
    testbed_run 1 ping -q -c 3 -i 0.2 -W 1 10.77.0.2 >"$testbed_dir/ping" || fail "$1, back: $(cat "$testbed_dir/ping")"
}

link add 10.78.0.241/24
start 10.78.0.241 "$(testbed_link_address 2)"
reach "an address that is not the first"
# It is not forgotten while the link is down: only host 1 sends now.
unknown() { "$gradnic" nic stats -c "$testbed_dir/a2.sock" --json | jq .rx.wire.unknown_sender; }
testbed_run 1 sysctl -qw net.ipv6.conf.wire0.keep_addr_on_down=1
testbed_run 1 ip link set wire0 down || fail "link down"
testbed_run 1 ping -q -c 3 -i 0.2 -W 1 10.77.0.2 >/dev/null
testbed_run 1 ip link set wire0 up || fail "link up"
before=$(unknown)
testbed_run 1 ping -q -c 10 -i 0.3 -W 1 10.77.0.2 >"$testbed_dir/ping" || fail "a link that was down: $(cat "$testbed_dir/ping")"
expect "datagrams from another address behind a link that was down" "$(unknown)" -eq "$before"
# An address that has gone is no reason to send nothing. When it is back, it is learnt again.
link del 10.78.0.241/24
testbed_run 1 ping -q -c 5 -i 0.2 -W 1 10.77.0.2 >/dev/null
before=$(unknown)
expect "datagrams from another address" "$before" -ge 3
link add 10.78.0.241/24
reach "an address that is back"
before=$(unknown)
testbed_run 1 ping -q -c 3 -i 0.2 -W 1 10.77.0.2 >/dev/null || fail "an address that is back, from host 1 alone"
expect "datagrams from another address, later" "$(unknown)" -eq "$before"
stop
# Only peers that it can send to.
testbed_run 1 timeout 10 "$gradnic" nic -q -c none -l "[$(testbed_link_address 1 6)]" -a 10.77.0.1/24 -P "10.77.0.2/32=$(testbed_link_address 2)" 2>"$testbed_dir/wrong"
expect "exit status of a NIC on IPv6 alone with a peer of IPv4" $? -eq 2
grep -q 'is IPv4, but the wire listens on an address of IPv6' "$testbed_dir/wrong" || fail "$(cat "$testbed_dir/wrong")"

# The kernel takes the newest address of IPv6.
start "[$(testbed_link_address 1 6)]" "[$(testbed_link_address 2 6)]"
reach "IPv6"
link add fd78::241/64 nodad
reach "a newer address"
stop

# The MTU is that of the interface which an address of a link names, and not of another one.
for device in "add aaa0 mtu 1300 type veth peer name aaa1 mtu 1300" "set aaa0 up" "set aaa1 up"; do
    # shellcheck disable=SC2086 # words
    testbed_run 1 ip link $device || fail "another interface: $device"
done
testbed_run 1 ip -6 route add fe80::/64 dev aaa0 metric 1 || fail "a way that the kernel prefers"
of_link() { testbed_run "$1" ip -o -6 addr show dev wire0 scope link | grep -o 'fe80[^/]*'; }
start "[$(of_link 1)%wire0]" "[$(of_link 2)%wire0]"
reach "an address of a link"
expect "MTU of the wire" "$("$gradnic" nic status -c "$testbed_dir/a1.sock" --json | jq .wire_mtu)" -eq 1500
stop
exit 0
