#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The NIC is the frame model. `gradnic pcap` turns the wire's capture into what the far host got,
# byte for byte. The packets that one NIC received are packets that the other one sent.
#
# Not all of them arrive: the limited link between them may drop some when its queue is full, which
# is what TCP looks for. Nor do they always arrive in order: a sender that changes its CPU may be
# overtaken.
# shellcheck source=tests/net/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

begin 2 --rate 100mbit
for host in 1 2; do
    testbed_nic_stop "$host"
    testbed_nic_start "$host" "--pcap-host $testbed_dir/host$host.pcap --pcap-wire $testbed_dir/wire$host.pcap" || fail "NIC with captures"
done
for cut in fill mtu; do
    testbed_set 1 --cut "$cut" || fail "set --cut"
    serve 2 -i "$grads" -k 10
    stream 1 "$(testbed_address 2)" -i "$grads" --tos 0x28 -t 0.5
    kill "$testbed_pid"
done
stream_of() { tcpdump -r "$1" -w - 'src host 10.77.0.1' 2>/dev/null | python3 "$here/packets.py"; }
for host in 1 2; do testbed_nic_stop "$host"; done
"$gradnic" pcap --direction rx "$testbed_dir/wire2.pcap" "$testbed_dir/model.pcap" >/dev/null || fail "gradnic pcap"
stream_of "$testbed_dir/wire1.pcap" >"$testbed_dir/sent"
stream_of "$testbed_dir/wire2.pcap" >"$testbed_dir/received"
stream_of "$testbed_dir/model.pcap" >"$testbed_dir/model"
stream_of "$testbed_dir/host2.pcap" >"$testbed_dir/host"
expect "packets in the capture" "$(wc -l <"$testbed_dir/host")" -gt 500
sort -o "$testbed_dir/sent" "$testbed_dir/sent"
sort "$testbed_dir/received" >"$testbed_dir/received.sorted"
strange=$(comm -13 "$testbed_dir/sent" "$testbed_dir/received.sorted" | wc -l)
[ "$strange" -eq 0 ] || fail "$strange packets were received that were not sent"
lost=$(comm -23 "$testbed_dir/sent" "$testbed_dir/received.sorted" | wc -l)
[ "$((lost * 10))" -lt "$(wc -l <"$testbed_dir/sent")" ] || fail "$lost packets were lost on a link without faults"
cmp -s "$testbed_dir/model" "$testbed_dir/host" || fail "the model's packets and the host's differ"
cmp -s "$testbed_dir/received" "$testbed_dir/host" && fail "nothing was compressed"

# With the time in its name, a NIC that was killed starts again with the same options, and all is
# kept.
mkdir "$testbed_dir/times"
for run in 1 2; do
    testbed_nic_start 2 "--pcap-host $testbed_dir/times/host-%F-%H%M%S.pcap" || fail "NIC with the time in a capture's name, run $run"
    testbed_nic_stop 2 KILL
    sleep 1.1 # another second, another name
done
ls "$testbed_dir/times" >"$testbed_dir/names"
expect "captures of two runs" "$(grep -cE "^host-$(date -u +%Y)-[0-1][0-9]-[0-3][0-9]-[0-2][0-9][0-5][0-9][0-6][0-9]\.pcap$" "$testbed_dir/names")" -eq 2

# With -f, a NIC that does not start has emptied no capture.
echo "a week of packets" >"$testbed_dir/old.pcap"
ln -s elsewhere "$testbed_dir/link.pcap"
testbed_nic_start 2 || fail "NIC"
for wrong in "-c $(testbed_control 2)" "-c none --pcap-wire $testbed_dir/link.pcap" "-c none --metrics 192.0.2.9:1"; do
    # shellcheck disable=SC2086 # words
    testbed_run 1 "$gradnic" nic -q -f -a 10.77.0.1/24 -P "$(_testbed_peer 2)" --pcap-host "$testbed_dir/old.pcap" $wrong 2>/dev/null &&
        fail "a NIC starts with $wrong"
    [ "$(cat "$testbed_dir/old.pcap")" = "a week of packets" ] || fail "a NIC that did not start has emptied a capture: $wrong"
done
# The same where it cannot become another user, or start its threads. As another user it may not
# remove the empty file that it has made, but the next one takes that.
for rights in "setpriv --bounding-set -all,+net_admin --inh-caps -all" "prlimit --nproc=1"; do
    for capture in "$testbed_dir/old.pcap -f" "$testbed_dir/new.pcap"; do
        # shellcheck disable=SC2086 # words
        testbed_run 1 $rights "$gradnic" nic -q -c none --user nobody -a 10.77.0.1/24 -P "$(_testbed_peer 2)" --pcap-host $capture 2>"$testbed_dir/wrong" &&
            fail "a NIC starts with $rights"
        grep -qE 'cannot (give up privileges|start a thread)' "$testbed_dir/wrong" || fail "$rights: $(cat "$testbed_dir/wrong")"
    done
    [ "$(cat "$testbed_dir/old.pcap")" = "a week of packets" ] || fail "a NIC that did not start has emptied a capture: $rights"
done
[ ! -s "$testbed_dir/new.pcap" ] || fail "a NIC that did not start has written a capture"
rm -f "$testbed_dir/new.pcap"
# Without -f it has left none.
testbed_run 1 "$gradnic" nic -q -c none -a 10.77.0.1/24 -P "$(_testbed_peer 2)" --pcap-host "$testbed_dir/new.pcap" --pcap-wire "$testbed_dir/nowhere/new.pcap" 2>"$testbed_dir/wrong" &&
    fail "a NIC without its capture"
grep -q 'nowhere/new.pcap: No such file' "$testbed_dir/wrong" || fail "$(cat "$testbed_dir/wrong")"
[ ! -e "$testbed_dir/new.pcap" ] || fail "a NIC that did not start has left a capture"

# A signal that comes while it starts ends it, and leaves no policy rule.
mkfifo "$testbed_dir/fifo"
testbed_start 1 "$gradnic" nic -c none -d gn9 --steer mark -P "$(testbed_link_address 2)=$(testbed_link_address 2):9" --pcap-host "$testbed_dir/fifo" 2>"$testbed_dir/early.log"
for ((i = 0; i < 250; i++)); do ! grep -q 'waiting for its reader' "$testbed_dir/early.log" || break; sleep 0.02; done
testbed_run 1 ip rule | grep -q 'lookup 18766' || fail "a NIC that starts has no policy rule: $(cat "$testbed_dir/early.log")"
kill -s TERM "$testbed_pid"
for ((i = 0; i < 250; i++)); do kill -0 "$testbed_pid" 2>/dev/null || break; sleep 0.02; done
expect "looks until a NIC that starts has ended" "$i" -lt 250
wait "$testbed_pid"
expect "exit status of a NIC that was ended while it started" $? -eq 0
! testbed_run 1 ip rule | grep -q 'lookup 18766' || fail "a NIC that was ended while it started has left its policy rule"
exit 0
