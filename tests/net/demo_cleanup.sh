#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The demo is interrupted at several moments and in several ways. No namespace, device, process or
# file of its own stays behind.
set -euo pipefail
: "${GRADNIC:?run this through ctest}"
work=$(mktemp -d "${TMPDIR:-/tmp}/gradnic-test.XXXXXX")
pid=''
trap '[ -z "$pid" ] || { kill "$pid" && wait "$pid"; } 2>/dev/null; rm -rf "$work"' EXIT
fail() { echo "FAILED: $*" >&2; exit 1; }
[ "$(id -u)" -eq 0 ] || fail "run this as root"
# shellcheck source=scripts/testbed
(source "$(dirname "$0")/../../scripts/testbed" && testbed_possible) || exit 77

export TMPDIR=$work/tmp
mkdir "$TMPDIR"

# What the demo with process id $1 has made. Nothing else has this id in its name or this folder in
# its arguments.
leftovers() {
    ip netns list | grep -o "^gnd$1-[a-z0-9]*" || true
    ip -o link show | grep -o "gnd$1[^:@ ]*" || true
    pgrep -af "$TMPDIR|$work/out" || true
    find "$TMPDIR" -mindepth 1
}

# interrupt NAME TEXT SIGNAL STATUS WHO [OPTIONS...]: starts a long demo and waits until its output
# has TEXT. Sends SIGNAL to the script alone or, as Ctrl-C does, to its process group. Expects the
# demo to end with STATUS.
interrupt() {
    local name=$1 text=$2 signal=$3 status=$4 who=$5 got=0
    shift 5
    : >"$work/log"
    # A shell's background processes ignore SIGINT; one that is started at a terminal does not.
    setsid env --default-signal=INT,QUIT "$GRADNIC" demo --steps 100000 -o "$work/out" --rate 1gbit "$@" >"$work/log" 2>&1 &
    pid=$!
    for ((i = 0; i < 3000; i++)); do
        ! grep -q "$text" "$work/log" || break
        kill -0 "$pid" 2>/dev/null || fail "$name: ended by itself: $(cat "$work/log")"
        sleep 0.05
    done
    grep -q "$text" "$work/log" || fail "$name: no '$text' in $(cat "$work/log")"
    sleep "0.$((RANDOM % 8))"
    [ -n "$(leftovers "$pid")" ] || fail "$name: there was nothing to clean up: this test tests nothing"
    case $who in
    group) kill -s "$signal" -- "-$pid" ;;
    script) kill -s "$signal" "$pid" ;;
    twice) # as timeout(1) does
        kill -s "$signal" "$pid"
        sleep 0.005
        kill -s "$signal" -- "-$pid"
        ;;
    worker) pkill --signal "$signal" -f "$TMPDIR.*--rank 2" || fail "$name: no worker" ;;
    nic) pkill --signal "$signal" -f "nic -c $TMPDIR/.*/nic2.sock" || fail "$name: no NIC" ;;
    esac
    for ((i = 0; i < 400; i++)); do kill -0 "$pid" 2>/dev/null || break; sleep 0.1; done
    ! kill -0 "$pid" 2>/dev/null || fail "$name: still running 40 s later"
    wait "$pid" || got=$?
    local ended=$pid
    pid=''
    [ "$got" -eq "$status" ] || fail "$name: exit status $got, not $status: $(tail -n 5 "$work/log")"
    [ -z "$(leftovers "$ended")" ] || fail "$name: left behind: $(leftovers "$ended")"
    echo "$name: clean"
}

interrupt "Ctrl-C while the hosts are made" '== ring, no compression' INT 130 group
interrupt "Ctrl-C while it trains" 'test loss' INT 130 group
interrupt "SIGINT to the script alone" 'test loss' INT 130 script
interrupt "SIGTERM while it trains" 'test loss' TERM 143 script
interrupt "SIGHUP of a lost terminal" 'test loss' HUP 129 script
interrupt "two signals" 'test loss' TERM 143 twice
interrupt "two signals while the hosts are made" '== ring, no compression' TERM 143 twice
interrupt "two signals in-process" 'test loss' TERM 143 twice --in-process
interrupt "Ctrl-C in-process" 'test loss' INT 130 group --in-process
interrupt "SIGTERM in-process" 'test loss' TERM 143 script --in-process
interrupt "a worker killed" 'test loss' KILL 1 worker
grep -q 'rank 2' "$work/log" || fail "the survivors do not name the killed worker: $(tail -n 20 "$work/log")"
began=$SECONDS
interrupt "a NIC killed" 'test loss' KILL 1 nic
grep -q 'the NIC of host 2 has ended (killed by SIGKILL)' "$work/log" || fail "the demo does not name the killed NIC: $(tail -n 20 "$work/log")"
[ $((SECONDS - began)) -lt 60 ] || fail "a killed NIC is noticed only after $((SECONDS - began)) s"

# Nothing can clean up after SIGKILL: the next demo does. The log of the run above has the text too.
: >"$work/log"
setsid "$GRADNIC" demo --steps 100000 -o "$work/out" --rate 1gbit >"$work/log" 2>&1 &
pid=$!
for ((i = 0; i < 3000; i++)); do
    ! grep -q 'test loss' "$work/log" || break
    sleep 0.05
done
kill -s KILL -- "-$pid"
wait "$pid" 2>/dev/null || true
killed=$pid
pid=''
[ -n "$(leftovers "$killed")" ] || fail "SIGKILL: there was nothing to clean up: this test tests nothing"
"$GRADNIC" demo --in-process --quick --steps 2 --workers 2 -q -o "$work/out" >"$work/log" 2>&1 || fail "$(cat "$work/log")"
[ -z "$(leftovers "$killed")" ] || fail "SIGKILL: the next demo left: $(leftovers "$killed")"
echo "SIGKILL, and another demo: clean"
