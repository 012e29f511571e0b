#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The log of a daemon: what it prints unless told otherwise, levels, times, JSON, priorities for the
# journal, and what the service manager is told.
# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"

host=127.$((RANDOM % 200 + 20)).$((RANDOM % 200)).5
switch=
trap 'kill $switch 2>/dev/null || true; rm -rf "$work"' EXIT

# run ARGS: a switch starts, is asked for its status, and ends; its log is in the file log
run() {
    rm -f log
    : >log
    "$GRADNIC" switch -l "$host:7872" -c "$PWD/switch.sock" -u "$(id -un)" --slots 8 --values 8 "$@" 2>log &
    switch=$!
    said_in=log until_holds "the switch did not start" "$GRADNIC" switch status -c "$PWD/switch.sock"
    kill $switch
    wait $switch || fail "the switch ended with $?: $(cat log)"
}
is() { # TEXT: the log is this
    [ "$(cat log)" = "$1" ] || fail "the log is: $(cat log)"
}

run
line=$(sed -n 's/^gradnic switch: note: \(listening on .* 8 slots of 8 values in 1 shard, .*\)$/\1/p' log)
[ -n "$line" ] || fail "no line of the start: $(cat log)"
is "gradnic switch: note: $line"
run -q && is ""
run --log-level warn && is ""
run -q --log-level info && is "gradnic switch: note: $line"
run --log-level error -v -v && is "gradnic switch: note: $line"
run -v
head -n 1 log | grep -qxF "gradnic switch: note: $line" || fail "-v: $(cat log)"
grep -qF 'gradnic switch: debug: asked on the control socket: {"command": "status"}' log || fail "-v: $(cat log)"
cp log before
run -vv
sort -u log >twice
sort -u before | diff - twice || fail "-vv"
run --log-time
grep -Eqx \
    "20[0-9]{2}-[01][0-9]-[0-3][0-9]T[012][0-9]:[0-5][0-9]:[0-9]{2}\.[0-9]{3}Z gradnic switch: note: listening on .*" \
    log || fail "--log-time: $(cat log)"
run --log json -v
jq -e -s --arg line "$line" '.[0].level == "info" and .[0].program == "gradnic switch" and .[0].message == $line
    and (.[0].time | fromdate? // true)
    and (map(.level) | unique == ["debug", "info"])' log >/dev/null || fail "--log json: $(cat log)"
expect 2 "--log-level: 'loud' is none of: error, warn, info, debug" timeout 10 "$GRADNIC" switch --log-level loud
expect 2 "--log: 'xml' is neither text nor json" timeout 10 "$GRADNIC" nic --log xml

# The journal gets a priority with each line; nobody else does.
: >log
"$GRADNIC" switch -l "$host:0" --slots 8 -c none -u 'no such' 2>log && fail "no such user"
! grep -q '^<' log || fail "priorities without a journal: $(cat log)"
: >log
journal=$(stat -c %d:%i log)
JOURNAL_STREAM=$journal "$GRADNIC" switch --ps 127.0.0.1:9 --parent 127.0.0.1:10 --config /nowhere 2>>log &&
    fail "no file"
is "<3>gradnic switch: /nowhere: No such file or directory"

# Type=notify: ready when it serves, stopping at the end, and both ends of a reload.
printf 'listen = %s:7873\ncontrol = %s/switch.sock\nuser = %s\n' "$host" "$PWD" "$(id -un)" >switch.conf
"$PYTHON" - "$GRADNIC" <<'P' || fail "notifications"
import os, signal, socket, subprocess, sys
manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
manager.bind("notify.sock")
manager.settimeout(20)
def hear(): return manager.recv(4096).decode().split("\n")[0]
environment = dict(os.environ, NOTIFY_SOCKET=os.path.abspath("notify.sock"))
switch = subprocess.Popen([sys.argv[1], "switch", "-q", "--config", "switch.conf"], env=environment)
try:
    assert hear() == "READY=1"
    switch.send_signal(signal.SIGHUP)  # is heard as soon as it is ready
    assert hear() == "RELOADING=1" and hear() == "READY=1"
    switch.send_signal(signal.SIGTERM)
    assert hear() == "STOPPING=1"
    assert switch.wait(20) == 0
finally:
    if switch.poll() is None: switch.kill()
P

# A switch without a socket left says why nobody comes in, and does not fill its log with it.
start() { # LIMIT: of open files
    : >log
    (ulimit -n "$1" && exec "$GRADNIC" switch -l "$host:7872" -c none -u "$(id -un)" --slots 8 --values 8 2>log) &
    switch=$!
    said_in=log until_holds "the switch did not start" grep -F 'listening on' log
}
start "$(ulimit -n)"
sleep 0.1
limit=0 # the first number that is free; this shell may have left some above it
while [ -e "/proc/$switch/fd/$limit" ]; do limit=$((limit + 1)); done
kill $switch
wait $switch || fail "the switch ended with $?: $(cat log)"
start $((limit + 1))
calls=()
for _ in 1 2 3 4; do
    exec {call}<>"/dev/tcp/$host/7872"
    calls+=("$call")
done
for _ in $(seq 250); do
    ! grep -qF 'no room for connections' log || break
    sleep 0.02
done
lack="no room for connections: Too many open files (raise ulimit -n, or LimitNOFILE of the service)"
grep -qxF "gradnic switch: note: somebody who asks for a job has to wait: $lack" log ||
    fail "no room: $(cat log)"
sleep 1
[ "$(grep -cF 'no room for connections' log)" -le 20 ] || fail "no room, too often: $(cat log)"
for call in "${calls[@]}"; do exec {call}<&-; done
kill $switch
wait $switch || fail "the switch ended with $?: $(cat log)"
