#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `gradnic sim net --timeline`: every packet on every link, against arithmetic and against the
# report's counters; pictures of a job and of one slot.
# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"

sim() { "$GRADNIC" sim net -q "$@" >report.txt; }
count() { grep -cE "$1" "$2" || true; }

# One chunk, as in sim_net.sh: 78.4 ns for a packet without values, 897.6 ns for one with 256, and
# 1 us each way.
echo '{"jobs": [{"workers": 4, "values": 256, "slots": 1}]}' >one.json
sim --timeline one.csv one.json
{
    echo sent_ns,arrived_ns,what,fate,from,to,chunk,slot,bytes
    for w in 0 1 2 3; do echo "0.000,1078.400,exponent,arrived,worker $w,switch,0,0,32"; done
    for w in 0 1 2 3; do echo "1078.400,2156.800,agreed exponent,arrived,switch,worker $w,0,0,32"; done
    for w in 0 1 2 3; do echo "2156.800,4054.400,values,arrived,worker $w,switch,1,0,1056"; done
    for w in 0 1 2 3; do echo "4054.400,5952.000,result,arrived,switch,worker $w,1,0,1056"; done
} >wanted.csv
same wanted.csv one.csv
# A span of it.
sim --timeline span.csv --from 1us --until 2157ns one.json
{ head -n 1 wanted.csv && sed -n 6,13p wanted.csv; } | cmp - span.csv || fail "a span: $(cat span.csv)"

# Two jobs share slots in a tree, with loss, marks and parameter servers: each packet is there, once
# for each link.
cat >two.json <<END
{"link": {"loss": 0.003, "ecn_bytes": 10000}, "rto_min_ns": 50000, "switch": {"mode": "preemptive", "slots": 16, "tree": [3, 2]},
 "jobs": [{"name": "slow", "workers": 5, "values": 30000, "slots": 16, "priority": 10, "straggle_ns": 5000},
          {"name": "urgent", "workers": 5, "values": 30000, "slots": 16, "priority": 1000}]}
END
sim --json=two.out two.json
sim --timeline slow.csv two.json
sim --timeline urgent.csv --timeline urgent.svg --job urgent two.json
tail -n +2 -q slow.csv urgent.csv >both.csv
for fate in lost marked; do
    [ "$(count "^[^,]*,[^,]*,[^,]*,$fate," both.csv)" = "$(jq .links.$fate two.out)" ] || fail "$fate: $(count ",$fate," both.csv)"
done
[ "$(count ',(arrived|marked),' both.csv)" = "$(jq .links.packets two.out)" ] || fail "packets: $(jq -c .links two.out)"
[ "$(jq '.links.lost > 10 and .links.marked > 0' two.out)" = true ] || fail "nothing lost: $(jq -c .links two.out)"
for job in 0 1; do
    name=$(jq -r .jobs[$job].name two.out)
    [ "$(count ',worker [0-4],switch 0.[01],' "$name.csv")" -ge "$(jq .jobs[$job].sent two.out)" ] || fail "sent: $name"
    [ "$(count 'values again,[a-z]*,worker' "$name.csv")" -gt 0 ] || fail "$name sends nothing again"
    [ "$(count 'server,switch 1.0,' "$name.csv")" -gt 0 ] || fail "$name has no parameter server"
done
# The job's last result is its end. A packet that is lost does not arrive.
last=$(awk -F, '$3 == "result" && $6 ~ /^worker/ && $4 != "lost" { if ($2 > most) most = $2 } END { print most }' slow.csv)
[ "$(jq ".jobs[0].seconds * 1e9 - $last | . < 1 and . > -1" two.out)" = true ] || fail "the end: $last"
! grep -E ',(lost|dropped),' both.csv | grep -vE '^[0-9.]+,,' || fail "a lost packet arrives"

# One slot is a part of it.
sim --timeline slot.csv --timeline slot.svg --slot 3 --job urgent two.json
{ head -n 1 urgent.csv && awk -F, '$8 == 3' urgent.csv; } | cmp - slot.csv || fail "a slot: $(head slot.csv)"
# Pictures: XML, with what is there, and the same bytes again.
texts() { "$PYTHON" -c 'import sys, xml.etree.ElementTree as t
for e in t.parse(sys.argv[1]).getroot().iter("{http://www.w3.org/2000/svg}text"): print("".join(e.itertext()).strip())' "$1"; }
texts urgent.svg >said
for text in values "sent again" "sum or part to the server" result exponent lost "in a switch" chunk microseconds; do
    grep -qxF "$text" said || fail "the picture of a job has no '$text': $(cat said)"
done
texts slot.svg >said
for text in "worker 0" "worker 4" "switch 0.1" "switch 1.0" server "in a switch" microseconds; do
    grep -qxF "$text" said || fail "the picture of a slot has no '$text': $(cat said)"
done
sim -f --timeline slot2.svg --slot 3 --job urgent two.json
same slot.svg slot2.svg
# Each packet has its mark: a job without loss has neither lost ones nor ones that are sent again.
sim --timeline one.svg one.json
texts one.svg >said
! grep -E '^(lost|sent again|sum or part)' said || fail "what is not there: $(cat said)"
"$PYTHON" - one.svg <<'PY' || fail "marks"
import collections, sys, xml.etree.ElementTree as tree
space = "{http://www.w3.org/2000/svg}"
marks = collections.Counter()
for group in tree.parse(sys.argv[1]).getroot().iter(space + "g"):
    if (group.get("id") or "").startswith("line2d"):
        marks[len(list(group.iter(space + "use")))] += 1
assert marks[4] == 3, marks  # of four workers: exponents, values, results
PY
# What it shows does not change what is simulated.
sim -f --json=again.out --timeline again.csv two.json
same two.out again.out
same slow.csv again.csv

# Limits and errors.
echo '{"jobs": [{"workers": 64, "values": 2000000}, {"exchange": "ring"}]}' >large.json
expect 1 "more than 100000 packets for the time line" "$GRADNIC" sim net --timeline none.csv large.json
[ ! -e none.csv ] || fail "a file of a run that failed"
sim --timeline large.csv --slot 7 large.json
[ "$(count , large.csv)" = $((1 + 128 + 2 * 64 * $(((2000000 / 256 - 6) / 64 + 1)))) ] || fail "one slot of many: $(count , large.csv)"
expect 1 "is of a job with exchange switch, and job1 has another" "$GRADNIC" sim net --timeline none.csv --job job1 large.json
expect 1 "large.json: --job: there is no job slow" "$GRADNIC" sim net --timeline none.csv --job slow large.json
expect 1 "large.json: --slot: job0 has slots 0 to 63" "$GRADNIC" sim net --timeline none.csv --slot 64 large.json
expect 2 "ends neither in .svg nor in .csv" "$GRADNIC" sim net --timeline none.png large.json
expect 2 "b.csv is the second .csv" "$GRADNIC" sim net --timeline a.csv --timeline b.csv large.json
expect 2 "--timeline is needed" "$GRADNIC" sim net --slot 3 large.json
expect 2 "--from is not before --until" "$GRADNIC" sim net --timeline a.csv --from 2us --until 1us large.json
expect 2 "--timeline is of one run" "$GRADNIC" sim net --timeline a.csv --sweep seed=1 large.json
