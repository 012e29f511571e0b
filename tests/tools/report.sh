#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gradnic report: a page from results and gradients. Errors in either are named, and leave no half
# page.
# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"

"$GRADNIC" train --data "$SOURCE/tests/data" -N 2 --hidden 16 --steps 4 -q --json=train.json
jq -n --slurpfile t train.json '{environment: ($t[0].environment | .cpu = "a <b> & \"c\""), mode: "test", workers: 2, steps: 4, rate_bits: 1e9, parameters: 1,
    runs: [{name: "one <script>", wire_bytes_per_step: 1e6, ratio: 1.5, speedup: 2, train: $t[0]},
           {name: "two", wire_bytes_per_step: 2e6, ratio: 1, speedup: 1, train: $t[0]}]}' >demo.json
"$GRADNIC" report -o page.html demo.json "$DATA"/cnn-it100-w0.npy.gz
[ "$(grep -c '<svg' page.html)" -eq 4 ] || fail "not four plots"
grep -q 'one &lt;script&gt;' page.html || fail "names are not escaped"
grep -q 'a &lt;b&gt; &amp; &quot;c&quot;' page.html || fail "names are not escaped"
! grep -q '<script' page.html || fail "a script got in"
# lattice, and dense with the same values in fewer bytes
grep -q 'dense 2^-10' page.html || fail "dense is not there"
grep -q 'ratio 14\.[01]' page.html || fail "dense's ratio of the dump is not there"
grep -q 'ratio 5\.[45]' page.html || fail "the ratio of the dump is not there"
"$GRADNIC" report -o - demo.json >plain.html
[ "$(grep -c '<svg' plain.html)" -eq 2 ] || fail "without gradients there are two plots"
expect 1 "demo.json: is the input" "$GRADNIC" report -f -o demo.json demo.json
cp "$DATA"/cnn-it100-w0.npy.gz own.npy.gz
expect 1 "own.npy.gz: is the input" "$GRADNIC" report -f -o own.npy.gz demo.json own.npy.gz
same own.npy.gz "$DATA"/cnn-it100-w0.npy.gz
expect 1 "page.html: exists already; --force overwrites it" "$GRADNIC" report -o page.html demo.json

expect 2 "no result file" "$GRADNIC" report
expect 1 "missing.json" "$GRADNIC" report -o x.html missing.json
echo '{' >bad.json
expect 1 "bad.json: line 2:" "$GRADNIC" report -o x.html bad.json
jq 'del(.runs[1].ratio)' demo.json >bad.json
expect 1 "bad.json: run 1: Object item not found: ratio" "$GRADNIC" report -o x.html bad.json
jq 'del(.runs[0].train.ranks[0].step_ms_mean.sum)' demo.json >bad.json
expect 1 "bad.json: run 0: train: Object item not found: sum" "$GRADNIC" report -o x.html bad.json
jq '.runs = []' demo.json >bad.json
expect 1 "bad.json: no runs" "$GRADNIC" report -o x.html bad.json
expect 1 "train.json" "$GRADNIC" report -o x.html demo.json train.json
[ ! -e x.html ] || fail "a page was written from bad input"
