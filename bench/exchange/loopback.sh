#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Allreduce on one host without NICs, in turns within one run: gradnic's ring and direct, compressed
# and not, over TCP and shared memory, beside Gloo's ring and Open MPI (TCP, shared memory). Small
# vectors show the latency.
#
#   bench/exchange/loopback.sh [BUILD] [OUT.json]
#       ROUNDS=5 RANKS=4 ITERATIONS=5
#       SIZES="25000000 100000000"      bytes of the vectors
#       SMALL="8 1024 16384"            bytes of the small ones, with 1000 iterations
#       BUSY=0                          programs that compute all the time beside it, such as those
#                                       that load data; with any, small ones have 50 iterations
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${1:-$root/build/release}
out=${2:--}
rounds=${ROUNDS:-5} ranks=${RANKS:-4} iterations=${ITERATIONS:-5}
read -ra sizes <<<"${SIZES:-25000000 100000000}"
read -ra small <<<"${SMALL:-8 1024 16384}"
busy=${BUSY:-0}
scratch=$(mktemp -d)
loops=()
trap 'kill ${loops[@]+"${loops[@]}"} 2>/dev/null || true; rm -rf "$scratch"' EXIT
for ((i = 0; i < busy; i++)); do
    while :; do :; done &
    loops+=($!)
done
many=$((busy ? 50 : 1000))

gradients=$root/tests/data/gradients/cnn-it100-w%r.npy.gz
run_gradnic() { # SIZE ITERATIONS ARGS...
    local size=$1 n=$2
    shift 2
    "$build/tools/gradnic" bench allreduce -N "$ranks" -b "$size" -e "$size" -n "$n" -w "$((n / 10 + 2))" --json "$@" |
        jq -c '.results[0] | {time_us, wrong}'
}
run_gloo() {
    rm -rf "$scratch/gloo" && mkdir "$scratch/gloo"
    "$build/bench/exchange/peer_gloo" "$1" "$2" "$(($2 / 10 + 2))" "$ranks" "$scratch/gloo"
}
run_openmpi() { # SIZE ITERATIONS TRANSPORT...
    local size=$1 n=$2
    shift 2
    mpirun --allow-run-as-root --oversubscribe --mca btl "$1,self" "${@:2}" --mca pml ob1 -n "$ranks" \
        "$build/bench/exchange/peer_mpi" "$size" "$n" "$((n / 10 + 2))"
}

# NAME|PROGRAM|ARGS
plain="--no-shared-memory" dense="-p dense --offload library --input $gradients"
large=("ring-tcp|gradnic|$plain" "direct-tcp|gradnic|--algorithm direct $plain"
    "ring-memory|gradnic|" "direct-memory|gradnic|--algorithm direct"
    "ring-tcp-dense|gradnic|$plain $dense" "direct-tcp-dense|gradnic|--algorithm direct $plain $dense"
    "ring-memory-dense|gradnic|$dense" "direct-memory-dense|gradnic|--algorithm direct $dense")
latency=("direct-tcp|gradnic|--algorithm direct $plain" "direct-memory|gradnic|--algorithm direct"
    "ring-tcp|gradnic|$plain" "ring-memory|gradnic|")
if [ -x "$build/bench/exchange/peer_gloo" ]; then large+=("gloo|gloo|") latency+=("gloo|gloo|")
else echo "loopback: no Gloo here: not compared with it" >&2; fi
if [ -x "$build/bench/exchange/peer_mpi" ] && command -v mpirun >/dev/null; then
    mpi=("openmpi-tcp|openmpi|tcp --mca btl_tcp_if_include lo" "openmpi-memory|openmpi|vader")
    large+=("${mpi[@]}") latency+=("${mpi[@]}")
else echo "loopback: no Open MPI here: not compared with it" >&2; fi

run_all() { # SIZE ITERATIONS ROUND CASES...
    local size=$1 n=$2 round=$3 entry name program arguments result
    shift 3
    for entry in "$@"; do
        IFS='|' read -r name program arguments <<<"$entry"
        # shellcheck disable=SC2086 # the arguments are words
        result=$("run_$program" "$size" "$n" $arguments)
        jq -c --arg name "$name" --argjson size "$size" --argjson round "$round" \
            '. + {name: $name, size: $size, round: $round}' <<<"$result" >>"$scratch/rows"
    done
}
for ((round = 0; round < rounds; round++)); do
    for size in ${sizes[@]+"${sizes[@]}"}; do run_all "$size" "$iterations" "$round" "${large[@]}"; done
    for size in ${small[@]+"${small[@]}"}; do run_all "$size" "$many" "$round" "${latency[@]}"; done
done

# A ratio of two times is the median of the rounds' own: both were measured within a minute.
jq -s --argjson ranks "$ranks" --argjson busy "$busy" --arg date "$(date -u +%FT%TZ)" --arg kernel "$(uname -r)" \
    --argjson cores "$(nproc)" '
    def median: sort | if length == 0 then null elif length % 2 == 1 then .[length / 2 | floor]
        else (.[length / 2 - 1] + .[length / 2]) / 2 end;
    def faster($rows; $than): . as $own
        | [$rows[] | select(.name == $than) as $x | $own[] | select(.round == $x.round)
         | $x.time_us / .time_us] | median;
    {date: $date, kernel: $kernel, cores: $cores, ranks: $ranks, busy: $busy,
     results: [group_by(.size)[] | . as $rows | group_by(.name)[] |
         {size: .[0].size, name: .[0].name, time_ms: ((map(.time_us) | median) / 1000), runs_ms: map(.time_us / 1000),
          wrong: (map(.wrong) | add), faster_than_ring: faster($rows; "ring-tcp"),
          faster_than_gloo: faster($rows; "gloo"),
          faster_than_openmpi_tcp: faster($rows; "openmpi-tcp"),
          faster_than_openmpi_memory: faster($rows; "openmpi-memory")}]}' \
    "$scratch/rows" >"$scratch/result.json"
jq -r 'def digits: if . == null then "-" else . * 100 | round / 100 end;
    ["bytes", "case", "ms", "x ring-tcp", "x gloo", "x openmpi-tcp", "x openmpi-memory", "wrong"], (.results[] |
    [.size, .name, (.time_ms * 1000 | round / 1000), (.faster_than_ring | digits), (.faster_than_gloo | digits),
     (.faster_than_openmpi_tcp | digits), (.faster_than_openmpi_memory | digits), .wrong]) | @tsv' \
    "$scratch/result.json" | column -t -s "$(printf '\t')" >&2
jq -e 'all(.results[]; .wrong == 0)' "$scratch/result.json" >/dev/null ||
    { echo "loopback: sums were wrong" >&2; exit 1; }
if [ "$out" = - ]; then cat "$scratch/result.json"; else mv "$scratch/result.json" "$out"; fi
