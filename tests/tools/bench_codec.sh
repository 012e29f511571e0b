#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `gradnic bench codec`: every wanted case is there and plausible. bench/codec.sh is for the
# figures themselves.
# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"

file=$DATA/cnn-it30-w0.npy.gz
"$GRADNIC" bench codec -p all -k 6,10 --kernel all --made all --layout all --memory 1M -r 1 --time 0 --json=all.json "$file" >all.txt
kernels=$(jq '[.results[].kernel] | unique | length' all.json)
[ "$kernels" -ge 1 ] || fail "no kernel"
for command in compress ratio "bench codec"; do # --help names them all
    for kernel in $(jq -r '.results[].kernel' all.json | sort -u); do
        # shellcheck disable=SC2086 # two words
        "$GRADNIC" $command --help | sed -n '/--kernel=/,/--/p' >help
        grep -qE "[ (]$kernel([,.)]|\$)" help || fail "$command --help lacks $kernel"
    done
done
rm help
# (1 file + 6 kinds of data) * 2 bounds * 3 sizes * 3 profiles, for each kernel
[ "$(jq '.results | length' all.json)" -eq $((126 * kernels)) ] || fail "$(jq '.results | length' all.json) results"
[ "$(grep -cE '^(files|zero|tiny|mixed|raw|16bit|32bit) ' all.txt)" -eq $((126 * kernels)) ] || fail "the table has other lines"
jq -e 'all(.results[]; .ratio > 0.9 and (.ratio <= 16 or .codec == "dense") and .compress_bytes_per_second > 0 and .decompress_bytes_per_second > 0
    and .memcpy_bytes_per_second > 0 and .max_error >= 0 and .repetitions == 1)' all.json >/dev/null || fail "implausible results"
jq -e 'all(.results[] | select(.codec != "paper"); .max_error <= pow(2; -.k))' all.json >/dev/null || fail "the bound does not hold"
jq -e 'all(.results[] | select(.data == "zero" and .size != "packet" and .codec != "dense"); .ratio == 16)' all.json >/dev/null || fail "zeros are not 16 : 1"
# dense: 3 bytes for 8192 values
jq -e 'all(.results[] | select(.data == "zero" and .size != "packet" and .codec == "dense"); .ratio * 3 == 32768)' all.json >/dev/null || fail "zeros of dense"
jq -e '[.results | group_by([.data, .size, .k])[] | (map(select(.codec == "lattice"))[0].max_error == map(select(.codec == "dense"))[0].max_error)] | all' all.json \
    >/dev/null || fail "dense and lattice do not give the same values"
jq -e 'def of(c): map(select(.codec == c))[0].ratio; [.results[] | select(.data == "files" or .data == "32bit")] | group_by([.data, .size, .k])
    | all(.[]; if .[0].data == "files" then of("dense") > of("lattice") else of("dense") > 0.93 end)' all.json >/dev/null || fail "ratios of dense"
# All kernels make the same bytes.
jq -e '[.results | group_by([.data, .size, .codec, .k])[] | map(.ratio) | unique | length] | max == 1' all.json >/dev/null || fail "kernels differ"
jq -e '.environment.cores >= 1 and .files == [$f]' --arg f "$file" all.json >/dev/null || fail "no environment"

"$GRADNIC" bench codec --json --layout packet -r 1 --against all --made none "$file" >peers.json
jq -e '[.results[] | select(.codec == "paper" or .codec == "lattice" or .codec == "dense")] | length == 3' peers.json >/dev/null || fail "peers instead of ours"

"$PYTHON" -c 'import numpy as np; a = np.ones(5000, "<f4"); a[7], a[9] = np.nan, np.inf; np.save("nan.npy", a)'
"$GRADNIC" bench codec --json --layout packet -r 1 --against all --made none nan.npy >nan.json 2>note
[ "$(jq -c '[.results[].codec | select(startswith("zfp"))]' nan.json)" = '[]' ] || fail "zfp of what is not finite"
! jq -e '.results[].codec | select(startswith("zfp"))' peers.json >/dev/null || grep -q 'zfp: data not finite, left out' note || fail "nothing is said about zfp"
rm nan.npy nan.json note

expect 2 "--made none needs a FILE" "$GRADNIC" bench codec --made none
expect 2 "'huge' is none of: zero, tiny, mixed, raw, 16bit, 32bit, all, none" "$GRADNIC" bench codec --made mixed,32bit,huge
expect 2 "kernel 'vax' is not in this build" "$GRADNIC" bench codec --kernel vax
expect 2 "'huge' is none of: cache, packet, memory, all, none" "$GRADNIC" bench codec --layout huge
expect 2 "is outside" "$GRADNIC" bench codec -p paper -k 0
expect 1 "no-such.npy" "$GRADNIC" bench codec no-such.npy
cp "$file" own.npy.gz
expect 1 "own.npy.gz: is the input" "$GRADNIC" bench codec -f --json=own.npy.gz own.npy.gz
same own.npy.gz "$file"
rm own.npy.gz
expect 1 "exists already" "$GRADNIC" bench codec --json=all.json --layout packet --made zero -r 1
only all.json all.txt peers.json
