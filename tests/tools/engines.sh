#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Wrong usage of --engine: an unknown name, an engine that the build lacks, a cut that hardware
# cannot make.
# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"

nic=(nic -a 10.0.0.1/24 -P 10.0.0.2=192.0.2.2)
expect 2 "--engine warp: this build has model" "$GRADNIC" "${nic[@]}" --engine warp
expect 2 "--engine warp: this build has model" "$GRADNIC" demo --engine warp
"$GRADNIC" nic --help | tr -s ' \n' ' ' >help
if grep -q 'This build has: model, rtl, lockstep' help; then
    for engine in rtl lockstep; do
        expect 2 "--cut fill: engine $engine needs packets that are cut to the MTU: --cut mtu" "$GRADNIC" "${nic[@]}" --cut fill --engine "$engine"
        expect 2 "--in-process has no NICs" "$GRADNIC" demo --in-process --engine "$engine"
    done
else
    grep -q 'This build has: model ' help || fail "the help does not say which engines there are"
    for engine in rtl lockstep; do
        expect 2 "this build has no $engine: install Verilator" "$GRADNIC" "${nic[@]}" --engine "$engine"
        expect 2 "this build has no $engine: install Verilator" "$GRADNIC" demo --engine "$engine"
    done
fi
