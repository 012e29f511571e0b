#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Real traffic through the Verilog NIC in Verilator, with the C model beside it. No packet and no
# counter differs. The traffic is TCP with timestamps and UDP, over IPv4 and IPv6, marked and not,
# with every profile. One peer fills its packets.
# shellcheck source=tests/net/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

begin 2 --rate 100mbit --nic "--engine lockstep --rate 20mbit"
[ "$(testbed_run 1 cat /proc/sys/net/ipv4/tcp_timestamps)" -ne 0 ] || fail "TCP has no timestamps here"
head -c 4000000 /dev/urandom >"$testbed_dir/random.f32"

# compared HOST DIRECTION: packets so far; fails when one has differed
compared() {
    [ "$(stat_of "$1" .comparison.differences)" -eq 0 ] || fail "a difference on host $1"
    stat_of "$1" ".comparison.$2_packets"
}
# marked ADDRESS BOUND: gradients from host 1 go through the hardware of host 1 and of host 2, and
# arrive within the bound
marked() {
    local before_tx before_rx
    before_tx=$(compared 1 tx) before_rx=$(compared 2 rx)
    serve 2 -i "$grads" -k "$2"
    stream 1 "$1" -i "$grads" --tos 0x28 -t 2
    kill "$testbed_pid"
    expect "packets compared on transmit" "$(compared 1 tx)" -gt $((before_tx + 100))
    expect "packets compared on receive" "$(compared 2 rx)" -gt $((before_rx + 100))
}

for overlay in 4 6; do
    address=$(testbed_address 2 "$overlay")
    marked "$address" 10
    serve 2 -i "$testbed_dir/random.f32"
    stream 1 "$address" -i "$testbed_dir/random.f32" -t 1
    kill "$testbed_pid"
    testbed_run 1 ping -"$overlay" -c 3 -i 0.1 -q "$address" >/dev/null || fail "ping"
    testbed_run 1 ping -"$overlay" -c 2 -i 0.1 -s 1300 -Q 0x28 -q "$address" >/dev/null || fail "marked ping"
done
expect "packets of dense restored" "$(stat_of 2 .rx.engine.restored_dense)" -gt 100
for profile in paper lattice; do
    for host in 1 2; do testbed_set $host -p "$profile" -k 10 || fail "set -p $profile"; done
    marked "$(testbed_address 2)" 7 # paper's error is up to eight times its bound
    expect "packets of $profile restored" "$(stat_of 2 .rx.engine.restored_$profile)" -gt 100
done
expect "stored though the SYN was seen" "$(stat_of 1 .tx.engine.stored_no_syn)" -eq 0
expect "malformed" "$(stat_of 2 .rx.engine.malformed)" -eq 0

# What the hardware cannot do is refused, and changes nothing.
! testbed_set 1 --cut fill 2>"$testbed_dir/refusal" || fail "the cut fill was taken"
grep -q 'already cut to the MTU' "$testbed_dir/refusal" || fail "$(cat "$testbed_dir/refusal")"
five=(--rule k=9 --rule tos=0x48 --rule tos=0x50 --rule tos=0x58 --rule tos=0x60)
! testbed_set 1 "${five[@]}" 2>"$testbed_dir/refusal" || fail "five rules were taken"
grep -q 'room for 4 rules' "$testbed_dir/refusal" || fail "$(cat "$testbed_dir/refusal")"

# A lossy link: retransmissions are cut anew. Then a peer in software that fills its packets.
testbed_set 1 --loss 1% --reorder 1% || fail "set --loss"
marked "$(testbed_address 2)" 10
testbed_nic_stop 1
expect "exit status" "$testbed_status" -eq 0
testbed_nic_start 1 "--engine model --rate 20mbit" || fail "the NIC did not start again"
before=$(compared 2 rx)
serve 2 -i "$grads" -k 10
stream 1 "$(testbed_address 2 6)" -i "$grads" --tos 0x28 -t 2
kill "$testbed_pid"
expect "packets compared, filled" "$(compared 2 rx)" -gt $((before + 50))
testbed_nic_stop 2
expect "exit status" "$testbed_status" -eq 0
for host in 1 2; do grep ', 0 differences$' "$testbed_dir/nic$host.log" || fail "no last word of host $host"; done
