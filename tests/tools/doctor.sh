#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gradnic doctor: says the same in text and JSON, gives a fix with every warning, sees limits that
# are set here, and answers probes of this host. Strangers get no more than they send. The path
# between hosts: tests/net/doctor.sh.
# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"

doctor() { "$GRADNIC" doctor "$@"; }
level() { jq -r --arg name "$2" '.findings[] | select(.name == $name) | .level' "$1"; }

# Whatever this host is like: the status says whether something failed.
status=0
doctor --json=found.json >found.txt || status=$?
[ "$status" = "$(jq 'if .failures > 0 then 1 else 0 end' found.json)" ] || fail "status $status: $(cat found.txt)"
[ "$(jq -r '.findings[].name' found.json | tr '\n' ' ')" = "build kernel tun segments steering kernels codec udp \
buffers memory shm cores files memlock clock " ] || fail "other things are looked at: $(jq -c '[.findings[].name]' found.json)"
jq -e 'all(.findings[]; (.level == "ok") == (has("fix") | not))' found.json >/dev/null || fail "a warning without a fix"
jq -e '[.findings[].level] | map(select(. == "warn")) | length' found.json | grep -qx "$(jq .warnings found.json)" ||
    fail "the number of warnings"
while IFS='|' read -r of name; do
    grep -Eq "^$of +$name " found.txt || fail "no line '$of $name': $(cat found.txt)"
done < <(jq -r '.findings[] | .level + "|" + .name' found.json)
! grep -E '.{97}' found.txt || fail "long lines"
[ "$(level found.json kernels)" = "$("$GRADNIC" bench codec -q --made zero --layout cache -r 1 -t 0 -p dense --json |
    jq -r 'if .results[0].kernel == "scalar" then "warn" else "ok" end')" ] || fail "kernels"
{ doctor -q || true; } >quiet.txt
! grep -q '^ok' quiet.txt || fail "-q is not quiet"

# Limits are seen.
# shellcheck disable=SC2016 # bash -c expands it
bash -c 'ulimit -Sn 100 -f 100; "$GRADNIC" doctor --json' >limited.json || true
[ "$(level limited.json files)" = warn ] || fail "100 open files are no warning"
[ "$(level limited.json memory)" = warn ] || fail "files of at most 100 KiB are no warning"
# shellcheck disable=SC2016
bash -c 'ulimit -f 4096; "$GRADNIC" doctor --json' >limited.json || true
[ "$(level limited.json memory)" = "$(level found.json memory)" ] || fail "files of 4 MiB are not enough"
taskset -c "$(taskset -cp $$ | sed 's/.*: \([0-9]*\).*/\1/')" "$GRADNIC" doctor --json >one.json || true
[ "$(level one.json cores)" = warn ] || fail "one core is no warning"

# Without rights a device cannot be made, and that is no failure where there is /dev/net/tun.
if [ "$(id -u)" = 0 ] && [ -c /dev/net/tun ] && [ "$(level found.json tun)" = ok ]; then
    cp "$GRADNIC" "$work/gradnic"
    chmod -R a+rX "$work"
    setpriv --reuid 65534 --regid 65534 --clear-groups "$work/gradnic" doctor --json >plain.json || true
    rm gradnic
    wanted=fail
    [ ! -w /dev/net/tun ] || [ "$(stat -c %a /dev/net/tun)" != 666 ] || wanted=warn
    [ "$(level plain.json tun)" = $wanted ] || fail "without rights: $(jq -c '.findings[2]' plain.json)"
fi

# Wrong usage.
expect 2 "--listen and PEER" "$GRADNIC" doctor --listen 127.0.0.1
expect 2 "--listen has no results" "$GRADNIC" doctor --listen --json
expect 2 "--time is for --listen" "$GRADNIC" doctor -t 5
expect 2 "--tos needs a PEER" "$GRADNIC" doctor --tos 0x28
expect 2 "--listen: '127.0.0.300'" "$GRADNIC" doctor --listen=127.0.0.300
expect 2 "'127.0.0.300'" "$GRADNIC" doctor 127.0.0.300
expect 2 "99999" "$GRADNIC" doctor 127.0.0.1:99999
expect 2 "--time: 0" "$GRADNIC" doctor --listen -t 0

# A listener on this host.
host=127.$((RANDOM % 200 + 20)).$((RANDOM % 200)).9
expect 1 "" "$GRADNIC" doctor -q "$host" # nobody listens yet
"$GRADNIC" doctor --listen="$host:7955" >listener.txt 2>&1 &
listener=$!
trap 'kill $listener 2>/dev/null || true; rm -rf "$work"' EXIT
said_in=listener.txt until_holds "it does not listen" grep -q "answers probes at UDP $host:7955" listener.txt
doctor --tos 0x48 "$host:7955" --json >path.json || true
for name in peer loss dscp ecn; do
    [ "$(level path.json $name)" = ok ] || fail "on loopback, $name: $(jq -c '.findings[15:]' path.json)"
done
jq -r '.findings[].found' path.json | grep -q '^ToS 0x48 arrives there as 0x48 and here as 0x48$' || fail "the mark"

# Strangers: what is no question has no answer, and no answer is longer than its question.
"$PYTHON" - "$host" 7955 <<'P' || fail "strangers"
import os, socket, struct, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.connect((sys.argv[1], int(sys.argv[2])))
def ask(data, wait=0.2):
    s.settimeout(wait)
    s.send(data)
    try:
        return s.recv(65535)
    except socket.timeout:
        return None
def question(size, wanted, kind=1):
    return b"GNdr" + bytes([1, kind, 0, 0]) + struct.pack(">QIIII", 5, 6, size, wanted, 0) + bytes(size - 32)
assert len(ask(question(500, 40), 5)) == 40
assert len(ask(question(500, 500), 5)) == 500
for data in (b"x", os.urandom(1000), question(40, 41), question(40, 1 << 31), question(100, 40)[:99], question(40, 40, 2)):
    assert ask(data) is None, data
P
kill -INT $listener
wait $listener || fail "it ended with $?: $(cat listener.txt)"
grep -Eq '^[0-9]{3,} answered, 6 ignored, 0 held back$' listener.txt || fail "it counts: $(cat listener.txt)"

# It ends by itself.
timeout 20 "$GRADNIC" doctor --listen="$host:7956" -t 200ms >listener.txt || fail "--time"
