#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# How the captures of this folder were made: tcpdump between two namespaces, while the kernel's TCP
# carries a gradient's float bytes. Needs root. The script is not part of any test; the captures
# are.
#     capture.sh OUT.pcap off     packets as on a wire: no offloads, complete checksums
#     capture.sh OUT.pcap on      packets as a NIC gets them: segments above the MTU, and
#                                 partial checksums
set -euo pipefail
out=$(realpath -m "$1") offload=$2
here=$(dirname "$(realpath "$0")")
a=frame-a b=frame-b
cleanup() { ip netns del $a 2>/dev/null || true; ip netns del $b 2>/dev/null || true; }
trap cleanup EXIT
cleanup
ip netns add $a && ip netns add $b
ip link add va netns $a type veth peer name vb netns $b
for side in a b; do
    ns=frame-$side dev=v$side
    ip -n $ns link set lo up
    case $side in a) n=1 ;; b) n=2 ;; esac
    ip -n $ns addr add "10.77.0.$n/24" dev $dev
    ip -n $ns addr add "fd77::$n/64" dev $dev nodad
    ip -n $ns link set $dev up
    ip netns exec $ns ethtool -K $dev tx "$offload" sg "$offload" tso "$offload" gso "$offload" gro "$offload" >/dev/null
    ip netns exec $ns sysctl -qw net.ipv4.tcp_ecn=1
done
sleep 1
ip netns exec $a tcpdump -q -i va -s 0 -w "$out" -U --immediate-mode 'ip or ip6 or arp' 2>/dev/null &
dump=$!
sleep 1
ip netns exec $b python3 "$here/transfer.py" receive &
receiver=$!
sleep 0.5
ip netns exec $a ping -q -c 2 10.77.0.2 >/dev/null
ip netns exec $a python3 "$here/transfer.py" send "$here/../gradients/cnn-it100-w0.npy.gz" "$([ "$offload" = on ] && echo 4 || echo 1)"
wait $receiver
sleep 0.5
kill -INT $dump
wait $dump || true
ls -l "$out"
