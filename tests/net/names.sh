#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Hosts by their names wherever an address is given. A name that leads to several addresses: those
# that do not answer are passed over. Then peers that are hard to tell apart: two at one address,
# and addresses of a link.
# shellcheck source=tests/net/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

begin 2 --no-nic
nowhere=203.0.113.9 # no route leads there
folders=()
tidy() {
    testbed_down
    rm -rf "${folders[@]}"
}
trap tidy EXIT
for host in 0 1 2; do
    folder=/etc/netns/$(testbed_netns "$host")
    folders+=("$folder")
    mkdir -p "$folder"
    cat >"$folder/hosts" <<HOSTS
127.0.0.1 localhost
127.0.1.1 self
$(testbed_link_address $((host ? host : 1))) self
$(testbed_link_address 1) host-a
$nowhere host-b
$(testbed_link_address 2) host-b
$(testbed_link_address 2) meet adder
$(testbed_link_address 1) meet
$(testbed_link_address 0) adder
$(testbed_link_address 2) top
$(testbed_link_address 1) top
HOSTS
    echo "nameserver 127.0.0.1" >"$folder/resolv.conf" # nobody is there
done
[ "$(testbed_run 1 getent ahostsv4 host-b | grep -c STREAM)" -eq 2 ] ||
    fail "a name has not its two addresses: $(testbed_run 1 getent ahosts host-b)"

# nic HOST NAME ARGS: starts a NIC, and waits for it
nic() {
    local host=$1 name=$2 i
    shift 2
    testbed_start "$host" "$gradnic" nic -d "$name" -c "$testbed_dir/$name.sock" "$@" 2>"$testbed_dir/nic-$name.log"
    for ((i = 0; i < 100; i++)); do
        "$gradnic" nic status -c "$testbed_dir/$name.sock" >/dev/null 2>&1 && return 0
        sleep 0.05
    done
    fail "NIC $name: $(cat "$testbed_dir/nic-$name.log")"
}
end() { # end NAME...
    local name
    for name in "$@"; do kill "$("$gradnic" nic status -c "$testbed_dir/$name.sock" --json | jq .pid)"; done
    sleep 0.3
}
reach() { testbed_run "$1" ping -c 2 -i 0.2 -W 2 "$2" >/dev/null || fail "host $1 does not reach $2"; }

# Peers by name, in an option and in a file; where to listen by name, too.
echo "10.77.0.1/32=host-a # by name" >"$testbed_dir/peers"
nic 1 na -a 10.77.0.1/24 -P 10.77.0.2/32=host-b -l self # as Debian has it: one is loopback
nic 2 nb -a 10.77.0.2/24 --peers "$testbed_dir/peers"
reach 1 10.77.0.2
"$gradnic" nic status -c "$testbed_dir/na.sock" --json |
    jq -e '.peers[0].name == "host-b" and .peers[0].peer == "10.78.0.2:7777" and .listen == "10.78.0.1:7777"' \
    >/dev/null ||
    fail "status: $("$gradnic" nic status -c "$testbed_dir/na.sock" --json)"
end na nb
# What has no address is refused, and named.
refused() { # refused HOST TEXT COMMAND...
    local host=$1 text=$2 got=0
    shift 2
    testbed_run "$host" timeout 30 "$gradnic" "$@" 2>"$testbed_dir/refusal" || got=$?
    case $got in 0 | 124) fail "$*: ended with $got" ;; esac
    grep -qF -- "$text" "$testbed_dir/refusal" || fail "$*: no '$text' in: $(cat "$testbed_dir/refusal")"
}
refused 1 "peer nobody: host 'nobody': " nic -c none -a 10.77.0.1/24 -P 10.77.0.2/32=nobody
refused 1 "--listen: host 'nobody': " nic -c none -a 10.77.0.1/24 -P 10.77.0.2/32=host-b -l nobody
refused 1 "host 'host-b' is not this one: it has no address $(testbed_link_address 2), nor another of that name" \
    switch -c none -l host-b
refused 1 "--parent nobody:7777: host 'nobody': " switch -c none --parent nobody:7777
refused 1 "rendezvous: host 'nobody': " bench allreduce --rank 1 --world-size 2 --rendezvous tcp://nobody:29500 -q
refused 1 "switch_address 'nobody:7777': host 'nobody': " train --data "$data" --rank 1 --world-size 2 \
    --rendezvous tcp://meet:29500 --algorithm switch --switch nobody:7777 -q

# Ranks meet at a name, of which one address refuses. So do ranks and their switch, and a switch and
# its parent.
testbed_start 1 "$gradnic" switch -l host-a:7800 -c none 2>"$testbed_dir/nic-root.log"
testbed_start 0 "$gradnic" switch -l "$(testbed_link_address 0)" -c none --parent top:7800 --place 0/1 \
    --metrics adder:9464 2>"$testbed_dir/nic-leaf.log"
for ((i = 0; i < 100; i++)); do
    testbed_run 0 ss -Hltn 'sport = :7777' | grep -q . && testbed_run 1 ss -Hltn 'sport = :7800' | grep -q . && break
    sleep 0.05
done
for how in "" "--algorithm switch --switch adder:7777"; do
    for rank in 1 0; do
        # shellcheck disable=SC2086  # words are wanted
        testbed_start $((rank + 1)) \
            "$gradnic" bench allreduce --rank "$rank" --world-size 2 --rendezvous tcp://meet:29500 $how \
            -b 64K -e 64K -n 3 -q --timeout 15s >"$testbed_dir/out$rank" 2>"$testbed_dir/nic-rank$rank.log"
        pids[rank]=$testbed_pid
    done
    for rank in 0 1; do
        wait "${pids[$rank]}" || fail "rank $rank with '$how': $(cat "$testbed_dir/nic-rank$rank.log")"
    done
done
# The ranks may end before the switch has counted that they left.
for ((i = 0; i < 500; i++)); do
    testbed_run 0 curl -sS --max-time 5 http://adder:9464/metrics >"$testbed_dir/metrics"
    ! grep -q '^gradnic_switch_admission_ended_total{.*} 1$' "$testbed_dir/metrics" || break
    sleep 0.02
done
((i < 500)) || fail "the leaf had no job"

# Two peers at one address with different ports.
nic 2 nc -a 10.77.1.2/32 -P "10.77.1.1/32=host-a" -l "$(testbed_link_address 2):7001"
nic 2 nd -a 10.77.2.2/32 -P "10.77.2.1/32=host-a" -l "$(testbed_link_address 2):7002"
nic 1 na -a 10.77.1.1/32 -a 10.77.2.1/32 -P 10.77.1.2/32=host-b:7001 -P 10.77.2.2/32=host-b:7002
for ((i = 0; i < 3; i++)); do
    testbed_run 1 ping -c 1 -W 2 -I 10.77.1.1 10.77.1.2 >/dev/null || fail "the first peer at one address"
done
testbed_run 1 ping -c 1 -W 2 -I 10.77.2.1 10.77.2.2 >/dev/null || fail "the second peer at one address"
"$gradnic" nic stats -c "$testbed_dir/na.sock" --json |
    jq -e '[.peers[] | [.peer, .tx.packets, .rx.packets]] == [["10.78.0.2:7001", 3, 3], ["10.78.0.2:7002", 1, 1]] and
        .rx.wire.unknown_sender == 0' >/dev/null ||
    fail "peers at one address: $("$gradnic" nic stats -c "$testbed_dir/na.sock" --json | jq -c .peers)"
end na nc nd

# Addresses of a link have a scope. They differ by it alone, too.
local_address() {
    testbed_run "$1" ip -6 -o addr show dev wire0 scope link | sed -n 's/.* \(fe80:[0-9a-f:]*\)\/.*/\1/p'
}
for ((i = 0; i < 60; i++)); do
    [ -z "$(testbed_run 1 ip -6 -o addr show tentative)$(testbed_run 2 ip -6 -o addr show tentative)" ] && break
    sleep 0.1
done
a=$(local_address 1) b=$(local_address 2)
[ -n "$a" ] || fail "no link-local address at host 1"
[ -n "$b" ] || fail "no link-local address at host 2"
nic 1 na -a 10.77.0.1/24 -P "10.77.0.2/32=[$b%wire0]" -l "[$a%wire0]"
nic 2 nb -a 10.77.0.2/24 -P "10.77.0.1/32=[$a%wire0]"
reach 1 10.77.0.2
"$gradnic" nic stats -c "$testbed_dir/nb.sock" --json |
    jq -e ".peers[0].peer == \"[$a%wire0]:7777\" and .peers[0].rx.packets >= 2" >/dev/null || fail "link-local peers"
end nb
# The right address at the wrong interface is another peer: nothing of the other is taken.
testbed_run 2 ip link add other type veth peer name another
testbed_run 2 ip link set other up
nic 2 nb -a 10.77.0.2/24 -P "10.77.0.1/32=[$a%other]" --mtu 1500
testbed_run 1 ping -c 1 -W 1 10.77.0.2 >/dev/null && fail "a peer of another link is taken for this one"
expect "unknown senders" "$("$gradnic" nic stats -c "$testbed_dir/nb.sock" --json | jq .rx.wire.unknown_sender)" -ge 1
end na nb
