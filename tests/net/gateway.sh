#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Host 2 forwards what its NIC brings, over a link whose MTU is smaller than the device's, and over
# one that loses packets. TCP goes on as it does without a NIC, and each value is within the bound:
# what the NIC joins for its host is cut again as its sender has cut it, or between values. So it is
# where values gain nothing, and where the device of host 2 is narrower than that of host 1.
# shellcheck source=tests/net/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

begin 3 --nic-of 1 "-P 10.98.0.0/24,10.99.0.0/24=10.78.0.2" --nic-of 2 "-P 10.77.0.9/32=[fd78::9]"
testbed_nic_stop 3
near=$(testbed_netns 2) far=$(testbed_netns 3)
ip -n "$near" link add behind mtu 1400 type veth peer name ahead mtu 1400 netns "$far"
ip -n "$near" addr add 10.99.0.1/24 dev behind && ip -n "$near" link set behind up
ip -n "$far" addr add 10.99.0.2/24 dev ahead && ip -n "$far" link set ahead up
ip -n "$far" route add 10.77.0.0/24 via 10.99.0.1 || fail "no link behind host 2"
testbed_run 2 sysctl -qw net.ipv4.ip_forward=1

# What does not fit is refused, once or twice until all know it.
refused() { testbed_run 2 nstat -asz IpFragFails | sed -n 's/^IpFragFails *\([0-9]*\).*/\1/p'; }
mtu() { testbed_run "$1" cat /sys/class/net/gn0/mtu; }
expect "MTU of the second device" "$(mtu 2)" -lt "$(mtu 1)"
for how in "0x28 10" "0 10" "0x28 31"; do
    read -r tos k <<<"$how"
    testbed_set 1 -k "$k" || fail "set -k $k"
    before=$(refused)
    serve 3 -i "$grads" -k 10
    stream 1 10.99.0.2 -i "$grads" --tos "$tos" -t 1.5
    kill "$testbed_pid"
    expect "packets too big for the link behind ($how)" $(($(refused) - before)) -le 20
done
expect "packets that gain nothing" "$(stat_of 1 .tx.rules[0].stored)" -gt 100
testbed_set 1 -k 10 || fail "set -k 10"
expect "packets as host 2 joined them" "$(stat_of 2 '(.rx.host.packets / .rx.host.writes) | floor')" -ge 2

# Between host 2 and host 3 a pair of NICs changes nothing, but loses packets.
ip -n "$far" route del 10.77.0.0/24
pass="-q --bypass --no-restore"
# shellcheck disable=SC2086 # words
testbed_start 3 "$gradnic" nic $pass -d gnb -c none -l 10.99.0.2:7778 -a 10.98.0.2/24 -P 10.98.0.1/32,10.77.0.0/24=10.99.0.1:7778
# shellcheck disable=SC2086 # words
testbed_start 2 "$gradnic" nic $pass -d gnb -c "$testbed_dir/behind.sock" -l 10.99.0.1:7778 -a 10.98.0.1/24 -P 10.98.0.2/32=10.99.0.2:7778 --loss 2%
for ((i = 0; i < 200; i++)); do
    "$gradnic" nic status -c "$testbed_dir/behind.sock" >"$testbed_dir/status" 2>&1 && ip -n "$far" route replace 10.77.0.0/24 dev gnb advmss 1000 2>"$testbed_dir/route" && break
    sleep 0.05
done
[ "$i" -lt 200 ] || fail "the NICs behind host 2 did not come up: $(cat "$testbed_dir/status" "$testbed_dir/route")"
testbed_start 3 python3 "$here/odd_writes.py" serve 7900 6 >"$testbed_dir/wrong"
judge=$testbed_pid
for ((i = 0; i < 200; i++)); do testbed_run 3 ss -Hltn 'sport = :7900' | grep . >/dev/null && break; sleep 0.05; done
testbed_run 1 python3 "$here/odd_writes.py" connect 10.98.0.2 7900 6 || fail "the streams did not arrive"
wait "$judge" || fail "the streams could not be read"
expect "values beyond the bound" "$(cat "$testbed_dir/wrong")" -eq 0
expect "packets lost behind host 2" "$("$gradnic" nic stats -c "$testbed_dir/behind.sock" --json | jq .tx.fault.lost)" -gt 20
