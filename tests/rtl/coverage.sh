#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What the benches reach of the hardware. It builds them with Verilator's coverage in
# build/coverage, runs them all, and prints for each module of rtl/ how many of its lines were
# reached, and which were not. With `toggle` it prints how many bits of its ports, wires and
# registers changed, and which did not: each module in its own bench alone, because a counter for
# each bit below a bench's top would be more C++ than can be compiled. Fails below 95 % of all
# lines, 90 % of all bits, or what LEAST says.
#
#   tests/rtl/coverage.sh            lines
#   tests/rtl/coverage.sh toggle     bits that changed
set -euo pipefail
cd "$(dirname "$0")/../.."

kind=${1:-line}
case $kind in
line | toggle) ;;
*) echo "usage: coverage.sh [line|toggle]" >&2; exit 2 ;;
esac
least=${LEAST:-$([ "$kind" = line ] && echo 95 || echo 90)}
build=build/coverage
[ "$kind" = line ] || build=build/coverage-toggle
jobs=$(nproc)

mkdir -p "$build"
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DGRADNIC_RTL=ON -DGRADNIC_RTL_LONG=ON -DGRADNIC_BENCH=OFF -DGRADNIC_RTL_COVERAGE="$kind" >"$build/configure.log" 2>&1 ||
    { tail -n 20 "$build/configure.log"; exit 1; }
mapfile -t benches < <(ls "$build/tests/rtl/benches")
cmake --build "$build" -j "$jobs" --target "${benches[@]/#/rtl_}" >"$build/build.log" 2>&1 || { tail -n 40 "$build/build.log"; exit 1; }

rm -rf "$build/counts"
mkdir "$build/counts"
printf '%s\n' "${benches[@]}" | xargs -P "$jobs" -I{} sh -c \
    "timeout 3600 $build/tests/rtl/rtl_{} --coverage $build/counts/{} >$build/counts/{}.log 2>&1 || { echo 'coverage.sh: bench {} fails' >&2; exit 255; }"

rm -f "$build"/counts/*.log
if [ "$kind" = toggle ]; then
    awk -v least="$least" -v root="$PWD/rtl/" -v modules="$(cd rtl && echo */*.v)" -f tests/rtl/toggle.awk "$build"/counts/*
    exit
fi
verilator_coverage --write-info "$build/all.info" "$build"/counts/*
awk -v least="$least" -v root="$PWD/rtl/" '
    /^SF:/ { file = substr($0, 4); mine = index(file, root) == 1; file = substr(file, length(root) + 1) }
    mine && /^DA:/ {
        split(substr($0, 4), part, ",")
        if (!(file in all)) names[++files] = file
        all[file]++; total++
        if (part[2] > 0) { hit[file]++; reached++ } else missed[file] = missed[file] " " part[1]
    }
    END {
        printf "%-32s %7s %8s %8s  %s\n", "module", "lines", "reached", "%", "not reached"
        for (i = 1; i <= files; i++)
            printf "%-32s %7d %8d %8.1f %s\n", names[i], all[names[i]], hit[names[i]], 100 * hit[names[i]] / all[names[i]], missed[names[i]]
        if (!total) { print "coverage.sh: nothing was counted"; exit 1 }
        printf "%-32s %7d %8d %8.1f\n", "all", total, reached, 100 * reached / total
        if (100 * reached < least * total) { printf "coverage.sh: less than %s %%\n", least; exit 1 }
    }' "$build/all.info"
