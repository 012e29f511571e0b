#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The NIC within Corundum, in the designs of all its boards and in Corundum's own bench: minutes.
# GRADNIC_CORUNDUM names a checkout of Corundum, which is only read. PYTHON has cocotb
# (scripts/setup --cocotb). Usage: corundum.sh MODEL
set -euo pipefail
[ $# = 1 ] || { echo "usage: corundum.sh MODEL (librtl_frame_model.so)" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
checkout=${GRADNIC_CORUNDUM:-}
[ -n "$checkout" ] || { echo "corundum: GRADNIC_CORUNDUM names no checkout of Corundum: SKIPPED" >&2; exit 77; }
[ -d "$checkout/fpga/app/template" ] || { echo "corundum: $checkout has no fpga/app/template" >&2; exit 1; }
tools=${PYTHON:-$root/build/rtl/tools}/bin
[ -x "$tools/python" ] || { echo "corundum: no cocotb in $tools: scripts/setup --cocotb" >&2; exit 1; }
tools=$(cd "$tools" && pwd)
GRADNIC_MODEL=$(realpath "$1")
export GRADNIC_MODEL

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/fpga"
cp -a "$checkout/fpga/app" "$checkout/fpga/common" "$checkout/fpga/lib" "$checkout/fpga/mqnic" "$scratch/fpga/"
echo "corundum: puts the NIC into all boards of a copy of $checkout"
python3 "$here/boards.py" "$scratch"

bench=$scratch/fpga/app/gradnic/tb/mqnic_core_pcie_us
cp "$here/test_gradnic_corundum.py" "$root/tests/rtl/cocotb/model.py" "$bench/"
cd "$bench"
# A 10G interface: 64 bits at the MAC, 256 bits where the NIC is. The log is kept, and what this
# bench itself says of its progress is shown.
log=$root/build/rtl/corundum.log
mkdir -p "$(dirname "$log")"
failed=
echo "corundum: Corundum's bench; all of its log is in $log"
PATH=$tools:$PATH PYTHONUNBUFFERED=1 make SIM=icarus MODULE=test_gradnic_corundum \
    PARAM_AXIS_ETH_DATA_WIDTH=64 PARAM_AXIS_ETH_SYNC_DATA_WIDTH=256 2>&1 |
    tee "$log" | { grep --line-buffered -E 'gradnic: |TESTS=' || true; } || failed=yes
grep -q 'gradient packets' "$log" || failed=yes
grep -q 'FAIL=0' "$log" || failed=yes
[ -z "$failed" ] || { grep -E -A 20 'Traceback|rror:' "$log" | head -n 60; echo "corundum: failed, see $log" >&2; exit 1; }
