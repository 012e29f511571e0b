#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Allreduce over loopback without NICs: gradnic's ring and direct beside Gloo's ring and Open MPI
# over TCP, in turns within one run.
#
#   bench/exchange/loopback.sh [BUILD] [OUT.json]
#       ROUNDS=5 RANKS=4 SIZES="25000000 100000000" ITERATIONS=5
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${1:-$root/build/release}
out=${2:--}
rounds=${ROUNDS:-5} ranks=${RANKS:-4} iterations=${ITERATIONS:-5}
read -ra sizes <<<"${SIZES:-25000000 100000000}"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

run_gradnic() {
    "$build/tools/gradnic" bench allreduce -N "$ranks" -b "$1" -e "$1" -n "$iterations" -w 2 --json |
        jq -c '{time_us: .results[0].time_us, wrong: .results[0].wrong}'
}
run_gradnic_direct() {
    "$build/tools/gradnic" bench allreduce -N "$ranks" -b "$1" -e "$1" -n "$iterations" -w 2 --algorithm direct --json |
        jq -c '{time_us: .results[0].time_us, wrong: .results[0].wrong}'
}
# Real gradients, compressed by the ranks.
run_dense() { # SIZE ALGORITHM
    "$build/tools/gradnic" bench allreduce -N "$ranks" -b "$1" -e "$1" -n "$iterations" -w 2 -p dense --offload library \
        --algorithm "$2" --input "$root/tests/data/gradients/cnn-it100-w%r.npy.gz" --json |
        jq -c '{time_us: .results[0].time_us, wrong: .results[0].wrong}'
}
run_gradnic_dense() { run_dense "$1" ring; }
run_gradnic_direct_dense() { run_dense "$1" direct; }
run_gloo() {
    rm -rf "$scratch/gloo" && mkdir "$scratch/gloo"
    "$build/bench/exchange/peer_gloo" "$1" "$iterations" 2 "$ranks" "$scratch/gloo"
}
run_openmpi() {
    mpirun --allow-run-as-root --oversubscribe --mca btl tcp,self --mca btl_tcp_if_include lo --mca pml ob1 -n "$ranks" \
        "$build/bench/exchange/peer_mpi" "$1" "$iterations" 2
}

names=(gradnic gradnic_dense gradnic_direct gradnic_direct_dense)
if [ -x "$build/bench/exchange/peer_gloo" ]; then names+=(gloo); else echo "loopback: no Gloo here: not compared with it" >&2; fi
if [ -x "$build/bench/exchange/peer_mpi" ] && command -v mpirun >/dev/null; then names+=(openmpi); else echo "loopback: no Open MPI here: not compared with it" >&2; fi

for size in "${sizes[@]}"; do
    for ((round = 0; round < rounds; round++)); do
        for name in "${names[@]}"; do
            result=$("run_$name" "$size")
            jq -c --arg name "$name" --argjson size "$size" '. + {name: $name, size: $size}' <<<"$result" >>"$scratch/rows"
        done
    done
done

jq -s --argjson ranks "$ranks" --arg date "$(date -u +%FT%TZ)" --arg kernel "$(uname -r)" --argjson cores "$(nproc)" '
    def median: sort | if length % 2 == 1 then .[length / 2 | floor] else (.[length / 2 - 1] + .[length / 2]) / 2 end;
    {date: $date, kernel: $kernel, cores: $cores, ranks: $ranks,
     results: [group_by(.size)[] | (map(select(.name == "gradnic").time_us) | median) as $own | group_by(.name)[] |
         {size: .[0].size, name: .[0].name, time_ms: ((map(.time_us) | median) / 1000), runs_ms: map(.time_us / 1000),
          wrong: (map(.wrong) | add), relative: ((map(.time_us) | median) / $own)}]}' "$scratch/rows" >"$scratch/result.json"
jq -r '.results[] | "\(.size)\t\(.name)\t\(.time_ms * 10 | round / 10) ms\t\(.relative * 100 | round / 100)x gradnic\twrong \(.wrong)"' \
    "$scratch/result.json" | column -t -s "$(printf '\t')" >&2
if [ "$out" = - ]; then cat "$scratch/result.json"; else mv "$scratch/result.json" "$out"; fi
