#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The codec on one core: real gradients and worst cases beside memcpy, then real gradients beside other compressors. Prints
# tables and what was claimed against what was measured; writes everything to a JSON file.
#
#   bench/codec.sh RESULT.json [FILE...]        FILEs: .npy, .f32, ... (default: tests/data/gradients)
#   GRADNIC=path                                the program (default: build/release/tools/gradnic)
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
gradnic=${GRADNIC:-$root/build/release/tools/gradnic}
[ $# -ge 1 ] || { sed -n '3,7s/^# \{0,1\}//p' "$0" >&2; exit 2; }
[ -x "$gradnic" ] || { echo "codec.sh: $gradnic: not there; build it, or set GRADNIC" >&2; exit 1; }
result=$1
shift
files=("$@")
[ ${#files[@]} -gt 0 ] || files=("$root"/tests/data/gradients/*.npy.gz)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

echo "== every kernel, beside memcpy (256 MiB, larger than any cache; 256 KiB; pieces of 1448 bytes)"
"$gradnic" bench codec --kernel all --made all --memory 256M -r 11 --json="$work/kernels.json" "${files[@]}"
echo
echo "== beside other compressors, bound 2^-10 (64 MiB)"
"$gradnic" bench codec --against all --made none --memory 64M -r 11 --time 4 --json="$work/peers.json" "${files[@]}"

jq -n --slurpfile kernels "$work/kernels.json" --slurpfile peers "$work/peers.json" \
    '{benchmark: "codec.sh", environment: $kernels[0].environment, kernels: $kernels[0], peers: $peers[0]}' >"$work/all.json"

echo
echo "== claims"
jq -r '
  def low(f): map(f) | min;
  def said(name; value; text; good): "\(name): " + if value == null then "not measured here" else "\(value * 100 | round / 100) (\(text)): \(if good then "holds" else "FAILS" end)" end;
  def line(name; value; target): said(name; value; "at least \(target)"; value >= target);
  def most(name; value; target): said(name; value; "at most \(target)"; value <= target);
  # The worst of dense over lattice, both with AVX2 (encoding of lattice has an AVX-512 kernel, which is no measure of the format).
  def worst(rows; size; f): [rows | map(select(.kernel == "avx2" and .size == size)) | group_by(.data)[]
      | (map(select(.codec == "dense"))[0] | f) / (map(select(.codec == "lattice"))[0] | f)] | max;
  .kernels.results as $all
  | ($all | map(select(.kernel != "scalar"))) as $fast
  | ($fast | map(select(.size == "memory"))) as $memory
  | [ $all[] | select(.kernel == "scalar") as $s | $s
      | ($fast[] | select(.data == $s.data and .size == $s.size and .codec == $s.codec and .data != "files")) as $f
      | select(.size != "memory" and (.data == "mixed" or .data == "raw"))
      | [ $s.compress_ticks_per_8 / $f.compress_ticks_per_8, $s.decompress_ticks_per_8 / $f.decompress_ticks_per_8 ] | min ] as $speedup
  | line("real gradients, memory, compress over memcpy"; $memory | map(select(.data == "files")) | low(.compress_over_memcpy); 0.9),
    line("real gradients, memory, decompress over memcpy"; $memory | map(select(.data == "files")) | low(.decompress_over_memcpy); 0.9),
    line("paper and lattice, mixed and raw classes, memory, compress over memcpy"; $memory | map(select(.codec != "dense" and (.data == "mixed" or .data == "raw"))) | low(.compress_over_memcpy); 0.65),
    line("paper and lattice, mixed and raw classes, memory, decompress over memcpy"; $memory | map(select(.codec != "dense" and (.data == "mixed" or .data == "raw"))) | low(.decompress_over_memcpy); 0.65),
    line("mixed and raw classes, in cache and in packets, over the scalar kernel"; $speedup | min; 8),
    ($all | map(select(.data == "files"))) as $files | ($all | map(select(.data == "16bit" or .data == "32bit"))) as $wide
  | most("dense over lattice, ticks per 8 values, real gradients, cache, compress"; worst($files; "cache"; .compress_ticks_per_8); 0.95),
    most("dense over lattice, ticks per 8 values, real gradients, cache, decompress"; worst($files; "cache"; .decompress_ticks_per_8); 0.75),
    most("dense over lattice, ticks per 8 values, 16bit and 32bit, cache, compress"; worst($wide; "cache"; .compress_ticks_per_8); 1.6),
    most("dense over lattice, ticks per 8 values, 16bit and 32bit, cache, decompress"; worst($wide; "cache"; .decompress_ticks_per_8); 1.2),
    line("dense, real gradients, memory, compress over memcpy"; $memory | map(select(.data == "files" and .codec == "dense")) | low(.compress_over_memcpy); 0.9),
    line("dense, real gradients, memory, decompress over memcpy"; $memory | map(select(.data == "files" and .codec == "dense")) | low(.decompress_over_memcpy); 1.2)
' "$work/all.json"
mv "$work/all.json" "$result"
echo "written: $result"
