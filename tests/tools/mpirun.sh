#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Ranks that a real launcher starts, without any option or variable of ours. LAUNCHER is its
# command, or empty: then the test is skipped.
# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2153 # NAME is given by the test
[ -n "$LAUNCHER" ] || { echo "skipped: $NAME is not installed (scripts/setup --check)"; exit 77; }
unset RANK WORLD_SIZE MASTER_ADDR MASTER_PORT
mkdir -m 700 runtime
export XDG_RUNTIME_DIR=$work/runtime
start=("$LAUNCHER")
case $NAME in
"Open MPI")
    start+=(--oversubscribe)
    [ "$(id -u)" -ne 0 ] || start+=(--allow-run-as-root)
    ;;
esac
train=(train --data "$SOURCE/tests/data" --steps 3 --batch 5 --hidden 8 -p dense)

# The program, and a program of others that uses the library as its example does. It stands behind a
# shell, as wrappers do.
"${start[@]}" -n 4 "$GRADNIC" bench allreduce -b 4K -e 64K -n 3 >out 2>err || fail "$(cat out err)"
grep -F "note: rank 0 of 4 from $NAME (" err >/dev/null || fail "who has started it is not said: $(cat err)"
grep "^# .*: 4 ranks, ring" out >/dev/null || fail "not four ranks: $(cat out)"
grep " 65536 .* 0  *yes" out >/dev/null || fail "not the last size: $(cat out)"
"${start[@]}" -n 3 sh -c "\"$EXAMPLE\"" >out 2>err || fail "$(cat out err)"
[ "$(sort -u out | wc -l) of $(wc -l <out)" = "1 of 3" ] || fail "the ranks differ: $(cat out)"
"${start[@]}" -n 2 "$GRADNIC" "${train[@]}" >out 2>err || fail "$(cat out err)"
grep -F "note: rank 0 of 2 from $NAME (" err >/dev/null || fail "train does not say it: $(cat err)"

# Two jobs at once, each with a file of its own. Not one folder for both: Open MPI fails where two
# launchers make theirs in it at the same moment.
mkdir "$TMPDIR/one"
TMPDIR=$TMPDIR/one "${start[@]}" -n 2 "$GRADNIC" bench allreduce -b 4K -e 4K -n 50 >one 2>&1 &
other=$!
"${start[@]}" -n 2 "$GRADNIC" bench allreduce -b 4K -e 4K -n 50 >two 2>&1 || fail "$(cat two)"
wait "$other" || fail "$(cat one)"
[ -z "$(ls runtime)" ] || fail "left: $(ls runtime)"
