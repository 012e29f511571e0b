#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A worker is killed, or falls silent (argument STOP). All others end in time and name it, also
# those that are not its neighbours.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/testbed
source "$here/../../scripts/testbed"
# shellcheck source=tests/net/ranks.sh
source "$here/ranks.sh"
# shellcheck source=tests/net/possible.sh
source "$here/possible.sh"
need_namespaces

# Waits until so many megabytes have crossed the links. Some 80 are sent to measure them before the
# exchange begins.
sent() {
    for ((i = 0; i < 600; i++)); do
        [ $(($(testbed_link_bytes) - before)) -lt $(($1 * 1000000)) ] || return 0
        kill -0 "${ranks_pid[@]}" 2>/dev/null || break
        sleep 0.05
    done
    echo "FAIL: the exchange did not begin ($run):" >&2
    cat "$testbed_dir"/rank*.err >&2
    exit 1
}

testbed_up 5 --rate 100mbit --nic "-p lattice -k 10" || exit 1
# Of 64 MiB, most is still to be sent when the worker ends. 8 MiB fit into the buffers on the way.
# Then some ranks have all that they need, and wait in the next barrier, in another communicator.
# Others still wait for the rest.
for signal in "${@:-KILL}"; do
    for run in ring:64M:120 worker-aggregator:64M:120 ring:8M:200 worker-aggregator:8M:200; do
        IFS=: read -r algorithm size moment <<<"$run"
        before=$(testbed_link_bytes)
        ranks_start -b "$size" -e "$size" -n 1000 -w 0 -c 0 --timeout 4s --algorithm "$algorithm"
        sent "$moment"
        kill -s "$signal" "${ranks_pid[2]}"
        started=$(date +%s%N)
        for rank in 0 1 3 4; do
            if wait "${ranks_pid[$rank]}"; then echo "FAIL: rank $rank did not notice" >&2; exit 1; fi
            grep -q "rank 2 (10.77.0.3) lost" "$testbed_dir/rank$rank.err" || { echo "FAIL: rank $rank does not name rank 2 ($run):" >&2; cat "$testbed_dir/rank$rank.err" >&2; exit 1; }
        done
        took=$((($(date +%s%N) - started) / 1000000))
        [ "$took" -lt 8000 ] || { echo "FAIL: $algorithm, $size, $signal: the others took $took ms" >&2; exit 1; }
        kill -s KILL "${ranks_pid[2]}" 2>/dev/null || true
        wait "${ranks_pid[2]}" 2>/dev/null || true
    done
done
