#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A NIC reads its file again (SIGHUP) in mid-flow: rules, rate, cut and bypass change, no packet is
# lost, and every sum is right. A wrong file changes nothing.
# shellcheck source=tests/net/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/net/ranks.sh
source "$here/ranks.sh"

status() { "$gradnic" nic status -c "$(testbed_control 1)" --json | jq -e "$1" >/dev/null; }
until_holds() { # until_holds WHAT JQ
    local i
    for ((i = 0; i < 500; i++)); do
        status "$2" && return 0
        sleep 0.01
    done
    fail "$1: not $2: $(cat "$testbed_dir/nic1.log")"
}
said() { # said NAME TEXT: the log NAME has the text, now or soon
    local i
    for ((i = 0; i < 250; i++)); do
        grep -q "$2" "$testbed_dir/$1.log" && return 0
        sleep 0.02
    done
    fail "not said: $2: $(cat "$testbed_dir/$1.log")"
}
reload() { kill -HUP "${testbed_nic_pid[1]}"; }

begin 2 --no-nic
conf=$testbed_dir/nic.conf
testbed_with_nic=1
printf 'rule = tos=0x28,k=10\n' >"$conf"
chmod a+rx "$testbed_dir" && chmod a+r "$conf"
testbed_nic_start 1 "--config $conf" || fail "NIC 1 did not start"
testbed_nic_start 2 "" || fail "NIC 2 did not start"

# Sums of quantised gradients are exact, whatever the NICs do with the packets.
ranks_start -b 32M -e 32M -n 10 -w 0 -p lattice -k 10 --input "$data/gradients/cnn-it100-w%r.npy.gz" --timeout 20s
until_holds "nothing flows" '.device == "gn0"'
for ((round = 0; round < 12; round++)); do
    kill -0 "${ranks_pid[0]}" 2>/dev/null || break
    case $((round % 4)) in
    0) printf 'profile = lattice\nrule = tos=0x28,proto=tcp,k=10\ncut = mtu\n' >"$conf" ;;
    1) printf 'rule = tos=0x48,k=6\nrule = tos=0x28,k=11\nrate = 900mbit\n' >"$conf" ;;
    2) printf 'bypass\nrule = tos=0x28,k=12\n' >"$conf" ;;
    3) printf 'bound = 10\nlog-time = yes\n' >"$conf" ;;
    esac
    wanted=(
        '.cut == "mtu" and .rate == 0 and .rules == ["tos=0x28,proto=tcp,port=any,profile=lattice,k=10,head=0"]'
        '.cut == "fill" and .rate == 900000000 and (.rules | length) == 2 and (.bypass | not)'
        '.bypass and .rate == 0 and (.rules | length) == 1'
        '(.bypass | not) and .rules == ["tos=0x28,proto=any,port=any,profile=dense,k=10,head=0"]'
    )
    reload
    until_holds "reload $round" "${wanted[round % 4]}"
    sleep 0.1
done
expect "reloads while sums were made" "$round" -ge 3
ranks_wait
ranks_good "allreduce while a NIC was reloaded"

# No packet was lost: what one NIC sent, the other received.
for pair in "1 2" "2 1"; do
    read -r from to <<<"$pair"
    for ((i = 0; i < 100; i++)); do
        sent=$(stat_of "$from" '.peers[0].tx.packets') got=$(stat_of "$to" '.peers[0].rx.packets')
        [ "$sent" -ne "$got" ] || break
        sleep 0.02
    done
    expect "packets from host $from that host $to received" "$got" -eq "$sent"
    expect "malformed at host $to" "$(stat_of "$to" '.rx.engine.malformed')" -eq 0
    expect "sent wrongly by host $from" \
        "$(stat_of "$from" '.tx.wire.errors + .tx.wire.too_big + .tx.host.queue_drops')" -eq 0
done

printf 'bound = 10\n' >"$conf"
reload
until_holds "the last reload" '(.bypass | not) and .rules == ["tos=0x28,proto=any,port=any,profile=dense,k=10,head=0"]'

# What needs a restart is named, and stays. Counters of a rule that stays go on.
ranks_start -b 1M -e 1M -n 1 -w 0 -p lattice -k 10 --timeout 20s
ranks_wait
ranks_good "allreduce after the reloads"
packets=$(stat_of 1 '.tx.rules[0].compressed')
expect "compressed" "$packets" -gt 0
printf 'bound = 10\nmtu = 1400\nflows = 10\npeers = /nowhere\n' >"$conf"
reload
said nic1 'everything stays as it was'
grep -q "nic.conf:4: peers: .*/nowhere" "$testbed_dir/nic1.log" ||
    fail "no line of the wrong file: $(cat "$testbed_dir/nic1.log")"
sed -i '/peers/d' "$conf"
reload
said nic1 'nic.conf: these stay as they are until a restart: mtu, flows$'
status '.wire_mtu == 1500' || fail "the MTU changed"
expect "compressed so far" "$(stat_of 1 '.tx.rules[0].compressed')" -ge "$packets"

# The account has to be able to read the file. The NIC says so at its start, and at a reload.
testbed_nic_stop 1 TERM
expect "exit status" "$testbed_status" -eq 0
chmod 600 "$conf"
sed -i '/mtu/d' "$conf"
testbed_nic_start 1 "--config $conf" || fail "a file that only root reads"
grep -q 'nic.conf: Permission denied for the account of this process' "$testbed_dir/nic1.log" ||
    fail "not said: $(cat "$testbed_dir/nic1.log")"
: >"$testbed_dir/nic1.log"
reload
said nic1 'everything stays as it was'
grep -q 'nic.conf: Permission denied' "$testbed_dir/nic1.log" || fail "not said: $(cat "$testbed_dir/nic1.log")"
status '.device == "gn0"' || fail "the NIC has gone"

# A file whose peer is the NIC itself is a wrong one, too.
own=$(testbed_link_address 1)
lines() { printf 'address = 10.88.0.1/24\npeer = 10.88.0.2/32=%s:7779\n' "$1" >"$conf"; }
lines "$(testbed_link_address 2)"
chmod 644 "$conf"
testbed_start 1 "$gradnic" nic --config "$conf" -d gn7 -l 0.0.0.0:7779 -c none 2>"$testbed_dir/gn7.log"
gn7=$testbed_pid
said gn7 'gn7 is up'
lines "$own"
kill -HUP $gn7
said gn7 "nic.conf: peer $own:7779 is this NIC itself"
said gn7 'everything stays as it was'
kill $gn7
wait $gn7 || fail "exit status of gn7: $?"
testbed_run 1 "$gradnic" nic --config "$conf" -d gn7 -l 0.0.0.0:7779 -c none 2>"$testbed_dir/gn7.log"
expect "exit status of a NIC that is its own peer" $? -eq 2
said gn7 "peer $own:7779 is this NIC itself"
