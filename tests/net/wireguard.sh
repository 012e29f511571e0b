#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The recipe of docs/wireguard.md: NICs, an exchange and a switch below WireGuard. Everything works
# as without it. On the links there are only WireGuard's datagrams, without a byte of a gradient.
# The kernel's WireGuard is taken where there is one, wireguard-go elsewhere.
# shellcheck source=tests/net/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/net/ranks.sh
source "$here/ranks.sh"

for tool in wg wg-quick tcpdump; do
    command -v $tool >/dev/null || { echo "CANNOT: $tool is missing (packages wireguard-tools, tcpdump)" >&2; exit 77; }
done
begin 3 --no-nic
if ip -n "$(testbed_netns 1)" link add probe type wireguard 2>/dev/null; then
    ip -n "$(testbed_netns 1)" link del probe
elif ! command -v wireguard-go >/dev/null; then
    echo "CANNOT: this kernel has no WireGuard, and wireguard-go is missing" >&2
    exit 77
fi
hosts=(0 1 2 3)
# Then the kernels have nothing of their own to say on the links but ARP and IGMP: no router is
# looked for, and no address is tried.
for i in "${hosts[@]}"; do
    for name in all default; do
        testbed_run "$i" sh -c "echo 1 >/proc/sys/net/ipv6/conf/$name/disable_ipv6" || fail "IPv6 of host $i stays on"
    done
done
net=10.77.0  # where the ranks meet: 10.77.0 through the NICs, 10.90.0 without them
testbed_address() { echo "$net.$(_testbed_number "$1")"; }
inside() { echo "10.90.0.$(_testbed_number "$1")"; }
device() { echo "gnwg$1-$$"; }  # wireguard-go keeps sockets of all namespaces in one folder
trap 'rm -f /var/run/wireguard/gnwg?-$$.sock; testbed_down' EXIT

for i in "${hosts[@]}"; do
    (umask 077 && wg genkey >"$testbed_dir/key$i") || fail "key of host $i"
    wg pubkey <"$testbed_dir/key$i" >"$testbed_dir/public$i" || fail "public key of host $i"
done
for i in "${hosts[@]}"; do
    (
        umask 077
        printf '[Interface]\nPrivateKey = %s\nAddress = %s/24\nListenPort = 51820\nMTU = 1420\n' \
            "$(cat "$testbed_dir/key$i")" "$(inside "$i")"
        for j in "${hosts[@]}"; do
            [ "$i" -eq "$j" ] || printf '\n[Peer]\nPublicKey = %s\nAllowedIPs = %s/32\nEndpoint = %s:51820\n' \
                "$(cat "$testbed_dir/public$j")" "$(inside "$j")" "$(testbed_link_address "$j")"
        done
    ) >"$testbed_dir/$(device "$i").conf"
    chmod 600 "$testbed_dir/$(device "$i").conf"
    testbed_run "$i" wg-quick up "$testbed_dir/$(device "$i").conf" >"$testbed_dir/wg$i.log" 2>&1 </dev/null ||
        fail "wg-quick on host $i: $(tail -n 3 "$testbed_dir/wg$i.log")"
done
for i in 1 2 3; do
    testbed_run "$i" ping -c 1 -W 5 -q "$(inside 0)" >/dev/null || fail "no tunnel from host $i to the switch"
done

for i in 1 2 3; do
    peers=()
    for j in 1 2 3; do [ "$i" -eq "$j" ] || peers+=(-P "10.77.0.$j/32=$(inside "$j")"); done
    testbed_start "$i" "$gradnic" nic -c "$(testbed_control "$i")" -a "10.77.0.$i/24" \
        --listen "$(inside "$i")" "${peers[@]}" >"$testbed_dir/nic$i.log" 2>&1
    testbed_nic_pid[$i]=$testbed_pid
    for ((j = 0; j < 100; j++)); do
        "$gradnic" nic status -c "$(testbed_control "$i")" >/dev/null 2>&1 && break
        sleep 0.05
    done
done
expect "MTU of the NIC's wire" "$("$gradnic" nic status -c "$(testbed_control 1)" --json | jq .wire_mtu)" -eq 1420

# What a reader on the path sees, and what is in the tunnel.
capture=(tcpdump -Z root --immediate-mode -U -s 0)
testbed_start 1 "${capture[@]}" -i wire0 -w "$testbed_dir/outside.pcap" >/dev/null 2>"$testbed_dir/outside.log"
outside=$testbed_pid
testbed_start 1 "${capture[@]}" -i "$(device 1)" -w "$testbed_dir/inside.pcap" >/dev/null 2>"$testbed_dir/inside.log"
inside_pid=$testbed_pid
for ((i = 0; i < 100; i++)); do
    grep -s 'listening on' "$testbed_dir/outside.log" >/dev/null &&
        grep -s 'listening on' "$testbed_dir/inside.log" >/dev/null && break
    sleep 0.05
done

# A gradient that every profile sends as it is: 1.0e30 is far beyond their bounds.
printf '\xca\xf2\x49\x71%.0s' {1..65536} >"$testbed_dir/loud.f32"
serve 2 -i "$grads" -k 10
stream 1 10.77.0.2 -i "$grads" --tos 0x28 -t 1
kill "$testbed_pid"
expect "packets compressed" "$(stat_of 1 .tx.rules[0].compressed)" -gt 50
expect "packets restored" "$(stat_of 2 .rx.engine.restored_dense)" -gt 50
expect "errors of the wire" "$(stat_of 1 '.tx.wire.errors + .tx.wire.too_big')" -eq 0

good() {
    ranks_wait
    ranks_good "$1"
    jq -e '.results | all(.wrong == 0 and .identical)' "$testbed_dir/rank0.out" >/dev/null || fail "$1: wrong sums"
}
before=$(stat_of 2 .tx.rules[0].compressed)
ranks_start -b 1M -e 1M -n 2 -w 0 -k 10 --input "$data/gradients/cnn-it100-w%r.npy.gz" --timeout 20s --json
good "allreduce over NICs over WireGuard"
expect "packets of the allreduce compressed" "$(stat_of 2 .tx.rules[0].compressed)" -gt $((before + 50))
net=10.90.0
ranks_start -b 1M -e 1M -n 2 -w 0 --input "$testbed_dir/loud.f32" --timeout 20s --json
good "allreduce over WireGuard"
testbed_start 0 \
    "$gradnic" switch -q -c "$testbed_dir/switch.sock" -u root -l "$(inside 0):7900" >"$testbed_dir/nic-switch.log" 2>&1
for ((i = 0; i < 100; i++)); do testbed_run 0 ss -Hltn 'sport = :7900' | grep . >/dev/null && break; sleep 0.05; done
ranks_start -b 1M -e 1M -n 2 -w 0 -p dense --input "$data/gradients/cnn-it100-w%r.npy.gz" --timeout 20s --json \
    --algorithm switch --switch "$(inside 0):7900"
good "allreduce at a switch over WireGuard"

kill "$outside" "$inside_pid"
wait "$outside" "$inside_pid" 2>/dev/null
seen=$(tcpdump -nn -r "$testbed_dir/outside.pcap" 2>/dev/null | wc -l)
expect "packets on the link" "$seen" -gt 1000
others=$testbed_dir/others
tcpdump -nn -r "$testbed_dir/outside.pcap" 'not (udp port 51820 or arp or igmp)' >"$others" 2>/dev/null
[ ! -s "$others" ] || fail "packets on the link that are not WireGuard's: $(head -n 5 "$others")"
pattern='\xca\xf2\x49\x71\xca\xf2\x49\x71\xca\xf2\x49\x71'
LC_ALL=C grep -qaP "$pattern" "$testbed_dir/inside.pcap" ||
    fail "the gradient is not in the tunnel: the test proves nothing"
LC_ALL=C grep -qaP "$pattern" "$testbed_dir/outside.pcap" && fail "the gradient is on the link"
exit 0
