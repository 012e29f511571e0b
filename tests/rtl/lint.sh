#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Lint of the hardware, without a single waiver: Verilator -Wall on each engine and the NIC with every choice of profiles, by its own file
# list, and on each module alone; Yosys reads the engines and each block of the path of frames as Verilog-2001 and finds nothing
# undriven, doubly driven, looping or latched.
set -euo pipefail
cd "$(dirname "$0")/../../rtl"

for top in stream_compress stream_decompress nic_top; do
    for profiles in 1 2 3 4 5 6 7; do
        verilator --lint-only -Wall --language 1364-2001 -GPROFILES="$profiles" --top-module "$top" -f "$top.f"
    done
done
for top in nic_tx nic_rx; do
    verilator --lint-only -Wall --language 1364-2001 --top-module "$top" -f "$top.f"
done
for file in lib/*.v codec/*.v frame/*.v nic/*.v; do
    verilator --lint-only -Wall --language 1364-2001 -Ilib -Icodec -Iframe -Inic "$file"
done

command -v yosys >/dev/null || { echo "lint: yosys is not installed (scripts/setup)" >&2; exit 1; }
blocks=(frame/*.v nic/*.v)
blocks=("${blocks[@]##*/}")
for top in stream_compress stream_decompress "${blocks[@]%.v}"; do
    log=$(yosys -p "read_verilog lib/*.v codec/*.v frame/*.v nic/*.v; hierarchy -check -top $top; proc; check -assert" 2>&1) || { tail -n 20 <<<"$log"; exit 1; }
    if grep -E 'Warning|Latch inferred' <<<"$log"; then
        echo "lint: yosys warns about $top" >&2
        exit 1
    fi
done
echo "lint: clean"
