#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Counters of a NIC over HTTP while traffic runs, also beside clients that flood that port. All that
# the dashboard shows is in a scrape of a NIC, a switch or a parameter server.
# shellcheck source=tests/net/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

begin 2 --nic "--metrics :9464"
check() { testbed_run 1 python3 "$here/../tools/metrics.py" "$@" || fail "metrics.py $*"; }
scrape() { # scrape HOST FILE [PORT]
    testbed_run "$1" curl -sS --max-time 5 "http://127.0.0.1:${3:-9464}/metrics" >"$testbed_dir/$2" ||
        fail "scrape of host $1"
}
value() { sed -n "s/^$2{device=\"gn0\"} //p" "$testbed_dir/$1"; }

serve 2
testbed_start 1 "$gradnic" bench nic "$(testbed_address 2)" -i "$grads" --tos 0x28 -t 6
load=$testbed_pid
last=0 grown=0 i=0
while [ "$grown" -lt 4 ] && kill -0 "$load" 2>/dev/null; do # on a busy machine a scrape takes long
    i=$((i + 1))
    sleep 0.3
    scrape 1 during
    check check "$testbed_dir/during"
    now=$(value during gradnic_tx_wire_bytes_total)
    expect "bytes at scrape $i" "$now" -ge "$last"
    [ "$now" -eq "$last" ] || grown=$((grown + 1))
    last=$now
done
expect "scrapes that saw more bytes" "$grown" -ge 4
check crowd 127.0.0.1 9464
check header 127.0.0.1 9464
wait "$load" || fail "the stream failed beside scrapes and strangers"

# The same numbers as on the control socket, once nothing moves.
sleep 0.5
scrape 1 after
expect "packets" "$(value after gradnic_tx_wire_packets_total)" -eq "$(stat_of 1 .tx.wire.packets)"
expect "compressed" "$(sed -n 's/^gradnic_tx_rules_compressed_total{.*} //p' "$testbed_dir/after")" -gt 0
scrape 2 after2
expect "received" "$(value after2 gradnic_rx_engine_packets_total)" -gt 0
# The other host does not reach the loopback address.
testbed_run 2 curl -s --max-time 2 -o /dev/null "http://$(testbed_link_address 1):9464/metrics" &&
    fail "host 2 reaches host 1's loopback"

# The dashboard against live scrapes.
testbed_start 1 "$gradnic" switch -l 127.0.0.1:7790 -c none --metrics :9465
testbed_start 1 "$gradnic" switch -l 127.0.0.1:7791 -c none --role ps --slots 64 --metrics :9466
for port in 9465 9466; do
    for ((i = 0; i < 200; i++)); do
        testbed_run 1 ss -Hltn "sport = :$port" | grep -q . && break
        sleep 0.05
    done
done
testbed_start 1 \
    "$gradnic" bench allreduce -N 2 --algorithm switch --switch 127.0.0.1:7790 -b 4M -e 4M -n 200 -q >/dev/null
for ((i = 0; i < 100; i++)); do
    scrape 1 switch 9465
    grep -q '^gradnic_switch_jobs_channels_core_results_total{' "$testbed_dir/switch" && break
    sleep 0.05
done
scrape 1 ps 9466
for file in switch ps; do check check "$testbed_dir/$file"; done
check live "$here/../../packaging/grafana/gradnic.json" "$testbed_dir/after" "$testbed_dir/after2" \
    "$testbed_dir/switch" "$testbed_dir/ps"

# NIC and switch end although somebody is still connected.
testbed_run 1 timeout 20 bash -c 'exec 9<>/dev/tcp/127.0.0.1/9464; printf "GET /metrics" >&9; sleep 15' &
sleep 0.3
testbed_nic_stop 1
expect "end of the NIC" "$testbed_status" -eq 0
