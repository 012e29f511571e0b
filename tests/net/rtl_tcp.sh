#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# TCP between two hosts whose NICs are the Verilog NIC alone: its own table of flows, and no
# side-band, says where values begin. Marked TCP is compressed, over IPv4 and IPv6.
# shellcheck source=tests/net/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

begin 2 --rate 100mbit --nic "--engine rtl --rate 20mbit"
compressed=0 restored=0
for overlay in 4 6 4; do
    serve 2 -i "$grads" -k 10
    stream 1 "$(testbed_address 2 "$overlay")" -i "$grads" --tos 0x28 -t 1
    kill "$testbed_pid"
    before=$compressed had=$restored
    compressed=$(stat_of 1 .tx.rules[0].compressed) restored=$(stat_of 2 .rx.engine.restored_dense)
    expect "segments compressed over IPv$overlay" "$compressed" -gt $((before + 100))
    expect "packets restored over IPv$overlay" "$restored" -gt $((had + 100))
done
# A FIN ends a flow. A late acknowledgement makes TCP send its last segment again behind it.
expect "stored though the SYN was seen" "$(stat_of 1 .tx.engine.stored_no_syn)" -le 3
expect "flows added" "$(stat_of 1 .tx.engine.flows_added)" -ge 3
expect "malformed" "$(stat_of 2 .rx.engine.malformed)" -eq 0

# A lossy link: what is sent again is cut anew, and begins anywhere within a value.
testbed_set 1 --loss 2% --reorder 1% || fail "set --loss"
serve 2 -i "$grads" -k 10
stream 1 "$(testbed_address 2)" -i "$grads" --tos 0x28 -t 2
kill "$testbed_pid"
expect "segments compressed on a lossy link" "$(stat_of 1 .tx.rules[0].compressed)" -gt $((compressed + 100))
# What was lost of the last window is sent again behind the FIN.
expect "stored though the SYN was seen" "$(stat_of 1 .tx.engine.stored_no_syn)" -lt 100

testbed_nic_stop 1
expect "exit status" "$testbed_status" -eq 0
testbed_nic_stop 2
expect "exit status" "$testbed_status" -eq 0
