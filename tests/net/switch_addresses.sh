#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A host has several addresses, and a switch that listens on all of them. Whichever its workers
# name, their sums come from there. So do the answers of a doctor that listens. The switch also is
# one below another, which knows it by an address that the kernel would not choose.
# shellcheck source=tests/net/switch_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/switch_lib.sh"

begin 3
first=$(testbed_link_address 0) second=$switch_address six=fd78::250
ip -n "$(testbed_netns 0)" addr add "$six/64" dev br0 nodad || fail "a second address of IPv6"

# sums ADDRESS...: two ranks at the switch, by each address
sums() {
    local to rank pids
    for to in "$@"; do
        pids=()
        for rank in 0 1; do
            testbed_start $((rank + 1)) "$testbed_gradnic" bench allreduce --rank "$rank" --world-size 2 --rendezvous "tcp://$(testbed_link_address 1):5000" \
                -b 64K -e 64K -n 3 --algorithm switch --switch "$to:7777" --timeout 5s >"$testbed_dir/rank$rank.out" 2>&1
            pids+=("$testbed_pid")
        done
        for rank in 0 1; do wait "${pids[$rank]}" || fail "rank $rank at $to"; done
    done
}
for listen in 0.0.0.0 '[::]'; do
    switch_start -l "$listen"
    sums "$first" "$second"
    [ "$listen" = 0.0.0.0 ] || sums "[$(testbed_link_address 0 6)]" "[$six]"
    switch_stop TERM
    expect "exit status at $listen" "$switch_status" -eq 0
done

# A switch below it. Workers and the one above know it by an address that is not its first.
switch_start -l 0.0.0.0
root_pid=$switch_pid
ip -n "$(testbed_netns 3)" addr add 10.78.0.240/24 dev wire0 || fail "a second address of host 3"
testbed_start 3 "$testbed_gradnic" switch -l 0.0.0.0 -c none --parent "$second:7777" --place 0/1 >"$testbed_dir/leaf.log" 2>&1
leaf_pid=$testbed_pid
for ((i = 0; i < 100; i++)); do ! grep -q 'listening' "$testbed_dir/leaf.log" || break; sleep 0.02; done
sums 10.78.0.240
kill "$leaf_pid" "$root_pid"
wait "$leaf_pid" || fail "the leaf ended with $?"
wait "$root_pid" || fail "the root ended with $?"

# What it asks above leaves from where it listens, so both are of one kind. ::ffff:a.b.c.d is IPv4.
testbed_run 3 timeout 10 "$testbed_gradnic" switch -l "[$(testbed_link_address 3 6)]" -c none --parent "$second:7777" 2>"$testbed_dir/kinds"
expect "exit status of a switch on IPv6 below one on IPv4" $? -eq 1
grep -q -- "--parent $second:7777: host '$second'" "$testbed_dir/kinds" || fail "$(cat "$testbed_dir/kinds")"
testbed_start 3 "$testbed_gradnic" switch -l "[::ffff:$(testbed_link_address 3)]" -c none >"$testbed_dir/mapped.log" 2>&1
for ((i = 0; i < 250; i++)); do ! grep -q 'listening' "$testbed_dir/mapped.log" || break; sleep 0.02; done
grep -q "listening on $(testbed_link_address 3):7777" "$testbed_dir/mapped.log" || fail "$(cat "$testbed_dir/mapped.log")"
kill "$testbed_pid"

testbed_start 0 "$testbed_gradnic" doctor --listen >"$testbed_dir/listener.out"
for ((i = 0; i < 250; i++)); do ! grep -q answers "$testbed_dir/listener.out" || break; sleep 0.02; done
for to in "$first" "$second" "[$six]"; do
    testbed_run 1 "$testbed_gradnic" doctor "$to" --json >"$testbed_dir/found.json" || true
    jq -e 'any(.findings[]; .name == "peer" and .level == "ok")' "$testbed_dir/found.json" >/dev/null ||
        fail "the doctor at $to: $(jq -c '.findings[] | select(.name == "peer")' "$testbed_dir/found.json")"
done
exit 0
