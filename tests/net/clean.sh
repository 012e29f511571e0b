#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SIGTERM and SIGINT end the NIC with status 0. Device, routes and rules are gone then, with both
# ways of steering. The NIC gives up its privileges while it runs.
# shellcheck source=tests/net/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

begin 2
state() { testbed_run 1 sh -c 'ip link show; ip rule; ip -6 rule; ip route show table all; ip -6 route show table all' | grep -Ev '^ |^[0-9]+: lo|wire0|cache'; }
privileges() { # fails unless the NIC of host 1 runs as gradnic or nobody, without effective capabilities
    local file="/proc/${testbed_nic_pid[1]}/status"
    local line
    for line in "Uid:.$account.$account" 'CapEff:.0000000000000000' 'NoNewPrivs:.1' "CapPrm:.$1"; do
        grep -q "^$line" "$file" || fail "privileges: not $line: $(grep -E '^(Uid|Cap|NoNew)' "$file")"
    done
}
account=$(id -u gradnic 2>/dev/null || id -u nobody)
testbed_nic_stop 1
without=$(state)
for signal in TERM INT HUP; do
    for steer in '' dscp; do
        testbed_steer=$steer
        testbed_nic_start 1 || fail "NIC with --steer '$steer'"
        [ "$(state)" != "$without" ] || fail "the NIC made nothing"
        if [ -n "$steer" ]; then privileges 0000000000001000; else privileges 0000000000000000; fi
        testbed_nic_stop 1 "$signal"
        expect "exit status after $signal" "$testbed_status" -eq 0
        left=$(diff <(echo "$without") <(state)) || fail "left behind after $signal (--steer '$steer'): $left"
    done
done
wrong() { # wrong TEXT ARGS: wrong usage, and the message says what to write
    local text=$1 got
    shift
    testbed_run 1 "$gradnic" nic -c none "$@" 2>"$testbed_dir/wrong"
    got=$?
    expect "exit status of $*" $got -eq 2
    grep -q -- "$text" "$testbed_dir/wrong" || fail "$*: $(cat "$testbed_dir/wrong")"
}
wrong 'its prefix length is missing' -a 10.88.0.1 -P 10.88.0.2=192.0.2.2
wrong 'write 10.88.0.0/24 for the prefix' -a 10.88.0.1/24 -P 10.88.0.2/24=192.0.2.2
wrong 'at least 1kbit' --rate 10 -a 10.88.0.1/24 -P 10.88.0.2=192.0.2.2
testbed_run 1 timeout -s TERM 0.5 "$gradnic" nic -q --rate 0 -c none -d gn7 -a 10.88.0.1/24 -P 10.88.0.2=192.0.2.2:9 -m 1500 || [ $? -eq 124 ] || fail "--rate 0"
# Wrong usage ends with 2 and leaves nothing; what cannot be opened ends with 1.
testbed_run 1 "$gradnic" nic -a 10.77.0.1/24 2>/dev/null; expect "exit status without peers" $? -eq 2
testbed_run 1 "$gradnic" nic -c none -a 10.77.0.1/24 -P 10.77.0.0/16=10.77.0.9 2>"$testbed_dir/loop"; expect "exit status of a loop" $? -eq 2
grep -q 'lies in an overlay prefix' "$testbed_dir/loop" || fail "loop: $(cat "$testbed_dir/loop")"
# A NIC is no peer of its own, by whichever address. Its line in a table of all hosts does no harm.
own=$(testbed_link_address 1) other=$(testbed_link_address 2)
wrong 'is not the address of one host' -a 10.88.0.1/24 -P 10.88.0.2=0.0.0.0
wrong 'needs its interface, as in \[fe80::1%eth0\]' -a 10.88.0.1/24 -P '10.88.0.2=[fe80::2]'
wrong "peer $own:7777 is this NIC itself" -a 10.88.0.1/24 -P "10.88.0.2=$own"
wrong "peer $own:7777 is this NIC itself" -l "$own" -a 10.88.0.1/24 -P "10.88.0.3=$other" -P "10.88.0.2=$own"
wrong 'peer 127.0.0.1:9 is this NIC itself' -l 0.0.0.0:9 -a 10.88.0.1/24 -P 10.88.0.2=127.0.0.1:9
wrong 'peer localhost, 127.0.0.1:7777 is this NIC itself' -l 0.0.0.0 -a 10.88.0.1/24 -P 10.88.0.2=localhost
wrong "peer $own:7777 is this NIC itself" -d gn7 --steer mark -P "10.88.0.2=$own"
runs() { # runs ARGS: the NIC goes on until it is told to end
    testbed_run 1 timeout -s TERM 0.5 "$gradnic" nic -q -c none -d gn7 "$@" || [ $? -eq 124 ] || fail "nic $*"
}
runs -a 10.88.0.1/24 -P "10.88.0.2=$own:7778" -P "10.88.0.3=$other"
runs -a 10.88.0.1/24 -P "10.88.0.1=$own" -P "10.88.0.2=$other"
runs --steer mark -P "$own=$own" -P "$other=$other"
# Where a socket may have any address, that says nothing of a peer.
testbed_run 1 sysctl -qw net.ipv4.ip_nonlocal_bind=1
runs -a 10.88.0.1/24 -P "10.88.0.2=$other"
wrong "peer $own:7777 is this NIC itself" -a 10.88.0.1/24 -P "10.88.0.2=$own"
testbed_run 1 sysctl -qw net.ipv4.ip_nonlocal_bind=0
left=$(diff <(echo "$without") <(state)) || fail "left behind after a failed start: $left"
# Another testbed of this name ends by itself, and not these hosts.
"$here/../../scripts/testbed" 1 --no-nic --prefix "$testbed_prefix" -- true 2>"$testbed_dir/wrong" && fail "two testbeds have one name"
grep -q "there is a namespace $(testbed_netns 0) already" "$testbed_dir/wrong" || fail "$(cat "$testbed_dir/wrong")"
{ kill -0 "${testbed_nic_pid[2]}" 2>/dev/null && testbed_run 2 true; } || fail "another testbed has removed this one's hosts"
# The end of a testbed goes on when a NIC had to be killed, also where each failure ends a script.
said=$(bash -c 'set -e; source "$1"; testbed_up 2 >/dev/null
    kill -STOP "${testbed_nic_pid[1]}"; testbed_down; echo "went on"' - "$here/../../scripts/testbed" 2>/dev/null) || true
[ "$said" = "went on" ] || fail "a NIC that does not end ends the script: $said"
