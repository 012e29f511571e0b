#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# --rate models a link. Bytes on the wire per second are within 5 % of it, it loses nothing, and it
# can be changed.
# shellcheck source=tests/net/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

begin 2 --nic "--rate 20mbit"
measure() { # Mbit/s * 100 that host 1 puts on the wire while a stream runs
    local first second from to
    stream 1 "$(testbed_address 2)" -i "$grads" "$@" -t 2.5 &
    sleep 0.7
    first=$(stat_of 1 .tx.wire.bytes) from=${EPOCHREALTIME/./}
    sleep 1.5
    second=$(stat_of 1 .tx.wire.bytes) to=${EPOCHREALTIME/./}
    wait $! || fail "the stream"
    measured=$(((second - first) * 800 / (to - from)))
}
serve 2
# The limiter does not decide how much a machine gets through a NIC. So a link has to be full only
# where that takes little: compressed gradients (at most a tenth of what the program sends) at up to
# 100 Mbit/s. Above, they must not exceed it. On a busy machine that takes several attempts.
for rate in 20 100 400; do
    testbed_set 1 --rate "${rate}mbit" || fail "set --rate"
    for tos in 0 0x28; do
        if [ "$tos" = 0x28 ] && [ "$rate" -gt 100 ]; then least=$((rate * 25)); else least=$((rate * 95)); fi
        for ((attempt = 0; attempt < 12; attempt++)); do
            measure --tos $tos
            { [ "$measured" -lt "$least" ] || [ "$measured" -gt $((rate * 105)) ]; } || break
        done
        expect "rate $rate Mbit/s (ToS $tos), in 1/100" "$measured" -ge "$least"
        expect "rate $rate Mbit/s (ToS $tos), in 1/100" "$measured" -le $((rate * 105))
    done
done
expect "refused datagrams" "$(stat_of 1 '.tx.wire.errors + .tx.wire.too_big')" -eq 0
