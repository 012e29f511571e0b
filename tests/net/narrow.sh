#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A path that is narrower behind its router than the link, by so few bytes that what the kernel has
# learnt of the NIC's device is less: --steer mark hears the router all the same. A peer that is not
# there is heard of, too, and keeps nobody busy.
# shellcheck source=tests/net/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

need_namespaces
name=gn$$
work=$(mktemp -d)
# shellcheck disable=SC2317  # the trap calls it
end() {
    local one
    for one in a r b; do
        ip netns pids "$name$one" 2>/dev/null | xargs -r kill -KILL
        ip netns del "$name$one" 2>/dev/null
    done
    rm -rf "$work"
}
trap end EXIT
at() { local one=$1; shift; ip netns exec "$name$one" "$@"; }
for one in a r b; do ip netns add "$name$one" || fail "a namespace"; done
net=1
for one in a b; do
    ip link add wire0 netns "$name$one" type veth peer name "to$one" netns "${name}r" || fail "a link"
    ip -n "$name$one" addr add "10.78.$net.1/24" dev wire0
    ip -n "${name}r" addr add "10.78.$net.254/24" dev "to$one"
    ip -n "$name$one" link set lo up
    ip -n "$name$one" link set wire0 up
    ip -n "${name}r" link set "to$one" up
    ip -n "$name$one" route add default via "10.78.$net.254"
    at $one nft 'table inet gradnic { chain output {
        type route hook output priority mangle; ip dscp 10 meta mark set 0x474e; }; }' || fail "firewall marks"
    net=2
done
at r sysctl -qw net.ipv4.ip_forward=1
ip -n "${name}r" link set tob mtu 1480
nic() { # nic HOST PEER
    at "$1" "$gradnic" nic -q --steer mark -c "$work/$1.sock" -P "$2=$2" 2>"$work/$1.log" &
    for _ in $(seq 100); do ! "$gradnic" nic status -c "$work/$1.sock" >/dev/null 2>&1 || return 0; sleep 0.05; done
    fail "no NIC: $(cat "$work/$1.log")"
}
nic b 10.78.1.1
other=$!
nic a 10.78.2.1
own=$!
at b "$gradnic" bench nic --serve -i "$grads" -k 10 &
for _ in $(seq 100); do ! at b ss -Hltn 'sport = :7801' | grep -q . || break; sleep 0.02; done
for _ in 1 2; do at a "$gradnic" bench nic 10.78.2.1 -i "$grads" --tos 0x28 -t 1.5 >/dev/null || fail "a stream"; done
at a ip route get 10.78.2.1 | grep -q 'mtu 1464' || fail "the kernel has learnt nothing of the device"
mtu=$("$gradnic" nic status -c "$work/a.sock" --json | jq .wire_mtu)
expect "the wire's MTU behind the router" "$mtu" -eq 1480

kill "$other"
wait "$other"
ticks() { awk '{print $14 + $15}' "/proc/$own/stat"; }
before=$(ticks)
at a python3 - <<'P' || fail "datagrams"
import socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 0x28)
for _ in range(200):
    s.sendto(bytes(100), ("10.78.2.1", 9))
    time.sleep(0.01)
P
expect "ticks of a NIC whose peer is not there" $(($(ticks) - before)) -lt 60
"$gradnic" nic status -c "$work/a.sock" >/dev/null || fail "the NIC does not answer"
exit 0
