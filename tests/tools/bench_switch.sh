#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `gradnic bench switch`: every wanted case is there, checked and plausible. bench/switch.sh is
# for the figures themselves.
# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"

"$GRADNIC" bench switch --memory 1M -r 1 --json=all.json "$DATA"/cnn-it30-w{0,1,2,3}.npy.gz >all.txt
# 4 formats, 2 sizes, 4 sizes of packets
[ "$(jq '.results | length' all.json)" -eq 32 ] || fail "$(jq '.results | length' all.json) results"
[ "$(grep -cE '^(int32|lattice|dense|half) ' all.txt)" -eq 32 ] || fail "the table has other lines"
jq -e 'all(.results[]; .add_values_per_second > 0 and .all_values_per_second > 0 and .plain_values_per_second > 0 and .add_share > 0 and .all_share > 0
    and .datagram_bytes > 32 and .result_bytes > 32 and .workers == 4)' all.json >/dev/null || fail "implausible results"
jq -e 'all(.results[] | select(.format == "int32"); .datagram_bytes == 32 + 4 * .packet_values and .result_bytes == .datagram_bytes)' all.json \
    >/dev/null || fail "sizes of int32"
jq -e 'all(.results[] | select(.format == "half"); .datagram_bytes == 32 + 2 * .packet_values and .result_bytes == .datagram_bytes)' all.json \
    >/dev/null || fail "sizes of half"
jq -e 'all(.results[] | select(.format == "lattice" or .format == "dense"); .datagram_bytes < 2 * .packet_values and .result_bytes > .datagram_bytes)' all.json >/dev/null ||
    fail "sizes of what is compressed"
# All kernels make the same results.
"$GRADNIC" bench switch --memory 1M -r 1 --kernel scalar --json "$DATA"/cnn-it30-w{0,1,2,3}.npy.gz >scalar.json
[ "$(jq -c '[.results[] | .result_bytes]' all.json)" = "$(jq -c '[.results[] | .result_bytes]' scalar.json)" ] || fail "kernels differ"
# Made values, other numbers of workers, packets that do not fill a whole round of slots.
"$GRADNIC" bench switch --memory 1M -r 1 --workers 3 --slots 8 --values 7,100 --layout cache -k 6 --formats int32,dense --json >made.json
jq -e '[.results[] | [.format, .packet_values]] == [["int32", 7], ["int32", 100], ["dense", 7], ["dense", 100]]' made.json >/dev/null || fail "cases"
jq -e '.environment.cores >= 1 and .k == 6 and .files == []' made.json >/dev/null || fail "no environment"

expect 2 "'huge' is none of: int32, lattice, dense, half, all" "$GRADNIC" bench switch --formats huge
expect 2 "a power of two" "$GRADNIC" bench switch --slots 12
expect 2 "2049" "$GRADNIC" bench switch --values 64,2049
expect 2 "kernel 'vax' is not in this build" "$GRADNIC" bench switch --kernel vax
expect 1 "no-such.npy" "$GRADNIC" bench switch no-such.npy
expect 1 "exists already" "$GRADNIC" bench switch --json=all.json
only all.json all.txt scalar.json made.json
