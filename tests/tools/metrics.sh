#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Counters over HTTP (--metrics), and what strangers do to that port. METRICS_TABLE: the program
# that lists all metrics.
# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"
check() { "$PYTHON" "$SOURCE/tests/tools/metrics.py" "$@" || fail "metrics.py $*"; }

# The table in docs/monitoring.md is the one that the program prints.
cp "$SOURCE/docs/monitoring.md" page
"$SOURCE/tests/tools/metrics_table.sh" "${METRICS_TABLE:?}" page || fail "docs/monitoring.md has no place for the table"
cmp -s page "$SOURCE/docs/monitoring.md" ||
    fail "the table of docs/monitoring.md is old; tests/tools/metrics_table.sh renews it"
rm page
"$METRICS_TABLE" >table
dashboard=$SOURCE/packaging/grafana/gradnic.json
check dashboard "$dashboard" table "$SOURCE/tests/tools/dashboard_left_out"

port=
pids=()
trap 'kill "${pids[@]}" 2>/dev/null || true; wait; rm -rf "$work"' EXIT
free_port() { "$PYTHON" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
# start ADDRESS NAME: a switch whose metrics are at ADDRESS:$port
start() {
    local i address=$1
    for ((i = 0; i < 5; i++)); do
        port=$(free_port)
        "$GRADNIC" switch -l "127.0.0.1:$(free_port)" -c "$PWD/$2.sock" --slots 64 --metrics "$address:$port" \
            2>"$2.log" &
        pids+=($!)
        for ((j = 0; j < 250; j++)); do
            ! grep -q listening "$2.log" || return 0
            kill -0 $! 2>/dev/null || break
            sleep 0.02
        done
    done
    fail "the switch does not start: $(cat "$2.log")"
}
get() { curl -sS --max-time 10 "$@"; }

start "" switch # this host alone
url=http://127.0.0.1:$port/metrics
get -i "$url" >plain
# As Prometheus asks.
accept='application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75'
get -i -H "Accept: $accept,text/plain;version=0.0.4;q=0.5,*/*;q=0.1" "$url" >open
grep -q '^Content-Type: text/plain; version=0.0.4; charset=utf-8' plain || fail "type: $(head -n 5 plain)"
grep -q '^Content-Type: application/openmetrics-text; version=1.0.0; charset=utf-8' open ||
    fail "type: $(head -n 5 open)"
check check plain
check check open
[ "$(tail -n 1 open)" = "# EOF" ] || fail "no end"
! grep -q EOF plain || fail "an end in format 0.0.4"
get -H 'Accept: application/openmetrics-text;q=0.2, text/plain' "$url" | tail -n 1 | grep -v EOF >/dev/null ||
    fail "weights are ignored"
check names plain >names.plain
check names open >names.open
same names.plain names.open
# The control socket says the same.
"$GRADNIC" switch stats -c "$PWD/switch.sock" --prometheus >asked
"$GRADNIC" switch stats -c "$PWD/switch.sock" --openmetrics >asked.open
check check asked
check check asked.open
check names asked | diff - names.plain >/dev/null || fail "the control socket has other metrics"
# A label is quoted; the loopback address alone listens.
grep -q '^gradnic_switch_now_slots{listen="127.0.0.1:[0-9]*"} 64$' plain || fail "no slots"
ss -Hltn "sport = :$port" | grep -v '127.0.0.1:' && fail ":PORT listens elsewhere, too"

# Everything else is refused.
status() { get -o /dev/null -w '%{http_code}' "$@"; }
[ "$(status "http://127.0.0.1:$port/")" = 404 ] || fail "/"
[ "$(status "http://127.0.0.1:$port/metrics/x")" = 404 ] || fail "/metrics/x"
[ "$(status -X POST -d x=y "$url")" = 405 ] || fail POST
[ "$(status -X DELETE "$url")" = 405 ] || fail DELETE
get -I "$url" >"head"
grep -q '^HTTP/1.1 200' head || fail "HEAD: $(cat head)"

# Whoever asks often gets the same picture for a moment: the daemon takes at most five a second.
for i in 1 2 3; do
    get "$url" >"often$i"
done

# Strangers.
check header 127.0.0.1 "$port"
check crowd 127.0.0.1 "$port"
check slow 127.0.0.1 "$port"
for ((i = 0; i < 100; i++)); do
    files=$(find "/proc/${pids[0]}/fd" -mindepth 1 2>/dev/null | wc -l)
    [ "$files" -gt 40 ] || break
    sleep 0.1
done
[ "$files" -le 40 ] || fail "$files descriptors are open after the strangers"

# A port that is taken, and what is no address.
expect 1 "--metrics: cannot listen at 127.0.0.1:$port: Address already in use" \
    "$GRADNIC" switch -l "127.0.0.1:$(free_port)" -c none --metrics "127.0.0.1:$port"
expect 2 "--metrics: '9464' is not ADDRESS:PORT" "$GRADNIC" switch --metrics 9464
expect 2 "--metrics: ':0': port is not a number from 1 to 65535" "$GRADNIC" switch --metrics :0
expect 2 "--metrics: host 'no.such.host.invalid'" "$GRADNIC" nic --metrics no.such.host.invalid:9464
expect 2 "--json or --openmetrics, not both" "$GRADNIC" nic stats --json --openmetrics
kill "${pids[0]}"
wait "${pids[0]}" || fail "the switch ended with $?"

if [ -e /proc/net/if_inet6 ] && grep -q '^00000000000000000000000000000001 ' /proc/net/if_inet6; then
    start "[::1]" six
    get "http://[::1]:$port/metrics" >six
    check check six
    check crowd ::1 "$port"
else
    echo "skipped: no IPv6 here"
fi
if command -v promtool >/dev/null; then
    promtool check metrics <asked || fail promtool
else
    echo "skipped: no promtool here"
fi
