#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A name with two addresses, of which the first refuses: ranks find rank 0, ranks their switch, and
# a switch its parent. In a mount namespace with a hosts file of its own; where that cannot be made,
# the test is skipped.
# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"

if [ -z "${GN_IN_NAMESPACE:-}" ]; then
    unshare -m true 2>/dev/null || { echo "skipped: a mount namespace cannot be made (not root?)"; exit 77; }
    GN_IN_NAMESPACE=1 exec unshare -m bash "$0"
fi
printf '127.0.0.1 localhost\n127.0.0.1 two\n127.0.0.9 two\n' >hosts
mount --bind hosts /etc/hosts
first=$(getent ahostsv4 two | sed -n '1s/ .*//p') # the resolver has an order of its own
if [ "$first" = 127.0.0.1 ]; then other=127.0.0.9; else other=127.0.0.1; fi

pids=()
trap 'kill "${pids[@]}" 2>/dev/null || true; wait; umount /etc/hosts; rm -rf "$work"' EXIT
# A port that is free at both addresses.
free_port() {
    "$PYTHON" - "$first" "$other" <<'PY'
import socket, sys
while True:
    a, b = socket.socket(), socket.socket()
    a.bind((sys.argv[1], 0))
    try:
        b.bind((sys.argv[2], a.getsockname()[1]))
    except OSError:
        continue
    print(a.getsockname()[1])
    break
PY
}
# switch NAME PORT ARGS: starts a switch at the second address
switch() {
    local name=$1 port=$2
    shift 2
    "$GRADNIC" switch -l "$other:$port" -c "$PWD/$name.sock" --slots 512 "$@" 2>"$name.log" &
    pids+=($!)
    said_in=$name.log until_holds "the switch does not start" grep listening "$name.log"
}
root=$(free_port)
switch root "$root"
leaf=$(free_port)
switch leaf "$leaf" --parent "two:$root" --place 0/1
for how in "" "--algorithm switch --switch two:$leaf"; do
    meet=$(free_port)
    ranks=()
    for rank in 1 0; do
        # shellcheck disable=SC2086 # words are wanted
        "$GRADNIC" bench allreduce --rank "$rank" --world-size 2 --rendezvous "tcp://two:$meet" $how -b 64K -e 64K \
            -n 3 -q --timeout 20s >"out$rank" 2>&1 &
        ranks+=($!)
    done
    for pid in "${ranks[@]}"; do wait "$pid" || fail "'$how': $(cat out0 out1)"; done
done
# The ranks may end before the switches have said that they left.
for name in root leaf; do
    said_in=$name.log until_holds "$name had no job" grep 'is over: all have left' "$name.log"
done
# When no address answers, the job's ranks are told, and the switch goes on.
lonely=$(free_port)
switch lonely "$lonely" --parent "two:$(free_port)" --place 0/1
meet=$(free_port)
ranks=()
for rank in 1 0; do
    "$GRADNIC" train --data "$SOURCE/tests/data" --hidden 64 -q --steps 2 --rank "$rank" --world-size 2 \
        --rendezvous "tcp://localhost:$meet" \
        --algorithm switch --switch "$other:$lonely" --timeout 20s 2>"out$rank" &
    ranks+=($!)
done
for pid in "${ranks[@]}"; do ! wait "$pid" || fail "a job without a parent"; done
cat out0 out1 | grep 'cannot be made: Connection refused' >/dev/null || fail "no reason: $(cat out0 out1)"
"$GRADNIC" switch status -c "$PWD/lonely.sock" >/dev/null || fail "the switch has ended: $(cat lonely.log)"
# Each of these says which option and which name.
expect 2 "--listen host 'nobody.invalid': " "$GRADNIC" switch -c none -l nobody.invalid
expect 2 "--listen: host 'nobody.invalid': " "$GRADNIC" nic -c none -l nobody.invalid
expect 1 "--parent nobody.invalid:7777: host 'nobody.invalid': " \
    "$GRADNIC" switch -c none -l "127.0.0.1:$(free_port)" --parent nobody.invalid:7777
expect 1 "rendezvous: host 'nobody.invalid': " \
    "$GRADNIC" train --data "$SOURCE/tests/data" --rank 1 --world-size 2 --rendezvous tcp://nobody.invalid:29500
expect 1 "switch_address 'nobody.invalid:7': host 'nobody.invalid': " "$GRADNIC" train --data "$SOURCE/tests/data" \
    --rank 1 --world-size 2 --rendezvous tcp://localhost:29500 --algorithm switch --switch nobody.invalid:7
