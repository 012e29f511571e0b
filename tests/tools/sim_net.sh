#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `gradnic sim net`: its times against arithmetic, loss, memory modes, marks, errors. The simulator
# itself checks every sum.
# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"

sim() { "$GRADNIC" sim net -q --json "$@"; }
holds() { jq -e "$2" "$1" >/dev/null || fail "$2 does not hold: $(jq -c '[.jobs, .links]' "$1")"; }
# close REPORT NS: the first job took that time, to a picosecond.
close() { holds "$1" ".jobs[0].seconds * 1e9 - $2 | . < 0.001 and . > -0.001"; }

# One chunk. A packet without values takes 98 bytes of the link's time, 78.4 ns; one with 256 values
# takes 1122, 897.6 ns. Each goes up and down, 1 us each way.
echo '{"jobs": [{"workers": 4, "values": 256}]}' >one.json
sim one.json >r.json
close r.json 5952
holds r.json '.links.packets == 16'

# 1000 chunks in 64 slots: the way up is busy all the time, then the last sum comes down.
echo '{"jobs": [{"workers": 4, "values": 256000}]}' >many.json
sim many.json >r.json
close r.json 905515.2
holds r.json '.jobs[0].resent == 0 and .links.packets == 2 * 4 * 1064'
# A slower worker holds up all, by at most its delay.
echo '{"jobs": [{"workers": 4, "values": 256000, "straggle_ns": 50000, "compute_ns": 1000, "start_ns": 7000}]}' >late.json
sim late.json >r.json
holds r.json '.jobs[0].seconds * 1e9 | . > 906515 and . < 956516'
# One slot: a round trip for each chunk, and one to begin.
echo '{"jobs": [{"workers": 3, "values": 2560, "slots": 1}]}' >slot.json
sim slot.json >r.json
close r.json "(2156.8 + 10 * 3795.2)"

# Loss costs time, and no sums. The seed decides which packets are lost.
echo '{"link": {"loss": 0.01}, "jobs": [{"workers": 4, "values": 256000, "vectors": 2}]}' >loss.json
sim loss.json >a.json
sim loss.json >b.json
sim --seed 2 loss.json >c.json
cmp a.json b.json || fail "the same seed gives another output"
! cmp -s a.json c.json || fail "another seed gives the same output"
holds a.json '.links.lost > 50 and .jobs[0].resent > 20 and .jobs[0].seconds > 2 * 905e-6'

# Two jobs share 16 slots, with parameter servers; in one mode the more urgent one takes slots.
for mode in shared preemptive; do
    for loss in 0 0.005; do
        cat >shared.json <<END
{"link": {"loss": $loss, "ecn_bytes": 10000}, "switch": {"mode": "$mode", "slots": 16},
 "jobs": [{"name": "slow", "workers": 3, "values": 50000, "priority": 10, "straggle_ns": 20000},
          {"name": "urgent", "workers": 5, "values": 50000, "priority": 1000, "start_ns": 5000}]}
END
        sim shared.json >r.json
        holds r.json "[.jobs[].collisions > 0] == [true, true] and .jobs[0].to_ps > 0 and .mode == \"$mode\""
        if [ $mode = shared ]; then
            holds r.json ".jobs[1].to_ps > 0 and .links.marked > 0 and .jobs[0].evictions == 0"
        else
            holds r.json ".jobs[0].evictions > 0 and .jobs[1].to_ps < .jobs[0].to_ps"
        fi
        holds r.json "(.links.lost > 0) == ($loss > 0)"
    done
done
"$GRADNIC" sim net shared.json | grep '^urgent' >/dev/null || fail "the table lacks a job"

# The papers' ways: ATP holds a slot until the result has passed, DSA tells the workers at once.
seconds() { jq ".switch.mode = \"$1\" | .switch.slots = 4096 | del(.link)" shared.json >way.json; sim way.json | jq .jobs[1].seconds; }
[ "$(jq -n "$(seconds dsa) < $(seconds preemptive)")" = true ] || fail "direct results do not come earlier"
for mode in atp dsa always alternately; do
    jq ".switch.mode = \"$mode\" | .link.loss = 0 | .sample_ns = 1000" shared.json >way.json
    sim way.json >r.json
    holds r.json ".mode == \"$mode\" and .slots.held_mean > 1 and .slots.held_mean <= 16"
    holds r.json '.slots.held_ns | ."10" <= ."50" and ."50" <= ."99"'
    holds r.json '.samples[-1].sent[0] == .jobs[0].sent and (.samples[0].held | add) <= 16'
    case $mode in
    always) holds r.json '([.jobs[].collisions] | add) == ([.jobs[].evictions] | add)' ;;
    alternately) holds r.json '((([.jobs[].collisions] | add) + 1) / 2 | floor) == ([.jobs[].evictions] | add)' ;;
    esac
done
jq '.switch.mode = "dsa" | .link.loss = 0.01' shared.json >wrong.json
expect 1 "a result that is lost is gone" "$GRADNIC" sim net wrong.json

# A network: two tensors, and the forward pass of layer 1 begins with the sum of the second. A sum
# takes 5952 ns (see above), and with 10 us of compute time each tensor waits for no other.
echo '{"jobs": [{"iterations": 3, "workers": 4, "forward_ns": [1000, 500], "tensors": [
  {"values": 256, "compute_ns": 10000, "layer": 2}, {"values": 256, "compute_ns": 10000, "layer": 1}]}]}' >network.json
sim network.json >r.json
holds r.json ".jobs[0].seconds * 1e9 - 3 * (20000 + 5952 + 1500) | . < 6 and . > -6"
holds r.json ".jobs[0].exchange_seconds * 1e9 - 3 * (10000 + 5952) | . < 6 and . > -6"
# Where the network is the limit, half the bytes take half the time.
jq '.format = "half" | .jobs[0].workers = 3' many.json >half.json
sim half.json >r.json
holds r.json '.jobs[0].seconds < 0.6 * 905515e-9'
# An urgent job: the less is left to do, the higher its priority.
jq '.switch.mode = "preemptive" | .switch.slots = 16 | .jobs[1].priority = "auto" | .jobs[0].priority = "auto"' \
    shared.json >auto.json
sim auto.json >r.json
holds r.json '.jobs[0].evictions + .jobs[1].evictions > 0'

# A short queue in front of a parameter server drops, and the jobs recover.
jq '.link.queue_bytes = 5000 | .switch.mode = "shared" | del(.link.ecn_bytes)' shared.json >queue.json
sim queue.json >r.json
holds r.json '.links.dropped > 0'

# A tree: a chunk takes four links up and down where it took two (see above).
echo '{"switch": {"tree": [2, 2]}, "jobs": [{"workers": 4, "values": 256}]}' >tree.json
sim tree.json >r.json
close r.json "2 * 5952"
holds r.json '.links.packets == 2 * 2 * (4 + 2) and .jobs[0].results == 2'
# Links between switches may be slower: ten times as long for half of the way, but for the delay.
jq '.uplink = {"rate_bit_s": 1000000000}' tree.json >slow.json
sim slow.json >r.json
close r.json "(2 * 5952 + 2 * 9 * (78.4 + 897.6))"
# Three levels, two jobs, all ways to share slots, with loss where it may be.
for mode in partitioned shared atp preemptive dsa; do
    for own in 0 1 2; do
        [ "$mode" != dsa ] && loss=0.002 || loss=0
        cat >tree.json <<END
{"link": {"loss": $loss}, "switch": {"mode": "$mode", "slots": 16, "tree": [3, 2, 2], "own_levels": $own},
 "jobs": [{"workers": 11, "values": 20000, "slots": 8, "priority": 10, "straggle_ns": 10000, "vectors": 2},
          {"workers": 12, "values": 20000, "slots": 8, "priority": 1000}]}
END
        sim tree.json >r.json
        holds r.json "(.links.lost > 0) == ($loss > 0)"
        case $mode in
        partitioned) holds r.json '[.jobs[].results] == [2 * (79 + 8), 79 + 8]' ;; # and exponents of 8 slots
        *) holds r.json '([.jobs[].collisions] | add) > 0' ;;
        esac
    done
done
# A thousand workers.
echo '{"switch": {"tree": [32, 32]}, "jobs": [{"workers": 1024, "values": 10000}]}' >wide.json
sim wide.json >r.json
holds r.json '.jobs[0].workers == 1024 and .jobs[0].results == 80'

# Without a switch that adds. A packet of 362 values takes 1538 bytes, 1230.4 ns, and from host to
# host 4460.8 ns. A ring of four: six such ways. Owners: three (four) packets one after the other,
# twice. An aggregator: its link has twelve.
exchange() { echo "{\"jobs\": [{\"exchange\": \"$1\", \"workers\": 4, \"values\": 1448}]}" >"$1.json"; sim "$1.json"; }
exchange ring >r.json
close r.json "6 * 4460.8"
exchange direct >r.json
close r.json "2 * (2 * 1230.4 + 4460.8)"
exchange servers >r.json
close r.json "2 * (3 * 1230.4 + 4460.8)"
exchange worker-aggregator >r.json
close r.json "(13 * 1230.4 + 2 * 4460.8)"
# A NIC compresses what is in a packet: 1448 bytes to 362, and its headers stay.
for ratios in '"ratio": 4' '"ratio": 4, "ratio_back": 1'; do
    echo "{\"jobs\": [{\"exchange\": \"ring\", \"workers\": 4, \"values\": 1448, $ratios}]}" >ratio.json
    sim ratio.json >r.json
    case $ratios in
    *back*) close r.json "(3 * 4460.8 + 3 * (2000 + 2 * 361.6))" ;;
    *) close r.json "6 * (2000 + 2 * 361.6)" ;;
    esac
done
# An engine of half the link's rate: 1448 bytes of values take as long as 2896.
echo '{"jobs": [{"exchange": "ring", "workers": 4, "values": 1448, "ratio": 4, "engine_bit_s": 5000000000}]}' >engine.json
sim engine.json >r.json
close r.json "6 * (2000 + 2 * 0.8 * (2896 + 90))"
# An aggregator that has all first: twelve packets come, then four go to each of three.
jq '.jobs[0].gather_first = true' worker-aggregator.json >first.json
sim first.json >r.json
close r.json "2 * (11 * 1230.4 + 4460.8)"
jq '.jobs[0].gather_first = true' ring.json >wrong.json
expect 1 "gather_first is for jobs with owners" "$GRADNIC" sim net wrong.json
# Stragglers, several vectors, parts that are not equal. Each sum is checked.
for name in ring direct worker-aggregator servers; do
    jq '.jobs[0] += {"workers": 5, "values": 100003, "vectors": 3, "straggle_ns": 50000, "window_bytes": 3000}' "$name.json" >p.json
    sim p.json >r.json
    holds r.json '.jobs[0].seconds > 3 * 0.00033'
done
# Groups of two on leaves with slow links above: half as much crosses these as with a ring.
echo '{"switch": {"tree": [2, 2]}, "uplink": {"rate_bit_s": 1000000000}, "jobs": [{"exchange": "ring", "workers": 4, "values": 1000000}]}' >flat.json
jq '.jobs[0] += {"exchange": "group-ring", "group": 2}' flat.json >groups.json
sim flat.json >flat.out
sim groups.json >groups.out
[ "$(jq -n --slurpfile a flat.out --slurpfile b groups.out '$b[0].jobs[0].seconds / $a[0].jobs[0].seconds | . > 0.6 and . < 0.8')" = true ] ||
    fail "groups: $(jq .jobs[0].seconds flat.out groups.out)"
# Both kinds of jobs on the same switches.
echo '{"jobs": [{"exchange": "ring", "workers": 3}, {"workers": 4}]}' >both.json
sim both.json >r.json
holds r.json '.jobs[0].results == 0 and .jobs[1].results > 900'

# Loss, and a queue that is too short for an aggregator's link: TCP sends again.
for name in ring direct worker-aggregator servers; do
    jq '.link = {"loss": 0.01} | .jobs[0] += {"values": 100003, "vectors": 2}' "$name.json" >lossy.json
    sim lossy.json >r.json
    holds r.json '.links.lost > 10 and .jobs[0].resent > 5 and .jobs[0].resent < 2 * .links.lost'
    sim lossy.json >again.json
    cmp r.json again.json || fail "the same seed gives another output"
done
jq '.link = {"queue_bytes": 30000} | .jobs[0] += {"values": 100003}' worker-aggregator.json >queue.json
sim queue.json >r.json
holds r.json '.links.dropped > 10 and .jobs[0].resent > .links.dropped / 2'
# Without losses, but with acknowledgements, it is a little slower than an ideal pipe.
jq '.jobs[0].values = 400000' ring.json >ideal.json
jq '.link.queue_bytes = 100000000' ideal.json >answered.json
sim ideal.json >r.json
ideal=$(jq .jobs[0].seconds r.json)
sim answered.json >r.json
holds r.json ".links.dropped == 0 and .jobs[0].resent == 0 and (.jobs[0].seconds / $ideal | . > 1.01 and . < 1.1)"

echo '{"link": {"loss": 0.1}, "jobs": [{"exchange": "ring", "payload_bytes": 4000}]}' >wrong.json
expect 1 "payload_bytes of a burst" "$GRADNIC" sim net wrong.json
echo '{"jobs": [{"exchange": "ring", "slots": 4}]}' >wrong.json
expect 1 "jobs[0].slots is for jobs with exchange switch" "$GRADNIC" sim net wrong.json
echo '{"jobs": [{"ratio": 4}]}' >wrong.json
expect 1 "jobs[0].ratio is for jobs with another exchange" "$GRADNIC" sim net wrong.json
echo '{"jobs": [{"exchange": "group-ring", "workers": 5, "group": 2}]}' >wrong.json
expect 1 "jobs[0].group has to divide" "$GRADNIC" sim net wrong.json
echo '{"jobs": [{"workers": 65}]}' >wrong.json
expect 1 "give it a switch.tree" "$GRADNIC" sim net wrong.json
echo '{"switch": {"tree": [4, 4]}, "jobs": [{"workers": 17}]}' >wrong.json
expect 1 "switch.tree has room for 16" "$GRADNIC" sim net wrong.json
echo '{"switch": {"tree": [32, 4], "mode": "shared"}, "jobs": [{"workers": 128}]}' >wrong.json
expect 1 "more levels slots of their own" "$GRADNIC" sim net wrong.json

echo '{"link": {"rate": 1}, "jobs": [{}]}' >wrong.json
expect 1 "link.rate is not a known field" "$GRADNIC" sim net wrong.json
echo '{"jobs": [{"slots": 48}]}' >wrong.json
expect 1 "jobs[0].slots has to be a power of two" "$GRADNIC" sim net wrong.json
echo '{"switch": {"slots": 64}, "jobs": [{"slots": 64}, {"slots": 64}]}' >wrong.json
expect 1 "the jobs need 128" "$GRADNIC" sim net wrong.json
echo '{"jobs": [{"tensors": [{}], "values": 3}]}' >wrong.json
expect 1 "jobs[0].values is for jobs without tensors" "$GRADNIC" sim net wrong.json
echo '{"jobs": [{"tensors": [{"layer": 2}], "forward_ns": [1]}]}' >wrong.json
expect 1 "jobs[0].tensors[0].layer has to be an integer from 1 to 1" "$GRADNIC" sim net wrong.json
echo '{"switch": {"mode": "sharp"}, "jobs": [{}]}' >wrong.json
expect 1 "switch.mode has to be one of partitioned, switchml" "$GRADNIC" sim net wrong.json
echo '{"limit_s": 0.0001, "jobs": [{}]}' >wrong.json
expect 1 "limit_s" "$GRADNIC" sim net wrong.json
echo '{"limit_s": 1e9, "jobs": [{}]}' >wrong.json
expect 1 "limit_s has to be a number from 0 to 3600" "$GRADNIC" sim net wrong.json
expect 1 "missing.json: No such file" "$GRADNIC" sim net missing.json
expect 1 "$PWD: Is a directory" "$GRADNIC" sim net "$PWD"
echo '{"jobs": [{"values": 1000}]}' >small.json
"$GRADNIC" sim net small.json >by_name.txt
"$GRADNIC" sim net - <small.json >by_input.txt
same by_name.txt by_input.txt
# Not even with -f does it overwrite what it reads, by whatever name.
cp small.json kept.json
ln small.json linked.json
for output in --csv=small.json --json=small.json --csv=linked.json --json=linked.json --svg=small.json; do
    for input in small.json -; do
        expect 1 "give the output another name" "$GRADNIC" sim net "$input" -f --sweep jobs.values=1000 "$output" <small.json
        same small.json kept.json
    done
done
expect 1 "standard input: line" "$GRADNIC" sim net - <<<'{"jobs"'
# Samples lie in memory, so there is a limit to their number.
echo '{"sample_ns": 1, "jobs": [{"values": 1, "compute_ns": 1000000000}]}' >wrong.json
expect 1 "more than 100000 samples: give a larger sample_ns" "$GRADNIC" sim net wrong.json
# A name does nothing to the terminal, nor to the columns.
printf '{"jobs": [{"name": "a|b\\u001b[31m", "values": 1}]}' >name.json
"$GRADNIC" sim net name.json >name.txt
grep -E '^a\\x7cb\\x1b\[31m +2 ' name.txt >/dev/null || fail "the name: $(cat -v name.txt)"
echo '{"jobs": [' >wrong.json
expect 1 "wrong.json: line" "$GRADNIC" sim net wrong.json
expect 2 "FILE is needed" "$GRADNIC" sim net
