#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The control socket. What it says is JSON. What it sets takes effect. What it refuses, it refuses
# with a reason.
# shellcheck source=tests/net/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

begin 2
ask() { local what=$1; shift; "$gradnic" nic "$what" -c "$(testbed_control 1)" "$@"; }
ask status --json | jq -e '.device == "gn0" and .host_mtu == 1464 and .wire_mtu == 1500 and (.rules | length) == 1' >/dev/null || fail "status"
ask status --json | jq -e '.listen == "0.0.0.0:7777" and .addresses == ["10.77.0.1/24", "fd77::1/64"]' >/dev/null || fail "status: listen, addresses"
ask stats --json | jq -e '.tx.wire.bytes >= 0 and .rx.engine.malformed == 0 and (.peers | length) == 1' >/dev/null || fail "stats"
ask status | grep -q '^device  *gn0$' || fail "status for people"

# For Prometheus: every metric has a type and a help, its samples stand together, and none comes
# twice.
for format in prometheus openmetrics; do
    ask stats --$format >"$testbed_dir/metrics"
    python3 "$here/../tools/metrics.py" check "$testbed_dir/metrics" || fail "--$format"
    grep -q '^gradnic_rx_engine_malformed_total{device="gn0"} 0$' "$testbed_dir/metrics" || fail "--$format: no malformed counter"
done

ask set -p paper -k 8 --cut mtu --rate 100mbit --loss 0.5 --seed 3 || fail "set"
ask status --json | jq -e '.rules[0] == "tos=0x28,proto=any,port=any,profile=paper,k=8,head=0" and .cut == "mtu" and .rate == 100000000 and .fault.loss == 0.5' >/dev/null || fail "set did not take: $(ask status)"
ask set --loss 1% --duplicate 2% --reorder 3% --reorder-delay 4ms --delay 5ms --jitter 6us --seed 7 || fail "set of a bad link"
ask status --json | jq -e '.fault == {loss: 0.01, duplicate: 0.02, reorder: 0.03, reorder_ns: 4000000, delay_ns: 5000000, jitter_ns: 6000, seed: 7}' >/dev/null || fail "a bad link did not take: $(ask status --json)"
ask set --loss 0 --duplicate 0 --reorder 0 --delay 0 --jitter 0 || fail "set of a good link"
ask set --loss 0 --rate unlimited --rule tos=0x48,proto=udp,k=6 --rule tos=0x28,k=12 || fail "set --rule"
ask status --json | jq -e '.rules | length == 2' >/dev/null || fail "two rules"
ask set --rate 1mbit || fail "set --rate 1mbit"
ask set --rate 0 || fail "set --rate 0"
ask status --json | jq -e '.rate == 0' >/dev/null || fail "--rate 0"
ask set --bypass on || fail "set --bypass"
ask status --json | jq -e .bypass >/dev/null || fail "bypass did not take"

refused() { # refused STATUS TEXT ARGS
    local status=$1 text=$2 got
    shift 2
    ask set "$@" 2>"$testbed_dir/refusal"
    got=$?
    expect "exit status of set $*" $got -eq "$status"
    grep -q "$text" "$testbed_dir/refusal" || fail "set $*: exit $got: $(cat "$testbed_dir/refusal")"
}
refused 2 'is not a profile' -p zip
refused 2 'probability' --loss 2
refused 1 'does not take the bound' -p paper -k 0
refused 1 'is not a key' --rule colour=red
refused 1 'mtu or fill' --cut sideways
refused 2 'nothing to set'
refused 2 'at least 1kbit' --rate 10
ask status --json | jq -e '.rules | length == 2' >/dev/null || fail "a refused request changed something"

# Bytes that are not a request: the NIC answers with the reason, and goes on. It hangs up on a
# silent client.
python3 - "$(testbed_control 1)" <<'P' || fail "raw requests"
import json, os, socket, sys, time
def ask(data, shut=True):
    s = socket.socket(socket.AF_UNIX); s.settimeout(5); s.connect(sys.argv[1]); s.sendall(data)
    if shut: s.shutdown(socket.SHUT_WR)
    got = b''
    try:
        while (piece := s.recv(65536)): got += piece
    except ConnectionResetError: pass
    return got
for data in (b'', b'{', b'[]', b'\0' * 100, b'{"command": "set"}', b'{"command": "fly"}', os.urandom(1000), b'{"command":"set","rate":-5}'):
    got = ask(data)
    assert 'error' in json.loads(got), (data, got)
assert 'longer than' in json.loads(ask(b'[' * 200000))['error']
for data in (b'{"command": "status"}\0junk', b'{"command": "status"} x', b'{"command": "status", "colour": 1}', b'{"command": "status", "format": "json"}',
             b'{"command": "stats", "rate": 1000}', b'{"command": "set", "bypass": true, "format": "json"}'):
    assert 'error' in json.loads(ask(data)), data
started = time.time(); ask(b'{"command"', shut=False); assert time.time() - started < 4
# Clients that say next to nothing hold up nobody, however many there are.
slow = []
for i in range(40):
    s = socket.socket(socket.AF_UNIX); s.settimeout(5); s.connect(sys.argv[1]); s.send(b'{'); slow.append(s)
started = time.time()
assert json.loads(ask(b'{"command": "status"}'))['device'] == 'gn0'
assert time.time() - started < 0.9, time.time() - started
# The deadline is the whole request's: one byte now and then does not move it.
drip = socket.socket(socket.AF_UNIX); drip.connect(sys.argv[1]); started = time.time()
try:
    while time.time() - started < 6: drip.send(b' '); time.sleep(0.1)
except OSError: pass
assert time.time() - started < 3, 'a dripping client was not hung up on'
P
"$gradnic" nic status -c /nowhere/x.sock 2>"$testbed_dir/absent" && fail "status without a NIC"
grep -q 'is the NIC running' "$testbed_dir/absent" || fail "no hint: $(cat "$testbed_dir/absent")"
[ "$(stat -c %a "$(testbed_control 1)")" = 600 ] || fail "the control socket is open to others"

# SIGTERM is answered at once, slow clients or not.
python3 - "$(testbed_control 2)" <<'P' &
import socket, sys, time
slow = [socket.socket(socket.AF_UNIX) for i in range(12)]
for s in slow: s.connect(sys.argv[1])
try:
    for i in range(100):
        for s in slow: s.send(b' ')
        time.sleep(0.05)
except OSError: pass
P
sleep 0.4
started=${EPOCHREALTIME/./}
testbed_nic_stop 2
expect "microseconds to end" $((${EPOCHREALTIME/./} - started)) -lt 900000
expect "exit status" "$testbed_status" -eq 0

# A NIC uses its account's rights for its socket's path. It does not follow, change or remove a link
# or a file in the way. It replaces only a socket that nobody answers.
nic2() { testbed_run 2 timeout -s TERM "${limit:-10}" "$gradnic" nic -q -c "$1" -a 10.77.0.2/24 -P "10.77.0.1/32=$(testbed_link_address 1)" 2>"$testbed_dir/nic2.err"; }
account=$(id -u gradnic 2>/dev/null || id -u nobody)
theirs=$testbed_dir/theirs
install -d -o "$account" "$theirs"
echo kept >"$testbed_dir/kept"
ln -s "$testbed_dir/kept" "$theirs/link.sock"
cp "$testbed_dir/kept" "$testbed_dir/file.sock"
for path in "$theirs/link.sock" "$testbed_dir/file.sock"; do
    nic2 "$path"; expect "exit status with $path in the way" $? -eq 1
    grep -q 'it is not a socket' "$testbed_dir/nic2.err" || fail "no reason: $(cat "$testbed_dir/nic2.err")"
    expect "owner" "$(stat -L -c %u "$path")" -eq 0
    [ "$(cat "$path")" = kept ] || fail "$path was overwritten"
done
install -d -o daemon "$testbed_dir/daemons"
nic2 "$testbed_dir/daemons/nic.sock"; expect "exit status in another account's folder" $? -eq 1
[ -z "$(ls -A "$testbed_dir/daemons")" ] || fail "something was made in another account's folder"

# In the folder of the NIC's account the socket goes with the NIC. In root's folder it stays, and
# the next NIC replaces it. A folder that is missing is made, and is root's.
for path in "$theirs/nic.sock" "$testbed_dir/new/nic.sock" "$testbed_dir/roots.sock" "$testbed_dir/roots.sock"; do
    (limit=1 && nic2 "$path"; exit 0) &
    for ((i = 0; i < 100; i++)); do "$gradnic" nic status -c "$path" >/dev/null 2>&1 && break; sleep 0.02; done
    expect "owner of $path" "$(stat -c %u:%a "$path")" = "$account:600"
    "$gradnic" nic status -c "$path" >/dev/null || fail "no NIC at $path"
    wait $!
    if [ "$path" != "$theirs/nic.sock" ]; then [ -S "$path" ] || fail "$path: expected to stay"
    else [ ! -e "$path" ] || fail "$path is still there"; fi
done
expect "owner of the new folder" "$(stat -c %u:%a "$testbed_dir/new")" = 0:755
