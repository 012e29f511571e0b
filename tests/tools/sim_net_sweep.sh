#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `gradnic sim net --sweep`: each combination of values is a run of its own, with one row in table,
# CSV and JSON, and a place in the plot.
# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"

sim() { "$GRADNIC" sim net -q "$@"; }

echo '{"link": {"loss": 0.01}, "jobs": [{"workers": 2, "values": 25600}, {"workers": 4, "values": 51200}]}' >two.json
sweep=(--sweep "jobs.workers=2,3,8" --sweep "seed=1,7" --sweep "link.loss=0,0.02")
sim "${sweep[@]}" --csv=two.csv --json=sweep.json two.json >table.txt
[ "$(wc -l <two.csv)" = 13 ] || fail "not a row a run: $(cat two.csv)"
[ "$(wc -l <table.txt)" = 13 ] || fail "the table: $(cat table.txt)"
[ "$(cut -d, -f1-3 two.csv | tr '\n' ' ')" = "jobs.workers,link.loss,seed 2,0,1 2,0.02,1 2,0,7 2,0.02,7 3,0,1 3,0.02,1 \
3,0,7 3,0.02,7 8,0,1 8,0.02,1 8,0,7 8,0.02,7 " ] || fail "the order: $(cut -d, -f1-3 two.csv)"
grep -Eq '^8 +7 +0.02 ' table.txt || fail "the table lacks a run: $(cat table.txt)"

# Each is what a run of its own is.
for run in 0 5 11; do
    jq ".runs[$run] | del(.values, .row)" sweep.json >got.json
    jq --argjson v "$(jq ".runs[$run].values" sweep.json)" \
        '.jobs[].workers = $v."jobs.workers" | .link.loss = $v."link.loss"' two.json >alone.json
    seed=$(jq ".runs[$run].values.seed" sweep.json)
    sim --seed "$seed" --json alone.json | jq 'del(.scenario)' >alone.out
    same alone.out got.json
    sim --seed "$seed" --csv alone.json | tail -n 1 >alone.csv
    tail -n +$((run + 2)) two.csv | head -n 1 | cut -d, -f3- | cmp - alone.csv || fail "CSV of run $run: $(cat alone.csv)"
done
# A row has means of times and sums of counts.
jq -e '.runs[5] | (.row.seconds * 2 - .jobs[0].seconds - .jobs[1].seconds | fabs < 1e-12)
    and .row.slowest_seconds == ([.jobs[].seconds] | max) and .row.sent == ([.jobs[].sent] | add)
    and .row.lost == .links.lost and .row.lost > 0 and .values."link.loss" == 0.02' sweep.json >/dev/null ||
    fail "a row: $(jq -c '.runs[5] | [.row, .jobs]' sweep.json)"
sim "${sweep[@]}" --csv two.json >again.csv
same two.csv again.csv

# Paths: one element of a list, an object that is not there, a list, a text. Lists have commas.
sim --sweep 'jobs[1].workers=2,5' --sweep uplink.delay_ns=7 --sweep 'switch.tree=[2,3],[5,1]' \
    --sweep switch.mode=shared,atp --json two.json >paths.json
jq -e '(.runs | length) == 8 and all(.runs[]; .jobs[0].workers == 2 and .mode == .values."switch.mode")
    and ([.runs[].jobs[1].workers] | unique) == [2, 5] and .runs[2].values."switch.tree" == [5, 1]' paths.json >/dev/null ||
    fail "paths: $(jq -c '.runs[].values' paths.json)"
sim --sweep 'switch.tree=[2,3],[5,1]' --csv two.json | cut -d, -f1-3 | grep -qx '"\[2,3\]",1' || fail "a list in CSV"

# The plot: a line for each other key's value, the mean over seeds, and the same bytes each time.
sim "${sweep[@]}" --svg two.svg --plot sent two.json >table.txt
sim "${sweep[@]}" --svg again.svg --plot sent two.json >table.txt
same two.svg again.svg
"$PYTHON" - two.csv two.svg <<'PY' || fail "the plot"
import csv, re, sys, xml.etree.ElementTree as tree
rows = list(csv.DictReader(open(sys.argv[1])))
root = tree.parse(sys.argv[2]).getroot()
texts = ["".join(e.itertext()).strip() for e in root.iter("{http://www.w3.org/2000/svg}text")]
assert {"jobs.workers", "packets of workers", "link.loss 0", "link.loss 0.02"} <= set(texts), texts
assert not any("seed" in text for text in texts), texts
# The two lines, in the picture's own units, against the means: one scale fits all points.
mean = lambda loss, n: sum(float(r["sent"]) for r in rows if (r["link.loss"], r["jobs.workers"]) == (loss, n)) / 2
wanted = [[mean(loss, n) for n in ("2", "3", "8")] for loss in ("0", "0.02")]
lines = [[float(y) for _, y in re.findall(r"[ML] ([\d.]+) ([\d.]+)", path.get("d"))]
         for group in root.iter("{http://www.w3.org/2000/svg}g") if (group.get("id") or "").startswith("line2d")
         for path in group.findall("{http://www.w3.org/2000/svg}path")]
lines = [line for line in lines if len(line) == 3 and len(set(line)) > 1]  # not those of the legend
assert len(lines) == 2, lines
scale = (lines[0][2] - lines[0][0]) / (wanted[0][2] - wanted[0][0])
for line, want in zip(lines, wanted):
    for y, value in zip(line, want):
        assert abs(lines[0][0] + scale * (value - wanted[0][0]) - y) < 0.01, (lines, wanted)
PY
# Words across are bars.
sim --sweep switch.mode=shared,atp --svg bars.svg two.json >table.txt
grep -q '>shared<' bars.svg || fail "no bar for a word"

# Errors name the key, and come before anything is simulated.
for wrong in 'link.los=1|two.json with link.los=1: link.los is not a known field' \
    'jobs.workers=2,3.5|two.json with jobs.workers=3.5: jobs[0].workers has to be an integer' \
    'jobs[2].workers=2|--sweep jobs[2].workers: the scenario has no [2] there' 'jobs[x]=2|the scenario has no [x] there' \
    'uplinks[0]=2|the scenario has no list uplinks' 'link..loss=1|link..loss: it is not a path of names' \
    'seed=-1|--sweep seed: a seed is an integer' 'link.loss=0,,1|--sweep link.loss: a value is empty'; do
    expect 1 "${wrong#*|}" "$GRADNIC" sim net --csv=none.csv --sweep "${wrong%%|*}" two.json
done
numbers=$(seq -s, 101)
expect 1 "--sweep link.delay_ns: more than 10000 runs" "$GRADNIC" sim net --sweep "seed=$numbers" --sweep "link.delay_ns=$numbers" two.json
expect 1 "two.json with limit_s=0.000001: the jobs were not done" "$GRADNIC" sim net --sweep limit_s=0.000001 --csv=none.csv two.json
expect 1 "two.csv: exists already" "$GRADNIC" sim net --csv=two.csv two.json
expect 1 "two.json" "$GRADNIC" sim net -f --csv=two.json two.json
[ ! -e none.csv ] || fail "a file of a run that failed"
expect 2 "--sweep: link.loss is not KEY=A,B,C" "$GRADNIC" sim net --sweep link.loss two.json
expect 2 "--sweep: seed has two lists" "$GRADNIC" sim net --sweep seed=1 --sweep seed=2 two.json
expect 2 "--svg plots a sweep" "$GRADNIC" sim net --svg x.svg two.json
expect 2 "--svg is needed" "$GRADNIC" sim net --sweep seed=1 --plot sent two.json
expect 2 "--plot: 'tempo' is none of: seconds, slowest_seconds" "$GRADNIC" sim net --sweep seed=1 --svg x.svg --plot tempo two.json
expect 2 "--csv and --json contradict" "$GRADNIC" sim net --csv --json two.json

# Where no pictures can be drawn, that is said before anything is simulated.
mkdir -p other/build/release/sim/net
cp "$(dirname "$GRADNIC")/../sim/net/gradnic-sim-net" other/build/release/sim/net/
echo '{"jobs": [{"workers": 64, "values": 268435456, "vectors": 1000}]}' >endless.json
expect 1 "net-picture is neither at" timeout 20 other/build/release/sim/net/gradnic-sim-net --sweep seed=1 --svg x.svg endless.json
mkdir other/figures
printf '#!/bin/sh\necho numpy is missing >&2\nexit 1\n' >other/figures/net-picture
chmod +x other/figures/net-picture
expect 1 "the picture: numpy is missing" timeout 20 other/build/release/sim/net/gradnic-sim-net --sweep seed=1 --svg x.svg endless.json
[ ! -e x.svg ] || fail "a picture that failed is there"

# What draws the picture ends with the program, also when that is killed.
echo '{"jobs": [{"workers": 2, "values": 100}]}' >tiny.json
# shellcheck disable=SC2016  # for the script itself
printf '#!/bin/sh\n[ "$1" = check ] && exit\necho $$ >drawer\nexec sleep 100\n' >other/figures/net-picture
other/build/release/sim/net/gradnic-sim-net -q --sweep seed=1 --svg x.svg tiny.json >/dev/null 2>&1 &
until_holds "no picture was begun" test -s drawer
{ kill -s KILL $! && ! wait $!; } 2>/dev/null
is_over() { ! grep -qv '^State:.*Z' <(grep '^State:' "/proc/$(cat drawer)/status"); } # nobody may wait for it
until_holds "the picture is still drawn" is_over

# Temporary files are where TMPDIR says.
echo '{"jobs": [{"workers": 2, "values": 1000}]}' >small.json
TMPDIR=/nowhere expect 1 "a temporary file in /nowhere: No such file or directory (TMPDIR names another folder)" \
    "$GRADNIC" sim net --sweep seed=1,2 --svg=nowhere.svg small.json
