#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Datagrams that no gradnic sent, from a stranger and from a peer's address. Only a counter moves.
# shellcheck source=tests/net/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

seconds=3
[ "${GN_LONG:-0}" = 0 ] || seconds=60
begin 3
testbed_nic_stop 2
testbed_nic_stop 3
# Host 3 becomes a stranger: an address that nobody is configured with.
ip -n "$(testbed_netns 3)" addr add 10.78.0.99/24 dev wire0
host_packets() { testbed_run 1 cat /sys/class/net/gn0/statistics/rx_packets; }
before=$(host_packets)
python3_flood() { # HOST SOURCE KIND
    testbed_run "$1" python3 "$here/flood.py" "$2" "$(testbed_link_address 1)" "$3" "$seconds" "$(testbed_address 2)" "$(testbed_address 1)" || fail "flood $3"
}
python3_flood 3 10.78.0.99 random &
a=$!
python3_flood 2 "$(testbed_link_address 2)" random &
b=$!
wait $a || fail "the stranger's flood"
wait $b || fail "the peer's flood"
python3_flood 2 "$(testbed_link_address 2)" source
python3_flood 2 "$(testbed_link_address 2)" shim
expect "datagrams of strangers" "$(stat_of 1 .rx.wire.unknown_sender)" -gt 1000
expect "bad packets of a peer" "$(stat_of 1 '[.peers[].rx.bad_packet] | add')" -gt 1000
expect "packets with a foreign source" "$(stat_of 1 '[.peers[].rx.bad_source] | add')" -gt 1000
expect "malformed packets" "$(stat_of 1 .rx.engine.malformed)" -gt 1000
for why in bad_version bad_kind bad_bound bad_head bad_length bad_stream bad_checksum; do expect "$why" "$(stat_of 1 ".rx.engine.$why")" -gt 0; done
expect "packets to the host" "$(host_packets)" -eq "$before"
expect "packets to the host, by the NIC" "$(stat_of 1 .rx.host.packets)" -eq 0

# And it still works.
testbed_nic_start 2 || fail "NIC 2 again"
testbed_run 1 ping -c 2 -i 0.1 -q "$(testbed_address 2)" >/dev/null || fail "ping after the flood"
