#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A shared secret: trainings over ring, aggregator, and a tree of switches come to the same bits as
# without. Who has another secret, or none, gets none of it.
# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"

unset GRADNIC_SECRET_FILE
switches_at 8

# The way that the documents and messages say.
(umask 077 && head -c 32 /dev/urandom | base64 >secret && head -c 32 /dev/urandom | base64 >other)

# weights NAME ARGUMENT...: what three ranks come to
weights() {
    local name=$1 i ranks=()
    shift
    for i in 0 1 2; do
        "$GRADNIC" train --data "$SOURCE/tests/data" --rank "$i" --world-size 3 --rendezvous "file://$PWD/meet-$name" \
            --steps 6 --hidden 32 -p dense --switch-values 64 "$@" --switch "$host:$((7101 + i / 2))" \
            --json="$name$i.json" -q 2>"$name$i.err" &
        ranks+=($!)
    done
    for i in 0 1 2; do wait "${ranks[i]}" || fail "$name, rank $i: $(cat "$name"?.err)"; done
    jq -r .weights "${name}0.json"
}

# over_tcp NAME ARGUMENT...: the same, without a switch
over_tcp() {
    local name=$1
    shift
    "$GRADNIC" train --data "$SOURCE/tests/data" -N 3 --steps 6 --hidden 32 -p dense "$@" \
        --json="$name.json" -q 2>"$name.err" ||
        fail "$name: $(cat "$name.err")"
    jq -r .weights "$name.json"
}

plain=$(over_tcp ring)
[ ${#plain} -eq 16 ] || fail "no weights: '$plain'"
[ "$(over_tcp ring-secret --secret secret)" = "$plain" ] || fail "ring: other bits with a secret"
[ "$(GRADNIC_SECRET_FILE=secret over_tcp ring-environment)" = "$plain" ] ||
    fail "ring: other bits with a secret of the environment"
[ "$(over_tcp aggregator --algorithm worker-aggregator --secret secret)" = "$plain" ] || fail "aggregator: other bits"

switch_start root 7100 --secret secret
switch_start leaf0 7101 --secret secret --parent "$host:7100"
switch_start leaf1 7102 --secret secret --parent "$host:7100"
[ "$(weights tree --algorithm switch --secret secret)" = "$plain" ] || fail "switch: other bits"
for name in root leaf0 leaf1; do
    [ "$("$GRADNIC" switch stats -c "$PWD/$name.sock" --json | jq '.total.udp | .datagrams > 0 and .forged == 0')" \
        = true ] ||
        fail "$name: $("$GRADNIC" switch stats -c "$PWD/$name.sock")"
done

grep "parent $host:7100, with a shared secret" leaf0.log >/dev/null || fail "$(cat leaf0.log)"
"$GRADNIC" switch status -c "$PWD/root.sock" | grep "with a shared secret" >/dev/null ||
    fail "status: no word of the secret"

# Strangers at the switch, and at rank 0. Both sides say which option.
try=(bench allreduce -N 1 --algorithm switch --switch "$host:7100" --timeout 3s -b 4K -e 4K -n 1)
expect 1 "the switch $host:7100 has a shared secret, and 127.0.0.1:" "$GRADNIC" "${try[@]}"
expect 1 "give all the same --secret FILE (GRADNIC_SECRET_FILE), or none" "$GRADNIC" "${try[@]}"
expect 1 "switch $host:7100: it does not have the shared secret of this rank" "$GRADNIC" "${try[@]}" --secret other
grep "was refused: the switch $host:7100 has a shared secret, and it has shown none" root.log >/dev/null ||
    fail "$(cat root.log)"
grep "was refused: it does not have the shared secret of the switch $host:7100" root.log >/dev/null ||
    fail "$(cat root.log)"
switch_start open 7109
try[7]=$host:7109
expect 1 "switch $host:7109: it has not shown the shared secret (--secret), and says: 127.0.0.1:" \
    "$GRADNIC" "${try[@]}" --secret secret
grep "was refused: it has a shared secret, and the switch $host:7109 has none" open.log >/dev/null ||
    fail "$(cat open.log)"

pair=(bench allreduce --world-size 2 --rendezvous "file://$PWD/pair" --timeout 2s -b 4K -e 4K -n 1)
"$GRADNIC" "${pair[@]}" --rank 1 --secret other 2>one.err && fail "rank 1 has another secret, and goes on" &
pids+=($!)
expect 1 "rank 1 did not come within 2000 ms; sent away was" "$GRADNIC" "${pair[@]}" --rank 0 --secret secret
wait "${pids[-1]}" || true
grep "does not have the shared secret of rank 1: all need the same file (--secret, GRADNIC_SECRET_FILE)" one.err \
    >/dev/null || fail "$(cat one.err)"

# Files that are no secret.
for command in "bench allreduce -N 2" "train --data $SOURCE/tests/data -N 2" "switch -c none -l $host:7110"; do
    # shellcheck disable=SC2086
    {
        chmod 644 secret
        expect 2 "secret file secret: others can read or write it (mode 0644): chmod 600 secret" \
            "$GRADNIC" $command --secret secret
        chmod 600 secret
        echo "too short" >short && chmod 600 short
        expect 2 "secret file short: has 9 bytes, and at least 16 random ones are needed" \
            "$GRADNIC" $command --secret short
        expect 2 "is GRADNIC_SECRET_FILE empty? Unset it to go without" env GRADNIC_SECRET_FILE= "$GRADNIC" $command
    }
done
