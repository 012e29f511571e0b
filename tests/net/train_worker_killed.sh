#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A worker of a training is killed, or falls silent (argument STOP). All others end within their
# deadline and name it. They run on hosts of their own, and as local ranks.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/testbed
source "$here/../../scripts/testbed"
# shellcheck source=tests/net/ranks.sh
source "$here/ranks.sh"
# shellcheck source=tests/net/possible.sh
source "$here/possible.sh"
need_namespaces
fail() { echo "FAIL: $*" >&2; exit 1; }
data=${GN_TEST_DATA:-$here/../data}
training=(--data "$data" --augment 24 --steps 100000 --evaluate-steps 5 -p lattice -k 10 --timeout 4s)

# Waits until the training has begun.
begun() {
    for ((i = 0; i < 400; i++)); do
        ! grep -Eq '^ +1 +5 ' "$1" || return 0
        sleep 0.05
    done
    fail "it did not begin: $(cat "$1")"
}

testbed_up 4 --rate 500mbit --nic "-p lattice -k 10" || exit 1
ranks_command=(train)
for signal in "${@:-KILL}"; do
    ranks_start "${training[@]}"
    begun "$testbed_dir/rank0.out"
    kill -s "$signal" "${ranks_pid[2]}"
    started=$(date +%s%N)
    for rank in 0 1 3; do
        if wait "${ranks_pid[$rank]}"; then fail "rank $rank did not notice"; fi
        grep -q "^gradnic train: rank $rank: .*rank 2 (10.77.0.3) lost" "$testbed_dir/rank$rank.err" || fail "rank $rank does not name rank 2: $(cat "$testbed_dir/rank$rank.err")"
    done
    took=$((($(date +%s%N) - started) / 1000000))
    [ "$took" -lt 8000 ] || fail "$signal: the others took $took ms"
    kill -s KILL "${ranks_pid[2]}" 2>/dev/null || true
    wait "${ranks_pid[2]}" 2>/dev/null || true
done

"$testbed_gradnic" train "${training[@]}" -N 4 >"$testbed_dir/local.out" 2>"$testbed_dir/local.err" &
launcher=$!
begun "$testbed_dir/local.out"
mapfile -t ranks < <(pgrep -P "$launcher" | sort -n)
[ "${#ranks[@]}" -eq 4 ] || fail "${#ranks[@]} local ranks"
kill -KILL "${ranks[2]}"
status=0
wait "$launcher" || status=$?
[ "$status" -eq 1 ] || fail "local ranks: exit status $status"
grep -q 'rank 2 was killed by signal 9' "$testbed_dir/local.err" || fail "the launcher does not name rank 2: $(cat "$testbed_dir/local.err")"
for rank in 0 1 3; do
    grep -q "^gradnic train: rank $rank: .*rank 2 " "$testbed_dir/local.err" || fail "local rank $rank does not name rank 2: $(cat "$testbed_dir/local.err")"
done
