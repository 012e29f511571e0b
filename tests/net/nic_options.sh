#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Options of the NIC, and `bench nic --round-trip`: each is given, and what it does is seen from
# outside. Without the option the same look shows something else.
# shellcheck source=tests/net/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

again() { # again ARGS...: the NIC of host 1 anew, with these arguments
    testbed_nic_stop 1
    testbed_nic_start 1 "$*" || fail "NIC with $*"
}
queue() { ip -n "$(testbed_netns 1)" -j link show gn0 | jq '.[0].txqlen'; }
# the kernel counts twice the size
buffer() {
    testbed_run 1 ss -Huanm 'sport = :7777' | sed -n 's/.*,rb\([0-9]*\),.*/\1/p'
}
segment() { # the mean bytes that the host hands over at once, in a stream
    stream 1 "$(testbed_address 2)" -i "$grads" -t 0.5 >/dev/null
    stat_of 1 '.tx.host | .bytes / .segments | floor'
}
two_flows() { # at the same time: a flow that ends is forgotten
    local other tries
    stream 1 "$(testbed_address 2)" -i "$grads" -t 2 >/dev/null &
    other=$!
    for ((tries = 0; tries < 200; tries++)); do
        [ "$(stat_of 1 .tx.engine.flows_now)" -eq 0 ] || break
        sleep 0.05
    done
    stream 1 "$(testbed_address 2)" -i "$grads" -t 1 >/dev/null
    wait "$other" || fail "the other of two flows"
}

begin 2
serve 2
expect "--queue, default" "$(queue)" -eq 500
expect "--buffer, default" "$(buffer)" -eq $((2 * 4 << 20))
expect "bytes of a segment" "$(segment)" -gt 2000
two_flows
expect "flows evicted" "$(stat_of 1 .tx.engine.flows_evicted)" -eq 0
again --no-offload
expect "bytes of a segment with --no-offload" "$(segment)" -le 1464
again --queue 7 --buffer 256K --flows 1
expect "--queue" "$(queue)" -eq 7
expect "--buffer" "$(buffer)" -eq $((2 * 256 << 10))
for _ in 1 2 3 4 5; do # on a busy machine the first flow may end before the second begins
    two_flows
    [ "$(stat_of 1 .tx.engine.flows_evicted)" -eq 0 ] || break
done
expect "flows evicted with --flows 1" "$(stat_of 1 .tx.engine.flows_evicted)" -gt 0
expect "flows with --flows 1" "$(stat_of 1 .tx.engine.flows_now)" -le 1

# A round trip takes at least the link's delay, and without one the shortest takes less. The delay
# is so long that a busy machine's own is not taken for it.
round_trip() {
    testbed_run 1 "$gradnic" bench nic "$(testbed_address 2)" --round-trip "$1" -n 10 --json >"$testbed_dir/trip" ||
        fail "--round-trip $1"
}
again --delay 300ms
round_trip 64
jq -e '.min_us >= 300000 and .median_us >= .min_us and .median_us < 10000000' "$testbed_dir/trip" >/dev/null ||
    fail "round trips of 64 bytes: $(cat "$testbed_dir/trip")"
again
before=$(stat_of 1 .tx.host.bytes)
round_trip 20000
jq -e '.min_us > 0 and .min_us < 300000' "$testbed_dir/trip" >/dev/null ||
    fail "round trips of 20000 bytes: $(cat "$testbed_dir/trip")"
expect "bytes of 10 round trips of 20000 bytes" "$(stat_of 1 .tx.host.bytes)" -gt $((before + 200000))
testbed_down

begin 2 --steer mark --nic "--mark 77 --table 4242"
for host in 1 2; do
    expect "rules by --mark and --table" "$(testbed_run $host ip rule | grep -c 'fwmark 0x4d lookup 4242')" -eq 1
    expect "rules by the default table" "$(testbed_run $host ip rule | grep -c 'lookup 18766')" -eq 0
    expect "routes in --table" "$(testbed_run $host ip route show table 4242 | wc -l)" -eq 1
    testbed_run $host nft \
        'table inet gradnic { chain output {
            type route hook output priority mangle; ip dscp 10 meta mark set 77; }; }' ||
        fail "no firewall marks on host $host"
done
serve 2 -i "$grads" -k 10
stream 1 "$(testbed_address 2)" -i "$grads" --tos 0x28 -t 1
expect "packets compressed by --mark" "$(stat_of 1 .tx.rules[0].compressed)" -gt 50
testbed_nic_stop 1
expect "rules left behind" "$(testbed_run 1 ip rule | grep -c 'lookup 4242')" -eq 0
exit 0
