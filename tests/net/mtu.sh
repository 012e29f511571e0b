#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The underlay's MTU is lowered while the NICs run. Streams in progress and new ones go on, marked
# or not. A host that sends what cannot be cut is told. The NICs also follow the MTU up again. An
# MTU that cannot work is refused or warned of at the start.
# shellcheck source=tests/net/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

for underlay in 4 6; do
    begin 2 --underlay "$underlay"
    serve 2 -i "$grads" -k 10
    stream 1 "$(testbed_address 2)" -i "$grads" --tos 0x28 -t 2 &
    sleep 0.6
    for host in 1 2; do
        ip -n "$(testbed_netns $host)" link set wire0 mtu 1302 || fail "mtu"
        ip -n "$(testbed_netns 0)" link set "p$host" mtu 1302 || fail "mtu"
    done
    wait $! || fail "the stream during which the MTU was lowered"
    for overlay in 4 6; do
        stream 1 "$(testbed_address 2 $overlay)" -i "$grads" -t 0.5
        stream 1 "$(testbed_address 2 $overlay)" -i "$grads" --tos 0x28 -t 0.5
    done
    "$gradnic" nic status -c "$(testbed_control 1)" --json | jq -e '.wire_mtu == 1302' >/dev/null || fail "the MTU was not followed"
    expect "warnings" "$(grep -c 'MTU is now 1302, not 1500' "$testbed_dir/nic1.log")" -eq 1
    # The first finds out, the next is told.
    testbed_run 1 ping -M "do" -c 3 -i 0.2 -W 1 -s 1400 "$(testbed_address 2)" >"$testbed_dir/ping" 2>&1
    grep -Eiq 'frag needed|message too long' "$testbed_dir/ping" || fail "the host was not told: $(cat "$testbed_dir/ping")"
    expect "told" "$(stat_of 1 .tx.host.told_too_big)" -gt 0
    # With a multiple of 4 the host's segments go on to end between values.
    told=$(grep -Eo 'mtu *[:=] *[0-9]+' "$testbed_dir/ping" | grep -Eo '[0-9]+' | tail -n 1)
    expect "the MTU that the host is told, modulo 4" $((${told:-1} % 4)) -eq 0
    # Without DF the host makes fragments itself once it has been told.
    testbed_run 1 ping -M "dont" -c 4 -i 0.2 -W 1 -q -s 1400 "$(testbed_address 2)" >/dev/null || fail "ping without DF"
    # The NICs ask the paths again after ten seconds. One underlay shows it.
    if [ "$underlay" = 4 ]; then
        for host in 1 2; do
            ip -n "$(testbed_netns 0)" link set "p$host" mtu 1500 || fail "mtu"
            ip -n "$(testbed_netns $host)" link set wire0 mtu 1500 || fail "mtu"
        done
        for ((i = 0; i < 300; i++)); do
            mtu=$("$gradnic" nic status -c "$(testbed_control 1)" --json | jq .wire_mtu)
            [ "$mtu" = 1302 ] || break
            sleep 0.1
        done
        expect "the wire's MTU, raised again" "$mtu" -eq 1500
        stream 1 "$(testbed_address 2)" -i "$grads" --tos 0x28 -t 0.5
    fi
    kill "$testbed_pid"
    testbed_down
done

begin 2
nic() { testbed_run 1 timeout -s TERM 1 "$gradnic" nic -q -c none -d gn7 -l 0.0.0.0:7790 -P "10.99.0.2/32=$(testbed_link_address 2)" "$@" 2>"$testbed_dir/err"; }
nic -m 1000 -a fd99::1/64; expect "exit status of -m 1000 with IPv6" $? -eq 2
grep -q 'IPv6 needs a device MTU of 1280' "$testbed_dir/err" || fail "no reason: $(cat "$testbed_dir/err")"
nic -m 9000 -a 10.99.0.1/24
grep -q -- '--mtu 9000: .* carries only 1500' "$testbed_dir/err" || fail "no warning: $(cat "$testbed_dir/err")"
