#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# port.v in Icarus, for each width that the NIC's streams may have, and for several lanes.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
rtl=$(cd "$here/../../../rtl" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$rtl"
for design in "64 1" "128 1" "256 1" "512 1" "512 2" "512 4"; do
    read -r width lanes <<<"$design"
    iverilog -g2001 -o "$work/port" -s port -Pport.DATA_WIDTH="$width" -Pport.LANES="$lanes" -c gn_nic_lanes.f "$here/port.v"
    said=$(vvp -n "$work/port" | tail -n 1)
    echo "$width bits, $lanes lanes: $said"
    [ "$said" = PASS ] || exit 1
done
