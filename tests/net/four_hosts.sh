#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Four hosts send to each other at once; what one sent is what the others got, packet for packet.
# shellcheck source=tests/net/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

begin 4 --rate 200mbit
for host in 1 2 3 4; do serve "$host" -i "$grads" -k 10; done
pids=()
for host in 1 2 3 4; do
    stream "$host" "$(testbed_address $((host % 4 + 1)))" -i "$grads" --tos 0x28 -t 2 &
    pids+=($!)
done
for pid in "${pids[@]}"; do wait "$pid" || fail "a stream of the ring failed"; done

settled() { # counters of all hosts, once nothing moves any more
    local last='' now i
    for ((i = 0; i < 50; i++)); do
        now=$(for host in 1 2 3 4; do testbed_stats $host | jq -c '[.tx.wire.packets, .tx.wire.packet_bytes, .rx.engine.packets, .rx.engine.bytes]'; done)
        [ "$now" = "$last" ] && break
        last=$now
        sleep 0.2
    done
    echo "$now"
}
settled | jq -s 'map({tx: .[0], tx_bytes: .[1], rx: .[2], rx_bytes: .[3]})' >"$testbed_dir/sums.json"
jq -e '(map(.tx) | add) == (map(.rx) | add) and (map(.tx_bytes) | add) == (map(.rx_bytes) | add) and (map(.tx) | min) > 100' \
    "$testbed_dir/sums.json" >/dev/null || fail "packets sent and received differ: $(jq -c . "$testbed_dir/sums.json")"
for host in 1 2 3 4; do
    peer=$(testbed_link_address $((host % 4 + 1))):7777
    sent=$(stat_of "$host" ".peers[] | select(.peer == \"$peer\") | .tx.packets")
    got=$(stat_of $((host % 4 + 1)) ".peers[] | select(.peer == \"$(testbed_link_address "$host"):7777\") | .rx.packets")
    expect "packets of host $host at its neighbour" "$sent" -eq "$got"
done
