#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A NIC with the rights that its systemd unit gives it: an account without root, one capability, a
# folder for its socket. It carries packets, reads its file again, and leaves nothing behind.
# shellcheck source=tests/net/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
command -v setpriv >/dev/null || { echo "CANNOT: setpriv is missing (package util-linux)" >&2; exit 77; }

unit=$here/../../packaging/systemd/gradnic-nic@.service.in
rights='^AmbientCapabilities=CAP_NET_ADMIN$\|^CapabilityBoundingSet=CAP_NET_ADMIN$\|^NoNewPrivileges=yes$'
[ "$(grep -c "$rights" "$unit")" -eq 3 ] || fail "the unit gives other rights than this test"
begin 2
conf=$testbed_dir/nic.conf run=$testbed_dir/run
chmod a+rx "$testbed_dir"
install -d -o nobody "$run"
mknod -m 666 "$testbed_dir/tun" c 10 200 || fail "a node of its own for /dev/net/tun"

# as_unit NAME COMMAND...: in host 1, with the unit's rights
as_unit() {
    local name=$1
    shift
    # shellcheck disable=SC2016  # sh expands it
    testbed_start 1 unshare -m sh -c 'mount --bind "$0" /dev/net/tun && exec "$@"' "$testbed_dir/tun" \
        setpriv --reuid nobody --regid nogroup --clear-groups \
        --inh-caps=-all,+net_admin --ambient-caps=-all,+net_admin --bounding-set=-all,+net_admin --no-new-privs "$@" \
        >"$testbed_dir/$name.log" 2>&1
}
ask() { "$gradnic" nic "$1" -c "$run/gn0.sock" --json; }
until_up() {
    local i
    for ((i = 0; i < 250; i++)); do
        ask status >/dev/null 2>&1 && return 0
        sleep 0.02
    done
    fail "it did not start: $(cat "$testbed_dir"/*.log)"
}
state() { testbed_run 1 sh -c 'ip rule; ip route show table all; ip -br link show' | grep -v wire0; }

testbed_nic_stop 1
before=$(state)
cat >"$conf" <<E
address = 10.77.0.1/24
peer = 10.77.0.2/32=$(testbed_link_address 2)
control = $run/gn0.sock
E
chmod a+r "$conf"
as_unit unit "$gradnic" nic --config "$conf" --device gn0
pid=$testbed_pid
until_up
grep -q '^CapEff:.0000000000000000$' "/proc/$pid/status" || fail "it keeps rights: $(grep Cap "/proc/$pid/status")"
grep -q '^CapPrm:.0000000000000000$' "/proc/$pid/status" || fail "it keeps rights: $(grep Cap "/proc/$pid/status")"
serve 2 -i "$grads" -k 10
stream 1 "$(testbed_address 2)" -i "$grads" --tos 0x28 -t 0.5
expect "compressed" "$(ask stats | jq '.tx.rules[0].compressed')" -gt 0
echo 'bound = 12' >>"$conf"
kill -HUP "$pid"
for ((i = 0; i < 250; i++)); do ask status | jq -e '.rules[0] | test("k=12")' >/dev/null && break; sleep 0.02; done
expect "reloads" "$i" -lt 250
kill "$pid"
wait "$pid" || fail "it ended with $?: $(cat "$testbed_dir/unit.log")"
[ ! -e "$run/gn0.sock" ] || fail "its socket is still there"
left=$(diff <(echo "$before") <(state)) || fail "left behind: $left"

# With a policy rule of its own, which it has to remove at the end. Kernels before 6.12 have none.
printf 'steer = mark\npeer = 10.78.0.2/32=10.78.0.2\ncontrol = %s/gn0.sock\n' "$run" >"$conf"
as_unit steer "$gradnic" nic --config "$conf" --device gn0
pid=$testbed_pid
until_up
state | grep -q 18766 || fail "no policy rule"
kill "$pid"
wait "$pid" || fail "it ended with $?: $(cat "$testbed_dir/steer.log")"
left=$(diff <(echo "$before") <(state)) || fail "left behind by --steer: $left"
