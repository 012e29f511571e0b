#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gradnic report: a page from results and gradients. Errors in either are named, and leave no half
# page.
# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"

"$GRADNIC" train --data "$SOURCE/tests/data" -N 2 --hidden 16 --steps 4 -q --json=train.json
jq -n --slurpfile t train.json '{environment: ($t[0].environment | .cpu = "a <b> & \"c\""), mode: "test", workers: 2, steps: 4, rate_bits: 1e9, parameters: 1,
    notes: ["less < more"],
    runs: [{name: "one <script>", wire_bytes_per_step: 1e6, ratio: 1.5, speedup: 2, train: $t[0]},
           {name: "two", wire_bytes_per_step: 2e6, ratio: 1, speedup: 1, train: $t[0]}]}' >demo.json
"$GRADNIC" report -o page.html demo.json "$DATA"/cnn-it100-w0.npy.gz
[ "$(grep -c '<svg' page.html)" -eq 5 ] || fail "not five plots"
grep -q 'one &lt;script&gt;' page.html || fail "names are not escaped"
grep -q 'a &lt;b&gt; &amp; &quot;c&quot;' page.html || fail "names are not escaped"
grep -q '<li>less &lt; more</li>' page.html || fail "the notes are not there"
! grep -q '<script' page.html || fail "a script got in"
! grep -Eq 'src=|href="[^#]|@import|url\([^#]' page.html || fail "the report refers to something outside of it"
# Accuracy over time and over steps: a colour, a marker and a dash of its own for each line.
grep -q 'seconds since the first step' page.html || fail "accuracy over time is not there"
grep -q 'training steps' page.html || fail "accuracy over steps is not there"
for colour in '#010101' '#d55e00'; do grep -q "stroke: $colour" page.html || fail "no line has the colour $colour"; done
grep -q 'stroke-dasharray' page.html || fail "the lines differ in colour only"
# lattice, and dense with the same values in fewer bytes
grep -q 'dense 2^-10' page.html || fail "dense is not there"
grep -q 'ratio 14\.[01]' page.html || fail "dense's ratio of the dump is not there"
grep -q 'ratio 5\.[45]' page.html || fail "the ratio of the dump is not there"
# The same values in other formats make the same plots.
gzip -dc "$DATA"/cnn-it100-w0.npy.gz >values.npy
tail -c +129 values.npy >values.f32
[ "$(stat -c %s values.f32)" -eq $((4 * 262144)) ] || fail "the head of the dump is not 128 bytes"
for format in npy f32; do
    "$GRADNIC" report -o - demo.json values.$format >other.html
    same other.html page.html
done
"$GRADNIC" compress -q -p dense -k 10 values.npy -o values.gn
"$GRADNIC" report -o - demo.json values.gn >other.html
grep -q 'ratio 14\.[01]' other.html || fail "a .gn file is not read"
# The first bytes say the format, as they do everywhere. What it does not read is refused.
cp values.npy unnamed
"$GRADNIC" report -o - demo.json unnamed >other.html
same other.html page.html
"$PYTHON" -c 'import numpy as np; np.savez("named.npz", w=np.load("values.npy")); np.save("short.npy", (np.arange(999, dtype="<u2") % 7 + 0x3c00).view("V2"))'
for file in named.npz named.npz:w; do
    expect 1 "$file: " "$GRADNIC" report -o x.html demo.json $file
    expect 1 "the report reads .npy, .f32 and .gn files" "$GRADNIC" report -o x.html demo.json $file
done
"$GRADNIC" report -o - demo.json short.npy >other.html
"$PYTHON" -c 'import numpy as np; np.save("empty.npy", np.zeros(0, "<f4"))'
"$GRADNIC" report -o - demo.json short.npy empty.npy >filled.html
same filled.html <(sed 's/from 1 file\./from 2 files./' other.html)
expect 1 "gradnic report: there are no values in the gradients" "$GRADNIC" report -o x.html demo.json empty.npy
"$GRADNIC" report -o - demo.json >plain.html
[ "$(grep -c '<svg' plain.html)" -eq 3 ] || fail "without gradients there are three plots"

expect 1 "demo.json: is the input" "$GRADNIC" report -f -o demo.json demo.json
cp "$DATA"/cnn-it100-w0.npy.gz own.npy.gz
expect 1 "own.npy.gz: is the input" "$GRADNIC" report -f -o own.npy.gz demo.json own.npy.gz
same own.npy.gz "$DATA"/cnn-it100-w0.npy.gz
expect 1 "page.html: exists already; --force overwrites it" "$GRADNIC" report -o page.html demo.json

expect 1 "the page cannot be written: No space left on device" "$GRADNIC" report -f -o /dev/full demo.json
head -c 100000 /dev/zero | tr '\0' '[' >deep.json
expect 1 "deep.json: its brackets are nested too deep" "$GRADNIC" report -f -o page.html deep.json
expect 2 "no result file" "$GRADNIC" report
expect 1 "missing.json" "$GRADNIC" report -o x.html missing.json
expect 1 "missing.npy" "$GRADNIC" report -o x.html demo.json missing.npy
echo '{' >bad.json
expect 1 "bad.json: line 2:" "$GRADNIC" report -o x.html bad.json
jq 'del(.runs[1].ratio)' demo.json >bad.json
expect 1 "bad.json: run 1: no field 'ratio'" "$GRADNIC" report -o x.html bad.json
jq '.runs[1].ratio = "much"' demo.json >bad.json
expect 1 "bad.json: run 1: field 'ratio' has the wrong type" "$GRADNIC" report -o x.html bad.json
jq 'del(.runs[0].train.ranks[0].step_ms_mean.sum)' demo.json >bad.json
expect 1 "bad.json: run 0: train: no field 'sum'" "$GRADNIC" report -o x.html bad.json
jq '.runs = []' demo.json >bad.json
expect 1 "bad.json: no runs" "$GRADNIC" report -o x.html bad.json
jq '.runs[1].wire_bytes_per_step = 0' demo.json >bad.json
expect 1 "bad.json: run 1: field 'wire_bytes_per_step' must be more than 0" "$GRADNIC" report -o x.html bad.json
sed 's/"ratio": 1.5/"ratio": NaN/' demo.json >bad.json
expect 1 "bad.json: run 0: field 'ratio' is too large, or not a number" "$GRADNIC" report -o x.html bad.json
sed "s/\"rate_bits\": 1[0-9]*/\"rate_bits\": 1$(printf '0%.0s' {1..400})/" demo.json >bad.json
expect 1 "bad.json: field 'rate_bits' is too large, or not a number" "$GRADNIC" report -o x.html bad.json
jq '.notes = 5' demo.json >bad.json
expect 1 "bad.json: field 'notes' has the wrong type" "$GRADNIC" report -o x.html bad.json
sed 's/"two"/"two \\ud800"/' demo.json >odd.json
"$GRADNIC" report -o - odd.json >other.html
grep -q 'two ?' other.html || fail "a name that is not Unicode"
expect 1 "train.json" "$GRADNIC" report -o x.html demo.json train.json
# A name is no formula, and a file's name does nothing to the terminal.
sed 's/"two"/"two $\\\\frac$"/' demo.json >odd.json
"$GRADNIC" report -o - odd.json >other.html || fail "a name with dollars"
grep -qF '$\frac$:' other.html || fail "a name with dollars is not in the plots"
"$PYTHON" -c 'import numpy as np; np.savez("g\x1b]0;t\a.npz", a=np.ones(9, "<f4"))'
expect 1 'g\x1b]0;t\x07.npz: the report reads' "$GRADNIC" report -o x.html demo.json $'g\e]0;t\a.npz'
"$GRADNIC" report -o standard.html - <demo.json
"$GRADNIC" report -o named.html demo.json
same standard.html named.html

# The script ends with its parent, also when that is killed.
mkfifo never.json
exec 9<>never.json # the script waits for what comes
"$GRADNIC" report -o x.html never.json 9>&- &
parent=$!
until_holds "the script did not start" pgrep -P "$parent" -f demo-report
script=$(pgrep -P "$parent" -f demo-report)
kill -KILL "$parent"
status=0
wait "$parent" || status=$?
[ $status -eq 137 ] || fail "gradnic report was not killed, but ended with $status"
until_holds "the script goes on without its parent" eval "! kill -0 $script 2>/dev/null"
exec 9>&-

# Without Matplotlib: the report says what to install; the demo says so, and makes all else.
mkdir lacking
echo "raise ModuleNotFoundError('gone', name='matplotlib')" >lacking/matplotlib.py
PYTHONPATH=lacking expect 1 "lacks matplotlib: apt install python3-matplotlib" "$GRADNIC" report -o x.html demo.json
PYTHONPATH=$work/lacking "$GRADNIC" demo --in-process --quick --steps 2 -o out >log 2>&1 || fail "the demo needs Matplotlib: $(cat log)"
[ "$(grep -c 'apt install python3-matplotlib' log)" -eq 2 ] || fail "the demo does not say at both ends what is missing: $(cat log)"
grep -Eq '^ring, dense 2\^-10, feedback .* identical$' log || fail "no table: $(cat log)"
[ "$(jq '.runs | length' out/demo.json)" -eq 7 ] || fail "not all figures are in demo.json"
grep -q "gradnic report -o out/demo.html out/demo.json out/gradients/step" log || fail "the demo does not say how to make the report later"
[ ! -e out/demo.html ] || fail "a report without Matplotlib"
[ ! -e x.html ] || fail "a page was written from bad input"
! find . -name '__pycache__' | grep . || fail "compiled scripts are left behind"
