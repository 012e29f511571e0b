#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A NIC without any privilege, on persistent devices that root made for it beforehand.
# shellcheck source=tests/net/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

begin 2
for host in 1 2; do
    testbed_nic_stop "$host"
    ns=$(testbed_netns "$host")
    ip -n "$ns" tuntap add dev gnp0 mode tun vnet_hdr user nobody || fail "persistent device"
    ip -n "$ns" link set gnp0 mtu 1464 up || fail "persistent device up"
    ip -n "$ns" addr add "10.77.0.$host/24" dev gnp0 || fail "address of the persistent device"
    install -d -o nobody "$testbed_dir/own$host"
    other=$((3 - host))
    # Debian lets everybody open /dev/net/tun; where it does not, the test brings a node of its own.
    mknod -m 666 "$testbed_dir/tun$host" c 10 200 || fail "mknod"
    # shellcheck disable=SC2016  # expanded by the inner shell
    testbed_start "$host" unshare -m sh -c 'mount --bind "$0" /dev/net/tun && exec "$@"' "$testbed_dir/tun$host" setpriv --reuid nobody --regid nogroup --clear-groups --no-new-privs --inh-caps=-all --bounding-set=-all \
        "$gradnic" nic -q --existing -d gnp0 -c "$testbed_dir/own$host/nic.sock" -P "10.77.0.$other/32=$(testbed_link_address $other)"
    nic=$testbed_pid
done
for ((i = 0; i < 100; i++)); do
    testbed_run 1 ping -c 1 -W 1 -q 10.77.0.2 >/dev/null 2>&1 && break
    kill -0 "$nic" 2>/dev/null || fail "the NIC ended"
    sleep 0.05
done
serve 2 -i "$grads" -k 10
stream 1 10.77.0.2 -i "$grads" --tos 0x28 -t 1
kill "$nic"
wait "$nic" || fail "exit status $?"
ip -n "$(testbed_netns 2)" link show gnp0 >/dev/null || fail "the persistent device is gone"
[ ! -e "$testbed_dir/own2/nic.sock" ] || fail "the control socket is still there"

# Without --existing it is somebody else's: root's NIC changes nothing of it.
about() { ip -n "$(testbed_netns 2)" -d addr show dev gnp0 | sed 's/state [A-Z]*//'; }
before=$(about)
testbed_run 2 timeout 10 "$gradnic" nic -q -d gnp0 -c none -a 10.78.0.1/24 -P 10.78.0.2/32=192.0.2.9 --mtu 1400 \
    >"$testbed_dir/taken" 2>&1
expect "status of a NIC with somebody's device" $? -eq 1
grep -q 'gnp0: .*there is such a device: -d names another one; --existing uses it' "$testbed_dir/taken" ||
    fail "the message: $(cat "$testbed_dir/taken")"
[ "$(about)" = "$before" ] || fail "somebody's device was changed: $(about)"
