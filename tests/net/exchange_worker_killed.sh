#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A worker is killed, then one falls silent: all others end in time and name it, also those that are not its neighbours.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/testbed
source "$here/../../scripts/testbed"
# shellcheck source=tests/net/ranks.sh
source "$here/ranks.sh"
testbed_possible || exit 77

testbed_up 5 --rate 100mbit --nic "-p lattice -k 10" || exit 1
# STOP, a worker that falls silent, runs with the long tests: see CMakeLists.txt.
for signal in "${@:-KILL}"; do
    for algorithm in ring worker-aggregator; do
        ranks_start -b 64M -e 64M -n 100 -w 0 -c 0 --timeout 4s --algorithm "$algorithm"
        sleep 1.5
        kill -s "$signal" "${ranks_pid[2]}"
        started=$(date +%s%N)
        for rank in 0 1 3 4; do
            if wait "${ranks_pid[$rank]}"; then echo "FAIL: rank $rank did not notice" >&2; exit 1; fi
            grep -q "rank 2 (10.77.0.3) lost" "$testbed_dir/rank$rank.err" || { echo "FAIL: rank $rank does not name rank 2:" >&2; cat "$testbed_dir/rank$rank.err" >&2; exit 1; }
        done
        took=$((($(date +%s%N) - started) / 1000000))
        [ "$took" -lt 8000 ] || { echo "FAIL: $algorithm, $signal: the others took $took ms" >&2; exit 1; }
        kill -s KILL "${ranks_pid[2]}" 2>/dev/null || true
        wait "${ranks_pid[2]}" 2>/dev/null || true
    done
done
