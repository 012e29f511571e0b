#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# How fast is MPI_Allreduce with the preload, beside MPI's own? 4 ranks that share memory, under
# Open MPI and MPICH, in turns within one process. It writes a result and prints a table. It is also
# `bench/measure mpi`.
#
#   bench/mpi.sh [RESULT.json [SECONDS [BUILD]]]     build/mpi.json, 8 s a size, build/release
#
# It compiles its program with mpicc. On a busy machine, ranks that spin measure the scheduler.
set -euo pipefail
cd "$(dirname "$0")/.."
case "${1:-}" in -h | --help) sed -n '3,8s/^# \{0,1\}//p' "$0"; exit ;; esac
result=${1:-build/mpi.json}
seconds=${2:-8}
build=$(realpath "${3:-build/release}")
work=$(mktemp -d "${TMPDIR:-/tmp}/gradnic-bench-mpi-XXXXXX")
trap 'rm -rf "$work"' EXIT
while IFS= read -r variable; do unset "$variable"; done < <(compgen -e GRADNIC_ || true)
load=$(cut -d' ' -f1 /proc/loadavg)

for mpi in openmpi mpich; do
    preload=$build/mpi/libgradnic-mpi-$mpi.so
    if [ ! -e "$preload" ] || ! command -v "mpicc.$mpi" >/dev/null; then
        echo "mpi.sh: $mpi was not found, and is NOT MEASURED (scripts/setup --check)" >&2
        continue
    fi
    "mpicc.$mpi" -O2 -Wall -o "$work/turns" bench/exchange/turns.c -lm
    start=(mpiexec.hydra)
    if [ "$mpi" = openmpi ]; then
        start=(mpirun.openmpi --oversubscribe)
        [ "$(id -u)" -ne 0 ] || start+=(--allow-run-as-root)
    fi
    echo "$mpi ..." >&2
    timeout -k 10 3000 "${start[@]}" -n 4 env "LD_PRELOAD=$preload" "$work/turns" "$seconds" |
        jq -c --arg mpi "$mpi" '{mpi: $mpi} + .' >>"$work/rows"
done
jq -s --arg date "$(date -u +%F)" --arg cpu "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)" \
    --argjson cores "$(nproc)" --arg kernel "$(uname -r)" --argjson load "$load" \
    '{benchmark: "mpi.sh", environment: {date: $date, cpu: $cpu, cores: $cores, kernel: $kernel, load: $load},
      results: [.[] | . + {faster: (.mpi_us / .preload_us)}]}' "$work/rows" >"$work/result"
jq -r '["MPI", "bytes", "MPI us", "preload us", "times as fast", "turns", "wrong"],
    (.results[] | [.mpi, .size, .mpi_us, .preload_us, (.faster * 100 | round / 100), .turns, .wrong]) | @tsv' "$work/result" |
    column -t -s $'\t'
jq -e 'all(.results[]; .wrong == 0)' "$work/result" >/dev/null || { echo "mpi.sh: sums were wrong" >&2; exit 1; }
cp "$work/result" "$result.part" && mv "$result.part" "$result" && echo "written: $result"
