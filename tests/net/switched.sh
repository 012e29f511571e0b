#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The algorithm switch end to end: four workers and a gradnic switch between them that loses one
# packet of a hundred. Sums are right, and the same everywhere. The argument says which test:
#
#   sums                 int32, and compressed by the workers
#   shared, preemptive   fewer slots than the job wants
#   tree                 leaves of a root, with slots of their own and shared ones;
#                        a switch that is killed
#   engine               the aggregator in Verilog instead of the core, and beside it
#   nic                  compressed by the workers' NICs; a training with the bits of the ring's
# shellcheck source=tests/net/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/net/ranks.sh
source "$here/ranks.sh"

# start_switch HOST PORT ARGS...   waits until it listens; $switch is its address
start_switch() {
    local host=$1 port=$2 i
    shift 2
    switch=$(testbed_address "$host"):$port
    testbed_start "$host" "$gradnic" switch -q -c "$testbed_dir/switch$port.sock" -u root -l "$switch" "$@" >>"$testbed_dir/nic-switch.log" 2>&1
    for ((i = 0; i < 100; i++)); do
        testbed_run "$host" ss -Hltn "sport = :$port" | grep -q . && return 0
        sleep 0.05
    done
    fail "the switch on host $host did not start"
}

# good NAME   all ranks end well, and rank 0 found every sum right
good() {
    ranks_wait
    ranks_good "$1"
    jq -e '.results | all(.wrong == 0 and .identical)' "$testbed_dir/rank0.out" >/dev/null ||
        fail "$1: $(jq -c '.results[] | {size, wrong, identical}' "$testbed_dir/rank0.out")"
}

# sum NAME ARGS...   all workers sum vectors of 1, 512 and 262144 values
sum() {
    local name=$1
    shift
    ranks_start -b 4 -e 1M -f 512 -n 2 -w 0 --timeout 20s --json --algorithm switch --switch "$switch" "$@"
    good "$name"
}
result() { jq -r ".results[2] | $1" "$testbed_dir/rank0.out"; }

test_sums() {
    begin 4 --no-nic
    start_switch 0 7900 --loss 1%
    sum "int32" --switch-channels 2
    expect "packets sent again" "$(result '.resent_packets | floor')" -gt 5
    sum "dense" -p dense --input "$grads" --in-place
    expect "bytes up, of 1 MiB" "$(result '.sent_bytes | floor')" -lt 500000
    expect "chunks in binary32" "$(result '.fallback_chunks | floor')" -eq 0
    sum "lattice, average" -p lattice --op average
    sum "scale" -p dense --scale auto
    # 3e38 twice and -3e38 twice, 1e6 and 1.1: beyond the codec, and on their way beyond binary32.
    for i in 0 1; do printf '\x99\x76\x61\x7f\x00\x24\x74\x49' >"$testbed_dir/wide$i.f32"; done
    for i in 2 3; do printf '\x99\x76\x61\xff\xcd\xcc\x8c\x3f' >"$testbed_dir/wide$i.f32"; done
    sum "beyond integers" -p dense --input "$testbed_dir/wide%r.f32"
    expect "chunks in binary32" "$(result '.fallback_chunks | floor')" -gt 0
}

# Slots that jobs share: most chunks find one taken, and are summed by the parameter server.
test_mode() {
    begin 4 --no-nic
    start_switch 4 7901 --role ps
    start_switch 0 7900 --mode "$1" --slots 32 --windows 512 --ps "$switch" --loss 1%
    sum "$1, int32" --switch-channels 2
    sum "$1, dense" -p dense --input "$grads" --in-place
    expect "chunks that came in parts" "$(counter 7901 ps.merged)" -gt 100
}
test_shared() { test_mode shared; }
test_preemptive() { test_mode preemptive; }

# sum_below PORTS NAME ARGS...   the workers of hosts 1 and 2 are below a leaf at host 1, the others
# below one at host 3. The leaves' ports are PORTS1 and PORTS2.
sum_below() {
    local ports=$1 name=$2 i at
    shift 2
    for ((i = 1; i <= 4; i++)); do
        at=$((i < 3 ? 1 : 2))
        testbed_start "$i" "$gradnic" bench allreduce --rank $((i - 1)) --world-size 4 --rendezvous "tcp://$(testbed_address 1):5000" -b 1M -e 1M -n 2 -w 0 --json \
            --algorithm switch --switch "$(testbed_address $((2 * at - 1))):$ports$at" "$@" >"$testbed_dir/rank$((i - 1)).out" 2>"$testbed_dir/rank$((i - 1)).err"
        ranks_pid[i - 1]=$testbed_pid
    done
    good "$name"
}

# counter PORT NAME   of the switch at that port
counter() { "$gradnic" switch stats -c "$testbed_dir/switch$1.sock" --json | jq -e ".total.$2"; }

test_tree() {
    local root i
    begin 4 --no-nic
    start_switch 4 7913 --role ps
    start_switch 0 7910 --mode preemptive --slots 32 --windows 512 --ps "$switch" --loss 1%
    root=$switch
    start_switch 1 7911 --mode preemptive --slots 32 --windows 256 --parent "$root"
    start_switch 3 7912 --mode shared --slots 32 --windows 512 --parent "$root" --loss 1%
    sum_below 791 "two leaves that share, int32"
    sum_below 791 "two leaves that share, lattice" -p lattice
    for i in 0 1 2; do
        expect "collisions at switch 791$i" "$(counter 791$i core.collisions)" -gt 20
        expect "values added at switch 791$i" "$(counter 791$i core.values)" -gt 20000
    done
    expect "chunks that came in parts" "$(counter 7913 ps.merged)" -gt 100

    start_switch 0 7900
    root=$switch
    start_switch 1 7901 --parent "$root" --slots 256 --quota 256
    start_switch 3 7902 --parent "$root" --loss 1%
    sum_below 790 "two leaves"

    switch=$root
    ranks_start -b 16M -e 16M -n 1000 -w 0 -c 0 --timeout 4s --algorithm switch --switch "$switch"
    for ((i = 0; i < 200; i++)); do
        [ "$(counter 7900 core.added)" -lt 20000 ] || break
        sleep 0.05
    done
    kill -s KILL "$(testbed_run 0 ss -Hltnp 'sport = :7900' | sed 's/.*pid=\([0-9]*\).*/\1/')"
    ranks_wait
    for ((i = 0; i < 4; i++)); do
        expect "exit status of rank $i" "${ranks_exit[$i]}" -ne 0
        grep -q "switch $root lost" "$testbed_dir/rank$i.err" || fail "rank $i does not name the switch: $(cat "$testbed_dir/rank$i.err")"
    done
}

# The aggregator in Verilog: sums, and a training with the bits of the core's.
test_engine() {
    local i engine format
    begin 4 --no-nic
    testbed_run 0 "$gradnic" switch -l 127.0.0.1 --engine rtl --mode shared --ps 127.0.0.1:1 2>&1 |
        grep -q -- '--engine rtl takes --mode partitioned alone' || fail "--mode shared is not refused"
    testbed_run 0 "$gradnic" switch -l 127.0.0.1 --engine rtl --parent 127.0.0.1:1 2>&1 |
        grep -q -- 'is the root of its tree' || fail "--parent is not refused"
    testbed_run 0 "$gradnic" switch -l 127.0.0.1 --engine rtl --slots 2000 2>&1 |
        grep -q -- 'has 1024 in each shard' || fail "--slots 2000 is not refused"

    start_switch 0 7900 --engine lockstep --loss 1%
    ranks_start -b 4 -e 256K -f 256 -n 2 -w 0 --timeout 60s --json --algorithm switch --switch "$switch" --switch-channels 2
    # However slow the engine is, who asks gets an answer.
    for ((i = 0; i < 10; i++)); do
        counter 7900 core.values >"$testbed_dir/asked" || fail "no answer while the engine adds"
        sleep 0.2
    done
    good "int32 over lockstep"
    expect "packets sent again" "$(result '.resent_packets | floor')" -gt 0
    expect "values added" "$(counter 7900 core.values)" -gt 500000
    ranks_start -b 4 -e 256K -f 256 -n 2 -w 0 --timeout 60s --json --algorithm switch --switch "$switch" --switch-values 256 -p dense \
        --input "$grads" --in-place
    good "dense over lockstep"
    # of 256 packets, without those that were sent again: many, where the engine is slow
    expect "bytes up, of 256 KiB" "$(result '.sent_bytes * 256 / (256 + .resent_packets) | floor')" -lt 125000
    ranks_start -b 4 -e 4 -n 1 -w 0 --timeout 5s --algorithm switch --switch "$switch" -p lattice
    ranks_wait
    grep -q 'adds int32 and dense alone (--engine lockstep)' "$testbed_dir"/rank*.err || fail "lattice is not refused: $(cat "$testbed_dir"/rank*.err)"

    start_switch 0 7901 --engine rtl
    start_switch 0 7902
    ranks_command=(train --data "$data" --layers 3 --hidden 32 --steps 6 -q --json="$testbed_dir/train.json" -f)
    for format in "" "-p dense"; do
        : >"$testbed_dir/weights"
        for engine in 7900 7901 7902; do
            # shellcheck disable=SC2086 # an option and its value, or nothing
            ranks_start --algorithm switch --switch "$(testbed_address 0):$engine" $format
            ranks_wait
            ranks_good "training over the switch at port $engine $format"
            jq -r .weights "$testbed_dir/train.json" >>"$testbed_dir/weights"
            expect "values added at port $engine" "$(counter "$engine" core.values)" -gt 100000
        done
        expect "different weights $format" "$(sort -u "$testbed_dir/weights" | wc -l)" -eq 1
    done
}

test_nic() {
    local host algorithm
    begin 4 --nic "--rule tos=0x28,proto=udp,profile=dense,k=10,head=32" --switch-nic "--bypass --no-restore"
    start_switch 0 7900 --loss 1%
    sum "compressed by NICs" -p dense --switch-nic --input "$grads"
    expect "chunks in binary32" "$(result '.fallback_chunks | floor')" -eq 0
    for host in 1 4; do
        expect "compressed by NIC $host" "$(stat_of "$host" .tx.rules[0].compressed)" -gt 1000
        expect "restored by NIC $host" "$(stat_of "$host" .rx.engine.restored_dense)" -gt 1000
        expect "ratio of NIC $host, percent" "$(stat_of "$host" '.tx.ratio * 100 | floor')" -gt 250
    done

    ranks_command=(train --data "$data" --layers 3 --hidden 32 --steps 6 -q --json="$testbed_dir/train.json" -f -p dense --feedback)
    for algorithm in "ring --tos 0" "switch --switch $switch" "switch --switch $switch --switch-nic"; do
        # shellcheck disable=SC2086  # words
        ranks_start --algorithm $algorithm
        ranks_wait
        ranks_good "training, $algorithm"
        jq -r .weights "$testbed_dir/train.json" >>"$testbed_dir/weights"
    done
    expect "different weights" "$(sort -u "$testbed_dir/weights" | wc -l)" -eq 1
}

"test_$1"
testbed_down
