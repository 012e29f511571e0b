#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# IPv4 and IPv6 inside and outside, both cuts. Marked streams arrive within the bound, unmarked ones
# as they were. Arguments go to both NICs: --no-offload takes the paths of hosts without offloads.
# shellcheck source=tests/net/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

for underlay in 4 6; do
    begin 2 --underlay "$underlay" --nic "$*"
    head -c 50000000 /dev/urandom >"$testbed_dir/random.f32"
    for overlay in 4 6; do
        address=$(testbed_address 2 "$overlay")
        for cut in mtu fill; do
            testbed_set 1 --cut "$cut" || fail "set --cut"
            before=$(stat_of 1 .tx.rules[0].compressed)
            serve 2 -i "$grads" -k 10
            stream 1 "$address" -i "$grads" --tos 0x28 -t 1
            kill "$testbed_pid"
            expect "compressed packets ($underlay/$overlay/$cut)" "$(stat_of 1 .tx.rules[0].compressed)" -gt $((before + 100))
        done
        serve 2 -i "$testbed_dir/random.f32"
        stream 1 "$address" -i "$testbed_dir/random.f32" -t 1
        kill "$testbed_pid"
        testbed_run 1 ping -"$overlay" -c 2 -i 0.1 -q "$address" >/dev/null || fail "ping over $underlay/$overlay"
    done
    for host in 1 2; do
        expect "malformed on host $host" "$(stat_of $host .rx.engine.malformed)" -eq 0
        expect "refused on host $host" "$(stat_of $host .rx.host.refused)" -eq 0
        expect "errors on host $host" "$(stat_of $host '.tx.wire.errors + .tx.wire.too_big + .tx.host.uncuttable')" -eq 0
    done
    expect "ratio" "$(stat_of 1 '.tx.ratio * 100 | floor')" -gt 200
    expect "packets of dense, the default, restored" "$(stat_of 2 .rx.engine.restored_dense)" -gt 400
    testbed_set 1 -p lattice || fail "set -p lattice"
    serve 2 -i "$grads" -k 10
    stream 1 "$(testbed_address 2)" -i "$grads" --tos 0x28 -t 1
    kill "$testbed_pid"
    expect "packets of lattice restored" "$(stat_of 2 .rx.engine.restored_lattice)" -gt 100
    expect "malformed after the change" "$(stat_of 2 .rx.engine.malformed)" -eq 0
    testbed_down
done
