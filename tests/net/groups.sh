#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Two hosts with two ranks each: the ranks of a host find that they are a group. Sums are right,
# less crosses the links than with a flat ring, and a rank that dies is named by all others.
# shellcheck source=tests/net/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

begin 2 --no-nic --rate 200mbit
size=4 runs=12 overhead=0  # bytes that setting up and measuring the link take

# start ARGS...   ranks 0 and 1 on host 1, 2 and 3 on host 2
start() {
    local rank
    pids=()
    for rank in 0 1 2 3; do
        testbed_start $((rank / 2 + 1)) "$gradnic" bench allreduce --rank $rank --world-size 4 \
            --rendezvous "tcp://$(testbed_address 1):5000" "$@" >"$testbed_dir/rank$rank.out" 2>"$testbed_dir/rank$rank.err"
        pids+=("$testbed_pid")
    done
}
# good ARGS...   all ranks end well; rank 0 also checks the values. Bytes on the links for one sum:
# $crossed
good() {
    local rank before
    before=$(testbed_link_bytes)
    start -b $size -e $size -n $runs -w 0 "$@"
    for rank in 0 1 2 3; do
        wait "${pids[$rank]}" || fail "$*: rank $rank: $(cat "$testbed_dir/rank$rank.err" "$testbed_dir/rank0.out")"
    done
    crossed=$((($(testbed_link_bytes) - before - overhead) / runs))
}
says() { # says RANK TEXT
    grep -qF "$2" "$testbed_dir/rank$1.err" || fail "rank $1 does not say '$2': $(cat "$testbed_dir/rank$1.err")"
}

good --algorithm ring
overhead=$((crossed * runs)) size=4194304
good --algorithm ring
flat=$crossed
for algorithm in group-ring group-aggregator aggregators; do
    good --algorithm $algorithm
    says 0 "$algorithm: 2 groups of 2, by host: $(testbed_address 1), $(testbed_address 2)"
    # Each host sends the vector and gets it once; a flat ring sends it one and a half times.
    expect "bytes of $algorithm over the links" "$crossed" -lt $((flat * 3 / 4))
    plain=$crossed
    good --algorithm $algorithm -p dense -k 10 -i "${data}/gradients/cnn-it100-w0.npy.gz"
    says 0 "not compressed within a group"
    expect "bytes of $algorithm with dense" "$crossed" -lt $((plain / 4))
    good --algorithm $algorithm -p paper -k 10
    good --algorithm $algorithm --groups 3 -p dense --group-offload library
    says 0 "2 groups of 1 to 3, 3 ranks in a row"

    start -b 64M -e 64M -n 100 -w 0 --algorithm $algorithm --timeout 10s
    sleep 1.5
    kill -KILL "${pids[3]}"
    for rank in 0 1 2; do
        ! wait "${pids[$rank]}" || fail "$algorithm: rank $rank ended well though rank 3 was killed"
        says $rank "rank 3 ($(testbed_address 2)"
        says $rank "lost"
    done
done
