#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Data in both directions at the same time calls the NIC's second thread; data in one direction does not. Everything arrives as it should.
# shellcheck source=tests/net/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

begin 2
for host in 1 2; do serve $host -f "$grads" -k 10; done
calls() { stat_of 1 .second_thread_calls; }
# On a busy machine a sender may have to wait for the link, or two streams may hardly overlap: several attempts.
one_way() {
    local i before
    for ((i = 0; i < 5; i++)); do
        before=$(calls)
        stream 1 "$(testbed_address 2)" -f "$grads" --tos "$1" -t 1
        [ "$(calls)" -gt "$before" ] || return 0
    done
    return 1
}
both_ways() {
    local i before
    before=$(calls)
    for ((i = 0; i < 5; i++)); do
        stream 1 "$(testbed_address 2)" -f "$grads" --tos "$1" -t 2 &
        stream 2 "$(testbed_address 1)" -f "$grads" --tos "$1" -t 2
        wait $! || fail "the stream from host 1"
        [ "$(calls)" -eq "$before" ] || return 0
    done
    return 1
}
for tos in 0 0x28; do
    one_way $tos || fail "data in one direction calls the second thread (ToS $tos)"
    both_ways $tos || fail "data in both directions does not call the second thread (ToS $tos)"
done
for host in 1 2; do
    expect "malformed on host $host" "$(stat_of $host .rx.engine.malformed)" -eq 0
    expect "errors on host $host" "$(stat_of $host '.tx.wire.errors + .tx.wire.too_big')" -eq 0
done
