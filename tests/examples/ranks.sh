#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ranks.sh RANKS PROGRAM: starts PROGRAM once for each rank, with a rendezvous. All must succeed and
# say the same.
set -euo pipefail
ranks=$1 program=$2
work=$(mktemp -d "${TMPDIR:-/tmp}/gradnic-test-XXXXXX")
trap 'rm -rf "$work"' EXIT

for ((rank = 0; rank < ranks; rank++)); do
    RANK=$rank WORLD_SIZE=$ranks "$program" "file://$work/rendezvous" >"$work/$rank.out" &
    processes[rank]=$!
done
failed=0
for process in "${processes[@]}"; do wait "$process" || failed=1; done
for ((rank = 1; rank < ranks; rank++)); do
    cmp "$work/0.out" "$work/$rank.out" || failed=1
done
cat "$work/0.out"
exit $failed
