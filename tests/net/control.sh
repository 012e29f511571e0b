#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The control socket: what it says is JSON, what it sets takes effect, what it refuses it refuses with a reason.
# shellcheck source=tests/net/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

begin 2
ask() { local what=$1; shift; "$gradnic" nic "$what" -c "$(testbed_control 1)" "$@"; }
ask status --json | jq -e '.device == "gn0" and .host_mtu == 1464 and .wire_mtu == 1500 and (.rules | length) == 1' >/dev/null || fail "status"
ask stats --json | jq -e '.tx.wire.bytes >= 0 and .rx.engine.malformed == 0 and (.peers | length) == 1' >/dev/null || fail "stats"
ask status | grep -q '^device  *gn0$' || fail "status for people"

# Prometheus: every line is metric{labels} number, and no metric-label pair comes twice.
ask stats --prometheus >"$testbed_dir/metrics"
grep -vEq '^gradnic_[a-z0-9_]+\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\} -?[0-9.e+-]+$' "$testbed_dir/metrics" && fail "prometheus: $(grep -vE '^gradnic_' "$testbed_dir/metrics" | head -n 1)"
[ -z "$(sed 's/ [^ ]*$//' "$testbed_dir/metrics" | sort | uniq -d)" ] || fail "prometheus: a metric comes twice"
grep -q '^gradnic_rx_engine_malformed{device="gn0"} 0$' "$testbed_dir/metrics" || fail "prometheus: no malformed counter"

ask set -p paper -k 8 --cut mtu --rate 100mbit --loss 0.5 --seed 3 || fail "set"
ask status --json | jq -e '.rules[0] == "tos=0x28,proto=any,port=any,profile=paper,k=8,head=0" and .cut == "mtu" and .rate == 100000000 and .fault.loss == 0.5' >/dev/null || fail "set did not take: $(ask status)"
ask set --loss 0 --rate unlimited --rule tos=0x48,proto=udp,k=6 --rule tos=0x28,k=12 || fail "set --rule"
ask status --json | jq -e '.rules | length == 2' >/dev/null || fail "two rules"
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
refused 2 'is no profile' -p zip
refused 2 'probability' --loss 2
refused 1 'does not take the bound' -p paper -k 0
refused 1 'is no key' --rule colour=red
refused 1 'mtu or fill' --cut sideways
refused 2 'nothing to set'
ask status --json | jq -e '.rules | length == 2' >/dev/null || fail "a refused request changed something"

# Bytes that are no request: an answer with the reason, and the NIC goes on. A silent client is hung up on.
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
    assert not got or 'error' in json.loads(got), (data, got)
ask(b'[' * 200000)
started = time.time(); ask(b'{"command"', shut=False); assert time.time() - started < 4
assert json.loads(ask(b'{"command": "status"}'))['device'] == 'gn0'
P
"$gradnic" nic status -c /nowhere/x.sock 2>"$testbed_dir/absent" && fail "status without a NIC"
grep -q 'is the NIC running' "$testbed_dir/absent" || fail "no hint: $(cat "$testbed_dir/absent")"
[ "$(stat -c %a "$(testbed_control 1)")" = 600 ] || fail "the control socket is open to others"
