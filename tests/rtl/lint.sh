#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Lint of the hardware, without a single waiver. Verilator -Wall looks at each engine and the NIC
# with every choice of profiles, by its own file list, and at each module alone. Yosys reads the
# engines and each block of the path of frames as Verilog-2001, and finds nothing undriven, doubly
# driven, looping or latched. Icarus reads all of it as SystemVerilog, as many a team's tools do.
set -euo pipefail
cd "$(dirname "$0")/../../rtl"
command -v yosys >/dev/null || { echo "lint: yosys is not installed (scripts/setup --check)" >&2; exit 1; }

shell=../tests/rtl/cocotb/generic_reset.v  # a module of OpenNIC's that the plugin uses
dir=$(mktemp -d)
yosys=
trap '[ -z "$yosys" ] || kill "$yosys" 2>/dev/null || true; rm -rf "$dir"' EXIT

# One module with all of them in it, so that what several have in common is elaborated once.
{
    echo "module everything;"
    for file in lib/*.v codec/gn_stream_*.v frame/*.v nic/*.v switch/*.v wrap/*.v corundum/*.v opennic/*.v; do
        module=${file##*/} module=${module%.v}
        echo "    $module i_$module ();"
    done
    echo "endmodule"
} >"$dir/everything.v"
yosys -p "read_verilog -Icodec -Inic -Iswitch -defer lib/*.v codec/*.v frame/*.v nic/*.v switch/*.v wrap/*.v corundum/*.v opennic/*.v $shell $dir/everything.v; hierarchy -check -top everything; proc; check -assert" \
    >"$dir/yosys.log" 2>&1 &
yosys=$!

iverilog -g2012 -t null -Icodec -Inic -Iswitch -s gn_keep_count lib/*.v codec/*.v frame/*.v nic/*.v switch/*.v wrap/*.v corundum/*.v opennic/*.v

# By its list, with all profiles, the top of a list is linted as it would be alone.
tops=(gn_stream_compress gn_stream_decompress gn_nic_top gn_nic_tx gn_nic_rx gn_nic_port gn_nic_lanes gn_corundum_app gn_opennic_box gn_aggregator)
{
    for top in "${tops[@]}"; do
        echo "--top-module $top -f $top.f"
    done
    for top in gn_stream_compress gn_stream_decompress; do
        echo "--top-module $top -f codec.f"
    done
    for top in gn_stream_compress gn_stream_decompress; do
        for profiles in 1 2 3 4 5 6; do
            echo "-GPROFILES=$profiles --top-module $top -f $top.f"
        done
    done
    for profiles in 1 4; do # which reach nothing but the engines
        echo "-GPROFILES=$profiles --top-module gn_nic_top -f gn_nic_top.f"
    done
    for lanes in 1 4; do
        echo "-GLANES=$lanes --top-module gn_nic_lanes -f gn_nic_lanes.f"
    done
    for setting in "64 -GIF_COUNT=2" 128 512; do
        echo "-GAXIS_IF_DATA_WIDTH=$setting --top-module gn_corundum_app -f gn_corundum_app.f"
    done
    echo "--top-module gn_opennic_plugin -f gn_opennic_plugin.f $shell"
    for file in lib/*.v codec/*.v frame/*.v nic/*.v switch/*.v wrap/*.v; do
        module=${file##*/}
        [[ " ${tops[*]} " == *" ${module%.v} "* ]] || echo "-Ilib -Icodec -Iframe -Inic -Iswitch -Iwrap $file"
    done
} | xargs -P 2 -L 1 verilator --lint-only -Wall --language 1364-2001

status=0
wait "$yosys" || status=$?
yosys=
[ "$status" = 0 ] || { tail -n 20 "$dir/yosys.log"; exit 1; }
if grep -E 'Warning|Latch inferred' "$dir/yosys.log"; then
    echo "lint: yosys warns" >&2
    exit 1
fi
echo "lint: clean"
