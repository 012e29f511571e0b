#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A bench in cocotb. Usage: run.sh MODEL BUILD-FOLDER ARGUMENTS-OF-run.py...
set -euo pipefail
[ $# -ge 3 ] || { echo "usage: run.sh MODEL BUILD-FOLDER BENCH [WIDTH] [--quick]" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
tools=$here/../../../build/rtl/tools/bin
if ! "$tools/python" -c 'import cocotb, cocotbext.axi, scapy' 2>/dev/null; then
    echo "cocotb: not in build/rtl/tools; scripts/setup --cocotb installs it: SKIPPED"
    exit 77
fi
GRADNIC_MODEL=$(realpath "$1")
export GRADNIC_MODEL PATH=$tools:$PATH
mkdir -p "$2"
log=$2/$3${4:+-$4}${5+-quick}.log
# what cocotb says of each step is of interest when one fails
if ! "$tools/python" "$here/run.py" --build "$2" "${@:3}" >"$log" 2>&1; then
    tail -n 80 "$log"
    exit 1
fi
grep -E 'PASS|TESTS=' "$log"
