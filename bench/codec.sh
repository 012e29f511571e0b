#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The codec on one core: real gradients beside memcpy and other compressors, then made values, the
# worst cases. Prints tables, and what was claimed against what was measured.
#
#   bench/codec.sh RESULT.json [FILE...]
#   FILE...                       .npy, .f32, ... (default: tests/data/gradients)
#   MEMORY=252M                   size of what is larger than the caches
#   REPETITIONS=11                results are medians of so many
#   GRADNIC=path                  the program (default: build/release/tools/gradnic)
#
# The default of MEMORY is 21 times the dumps, so that ratios are those of the dumps.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
gradnic=${GRADNIC:-$root/build/release/tools/gradnic}
[ $# -ge 1 ] || { sed -n '3,12s/^# \{0,1\}//p' "$0" >&2; exit 2; }
[ -x "$gradnic" ] || { echo "codec.sh: $gradnic is missing; build it, or set GRADNIC" >&2; exit 1; }
result=$1 memory=${MEMORY:-252M} repetitions=${REPETITIONS:-11}
shift
files=("$@")
[ ${#files[@]} -gt 0 ] || files=("$root"/tests/data/gradients/*.npy.gz)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

echo "== real gradients, bound 2^-10: every kernel and other compressors (memory $memory; cache 256 KiB; packets of 1448 bytes)"
"$gradnic" bench codec --kernel all --against all --made none --memory "$memory" -r "$repetitions" --time 4s --json="$work/files.json" "${files[@]}"
echo
echo "== made values: every kernel"
"$gradnic" bench codec --kernel all --made all --memory "$memory" -r "$repetitions" --json="$work/made.json"

jq -n --slurpfile files "$work/files.json" --slurpfile made "$work/made.json" '
  def low(f): map(f) | min;
  # The worst of dense over lattice, both with AVX2: the AVX-512 kernel that encodes lattice is not
  # a measure of the format.
  def worst(rows; size; f): [rows | map(select(.kernel == "avx2" and .size == size)) | group_by(.data)[]
      | (map(select(.codec == "dense"))[0] | f) / (map(select(.codec == "lattice"))[0] | f)] | max;
  ($files[0].results + $made[0].results) as $all
  | ($all | map(select(.codec == "dense" or .codec == "lattice" or .codec == "paper"))) as $own
  | ($own | map(select(.kernel != "scalar"))) as $fast
  | ($fast | map(select(.size == "memory"))) as $memory
  | ($memory | map(select(.data == "files"))) as $gradients
  | ($memory | map(select(.codec != "dense" and (.data == "mixed" or .data == "raw")))) as $worst
  | [ $own[] | select(.kernel == "scalar") as $s | $s
      | ($fast[] | select(.data == $s.data and .size == $s.size and .codec == $s.codec and .data != "files")) as $f
      | select(.size != "memory" and (.data == "mixed" or .data == "raw"))
      | [ $s.compress_ticks_per_8 / $f.compress_ticks_per_8, $s.decompress_ticks_per_8 / $f.decompress_ticks_per_8 ] | min ] as $speedup
  | ($own | map(select(.data == "files"))) as $files_own | ($own | map(select(.data == "16bit" or .data == "32bit"))) as $wide
  | {benchmark: "codec.sh", environment: $files[0].environment, results: $all, claims: [
      {name: "real gradients, memory, compress over memcpy", value: $gradients | low(.compress_over_memcpy), least: 0.9},
      {name: "real gradients, memory, decompress over memcpy", value: $gradients | low(.decompress_over_memcpy), least: 0.9},
      {name: "paper and lattice, mixed and raw values, memory, compress over memcpy", value: $worst | low(.compress_over_memcpy), least: 0.65},
      {name: "paper and lattice, mixed and raw values, memory, decompress over memcpy", value: $worst | low(.decompress_over_memcpy), least: 0.65},
      {name: "mixed and raw values, cache and packets, over the scalar kernel", value: $speedup | min, least: 8},
      {name: "dense over lattice, ticks, real gradients, cache, compress", value: worst($files_own; "cache"; .compress_ticks_per_8), most: 0.95},
      {name: "dense over lattice, ticks, real gradients, cache, decompress", value: worst($files_own; "cache"; .decompress_ticks_per_8), most: 0.75},
      {name: "dense over lattice, ticks, values of 16 and 32 bits, cache, compress", value: worst($wide; "cache"; .compress_ticks_per_8), most: 1.6},
      {name: "dense over lattice, ticks, values of 16 and 32 bits, cache, decompress", value: worst($wide; "cache"; .decompress_ticks_per_8), most: 1.2},
      {name: "dense, real gradients, memory, compress over memcpy", value: $gradients | map(select(.codec == "dense")) | low(.compress_over_memcpy), least: 0.9},
      {name: "dense, real gradients, memory, decompress over memcpy", value: $gradients | map(select(.codec == "dense")) | low(.decompress_over_memcpy), least: 1.2}]}' \
    >"$work/all.json"

echo
echo "== claims"
jq -r '.claims[] | "\(.name): " + (if .value == null then "not measured here"
    elif .least then "\(.value * 100 | round / 100) (at least \(.least)): \(if .value >= .least then "holds" else "FAILS" end)"
    else "\(.value * 100 | round / 100) (at most \(.most)): \(if .value <= .most then "holds" else "FAILS" end)" end)' "$work/all.json"
mv "$work/all.json" "$result"
echo "written: $result"
