#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# How fast is MPI_Allreduce with the preload, beside MPI's own? 4 ranks that share memory, under
# Open MPI and MPICH, in turns within one process. Then, as root, MPICH's ranks on four hosts
# (namespaces) with links of 1 Gbit/s, and the preload compresses real gradients at 2^-10. It writes
# a result and prints a table. It is also `bench/measure mpi`.
#
#   bench/mpi.sh [RESULT.json [SECONDS [BUILD]]]     build/mpi.json, 8 s a size, build/release
#       IMB_OPENMPI, IMB_MPICH=IMB-MPI1     Intel's MPI Benchmarks, built with it: they run, too
#       OSU_OPENMPI, OSU_MPICH=osu_allreduce     the same of OSU's
#       ROUNDS=3                            runs of these with the preload and without, in turns
#
# It compiles its program with mpicc. On a busy machine, ranks that spin measure the scheduler.
set -euo pipefail
cd "$(dirname "$0")/.."
case "${1:-}" in -h | --help) sed -n '3,14s/^# \{0,1\}//p' "$0"; exit ;; esac
result=${1:-build/mpi.json}
seconds=${2:-8}
build=$(realpath "${3:-build/release}")
work=$(mktemp -d "${TMPDIR:-/tmp}/gradnic-bench-mpi-XXXXXX")
trap 'rm -rf "$work"' EXIT
while IFS= read -r variable; do unset "$variable"; done < <(compgen -e GRADNIC_ || true)
load=$(cut -d' ' -f1 /proc/loadavg)

launch() { # MPI COMMAND...: four ranks
    local mpi=$1 start=(mpiexec.hydra)
    shift
    if [ "$mpi" = openmpi ]; then
        start=(mpirun.openmpi --oversubscribe)
        [ "$(id -u)" -ne 0 ] || start+=(--allow-run-as-root)
    fi
    timeout -k 10 3000 "${start[@]}" -n 4 "$@"
}

# strangers MPI PRELOAD: benchmarks of others as they are. They print "bytes ... microseconds", the
# mean of all ranks in the column named here. One row for each program and size.
strangers() {
    local mpi=$1 preload=$2 round which program name column more loaded
    for name in IMB OSU; do
        program=${name}_${mpi^^}
        program=${!program:-}
        [ -n "$program" ] || continue
        echo "$mpi, $name ..." >&2
        column=5 more=(-npmin 4 -time 0.5 -mem 2 -msglog 3:26 Allreduce)
        [ "$name" = IMB ] || { column=2 more=(-m 8:67108864 -M 134217728 -f -i 50); }
        for ((round = 0; round < ${ROUNDS:-3}; round++)); do
            for which in mpi preload; do
                loaded=(LD_PRELOAD="$preload")
                [ $which = preload ] || loaded=()
                launch "$mpi" env "${loaded[@]}" "$program" "${more[@]}" |
                    awk -v c="$column" -v w="$which" '$1 ~ /^[0-9]+$/ && $1 > 0 && NF >= c { print w, $1, $c }'
            done
        done | jq -Rn -c --arg mpi "$mpi" --arg program "$name" '
            def median: sort | (.[(length - 1) / 2 | floor] + .[length / 2 | floor]) / 2;
            [inputs | split(" ") | {which: .[0], size: (.[1] | tonumber), us: (.[2] | tonumber)}] | group_by(.size)[] |
            {mpi: $mpi, program: $program, size: .[0].size, ranks: 4, turns: (length / 2),
             preload_us: (map(select(.which == "preload").us) | median), mpi_us: (map(select(.which == "mpi").us) | median),
             wrong: 0}' >>"$work/rows"
    done
}

for mpi in openmpi mpich; do
    preload=$build/mpi/libgradnic-mpi-$mpi.so
    if [ ! -e "$preload" ] || ! command -v "mpicc.$mpi" >/dev/null; then
        echo "mpi.sh: $mpi was not found, and is NOT MEASURED (scripts/setup --check)" >&2
        continue
    fi
    "mpicc.$mpi" -O2 -Wall -o "$work/turns" bench/exchange/turns.c -lm
    echo "$mpi ..." >&2
    launch "$mpi" env "LD_PRELOAD=$preload" "$work/turns" "$seconds" |
        jq -c --arg mpi "$mpi" '{mpi: $mpi} + .' >>"$work/rows"
    strangers "$mpi" "$preload"
done

# Four hosts. $work/turns is MPICH's now.
# shellcheck source=scripts/testbed
GRADNIC=$build/tools/gradnic source scripts/testbed
if [ -e "$build/mpi/libgradnic-mpi-mpich.so" ] && command -v mpicc.mpich >/dev/null && testbed_possible >&2; then
    trap 'testbed_down; rm -rf "$work"' EXIT
    testbed_up 4 --no-nic --rate 1gbit
    first=$(testbed_address 1) command=()
    for rank in 0 1 2 3; do
        zcat "tests/data/gradients/cnn-it100-w$rank.npy.gz" |
            python3 -c 'import sys; d = sys.stdin.buffer.read(); sys.stdout.buffer.write(d[10 + d[8] + 256 * d[9]:])' >"$work/values$rank"
        # shellcheck disable=SC2191 # a word is a variable's
        command+=(${command:+:} -n 1 ip netns exec "$(testbed_netns $((rank + 1)))" env
            LD_PRELOAD="$build/mpi/libgradnic-mpi-mpich.so" MPIR_CVAR_NOLOCAL=1 UCX_TLS="tcp,self" FI_PROVIDER=tcp GRADNIC_SHARED_MEMORY=no
            GRADNIC_INTERFACE="${first%.*}.0/24" GRADNIC_BOUND=2^-10 GRADNIC_ALGORITHM=direct
            "$work/turns" "$seconds" "$work/values%r" 0.005)
    done
    echo "mpich, four hosts, 1 Gbit/s ..." >&2
    timeout -k 10 3000 mpiexec.hydra "${command[@]}" |
        jq -c '{mpi: "mpich", link: "1gbit", bound_exp: 10} + .' >>"$work/rows"
else
    echo "mpi.sh: four hosts are NOT MEASURED: that needs root and MPICH" >&2
fi
jq -s --arg date "$(date -u +%F)" --arg cpu "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)" \
    --argjson cores "$(nproc)" --arg kernel "$(uname -r)" --argjson load "$load" \
    '{benchmark: "mpi.sh", environment: {date: $date, cpu: $cpu, cores: $cores, kernel: $kernel, load: $load},
      results: [.[] | . + {faster: (.mpi_us / .preload_us)}]}' "$work/rows" >"$work/result"
jq -r '["MPI", "bytes", "MPI us", "preload us", "times as fast", "turns", "wrong"],
    (.results[] | [.mpi + (if .link then ", " + .link else "" end) + (if .program then ", " + .program else "" end), .size, .mpi_us, .preload_us, (.faster * 100 | round / 100), .turns, .wrong]) | @tsv' "$work/result" |
    column -t -s $'\t'
jq -e 'all(.results[]; .wrong == 0)' "$work/result" >/dev/null || { echo "mpi.sh: sums were wrong" >&2; exit 1; }
cp "$work/result" "$result.part" && mv "$result.part" "$result" && echo "written: $result"
