#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A parameter server, a root and two leaves that share their slots, with two ranks each. `gradnic
# switch status` names the rank that has stopped. The ranks are told when a switch above them has
# stopped.
# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"

switches_at 9

# ranks NAME ARGUMENT...: starts four ranks; rank I's process is rank[I]. Vectors are long, so a
# rank is stopped in the middle of one
ranks() {
    local name=$1 i
    shift
    for i in 0 1 2 3; do
        "$GRADNIC" bench allreduce --rank "$i" --world-size 4 --rendezvous "file://$PWD/$name" -b 64M -e 64M -n 1000 -w 0 -c 0 \
            --algorithm switch --switch "$host:$((7003 + i / 2))" "$@" >"$name$i.out" 2>"$name$i.err" &
        rank[i]=$!
        pids+=($!)
    done
}

# at_work NAME ARGUMENT...: the same, and waits until there are sums. Ranks make their vectors
# first, and may get little CPU time
at_work() {
    ranks "$@"
    for _ in $(seq 2000); do
        [ "$("$GRADNIC" switch stats -c "$PWD/leaf0.sock" --json | jq "[.jobs[].channels[].core.partials] | add > 2000")" = true ] && return 0
        sleep 0.02
    done
    fail "no job: $(cat ./*.log "$1"?.err)"
}

# old_names: for one release, what is said of channels has their old name, stream, too
old_names() {
    local labels
    "$GRADNIC" switch jobs -c "$PWD/leaf0.sock" --json | jq -e '.jobs[] | .channels == .streams and (.channels | length) == 1' >said.txt ||
        fail "jobs: $(cat said.txt)"
    "$GRADNIC" switch stats -c "$PWD/leaf0.sock" --json |
        jq -e '.jobs[] | [.channels[] | del(.channel)] == [.streams[] | del(.stream)] and .channels[0].channel == "0" and .streams[0].stream == "0"' \
            >said.txt || fail "stats: $(cat said.txt)"
    labels='channels_udp_bytes_total{.*channel="0"}'
    "$GRADNIC" switch stats -c "$PWD/leaf0.sock" --prometheus | grep "^gradnic_switch_jobs_$labels [0-9]" >/dev/null ||
        fail "Prometheus has no $labels"
}

# says WHO TEXT: its status comes to say so
says() { said_in=status.txt until_holds "$1 says nothing of '$2'" status_has "$1" "$2"; }
status_has() {
    "$GRADNIC" switch status -c "$PWD/$1.sock" >status.txt
    grep -F -- "$2" status.txt
}

rank=()
switch_start ps 7001 --role ps
switch_start root 7002 --mode shared --ps "$host:7001"
switch_start leaf0 7003 --mode shared --parent "$host:7002"
switch_start leaf1 7004 --mode shared --parent "$host:7002"
switch_start least 7005 --slots 1 --values 1
grep -qF "1 slot of 1 value in 1 shard, " least.log || fail "$(cat least.log)"
kill "${switch_pid[least]}"

# A normal end is told from a forced one.
ranks good -b 64K -e 64K -n 50
for i in 0 1 2 3; do wait "${rank[i]}" || fail "rank $i: $(cat "good$i.err")"; done
says leaf0 "all have left"
! grep -q "without a word" status.txt || fail "who has ended well has not said so: $(cat status.txt)"
at_work killed
old_names
kill -s KILL "${rank[@]}"
says leaf0 "all have left, rank 0 (127.0.0.1:"
grep -q "and 1 more without a word" status.txt || fail "who was killed is not told from who has ended: $(cat status.txt)"

at_work stopped --timeout 20s
kill -s STOP "${rank[3]}"
says ps "rank 3 (below switch $host:7002)"
"$GRADNIC" switch status -c "$PWD/ps.sock" --json >status.json
[ "$(jq -c '[.jobs[].waiting[].waits_for[].ranks] | unique' status.json)" = '[[3]]' ] || fail "others are waited for: $(cat status.json)"
"$GRADNIC" switch end -c "$PWD/leaf1.sock" "$(jq -r '.jobs[0].job' status.json)"
kill -s CONT "${rank[3]}"
for i in 0 1 2 3; do
    wait "${rank[i]}" && fail "rank $i came to an end"
done
grep "switch $host:7004" stopped0.err | grep "it was ended at the switch" >/dev/null || fail "rank 0 was told: $(cat stopped0.err)"

# All ranks learn which switch above is silent: the leaf tells them before they accuse it.
for above in "root:parent switch $host:7002" "ps:parameter server $host:7001"; do
    name=${above%%:*}
    at_work "silent_$name" --timeout 4s
    kill -s STOP "${switch_pid[$name]}"
    for i in 0 1 2 3; do
        wait "${rank[i]}" && fail "rank $i came to an end"
        grep -q "switch $host:700[34] has ended the job: .*no sign of life from the ${above#*:} for " "silent_$name$i.err" ||
            fail "rank $i was told: $(cat "silent_$name$i.err")"
    done
    kill -s CONT "${switch_pid[$name]}"
done

# A deaf switch still answers: its part is the one that is missing further up.
switch_start top 7011
switch_start hears 7012 --parent "$host:7011"
switch_start deaf 7013 --parent "$host:7011" --loss 100%
for i in 0 1 2 3; do
    "$GRADNIC" bench allreduce --rank "$i" --world-size 4 --rendezvous "file://$PWD/deafness" -b 64K -e 64K --timeout 3s --algorithm switch \
        --switch "$host:$((7012 + i / 2))" >"deaf$i.out" 2>"deaf$i.err" &
    rank[i]=$!
    pids+=($!)
done
for i in 0 1 2 3; do
    wait "${rank[i]}" && fail "rank $i came to an end"
    grep -q "(a slot waits for the parent switch $host:7011: a slot waits for ranks 2-3 (below switch $host:7013))" "deaf$i.err" || fail "rank $i was told: $(cat "deaf$i.err")"
done
