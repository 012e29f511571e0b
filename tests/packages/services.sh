#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# services.sh ROOT: from the packages that are installed in the folder ROOT alone: two NICs and a
# switch, each on a host in a network namespace. systemd does not run there. So the lines ExecStart
# of their units run, as the account and with the capabilities that the units name. Then a gradient
# goes through the NICs, and sums through the switch.
root=$1
GRADNIC=$root/usr/bin/gradnic
# shellcheck source=tests/net/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../net/lib.sh"
begin 3 --no-nic
uid=$(chroot "$root" id -u gradnic) gid=$(chroot "$root" id -g gradnic)
mkdir -p "$root/dev/net"
[ -c "$root/dev/net/tun" ] || mknod -m 666 "$root/dev/net/tun" c 10 200 || fail "mknod"

value() { # UNIT KEY: the last value of that key
    sed -n "s/^$2=//p" "$root/lib/systemd/system/$1" | tail -n 1
}
# start HOST UNIT INSTANCE: as systemd would
start() {
    local host=$1 unit=$2 instance=$3 command rights
    command=$(value "$unit" ExecStart)
    command=${command//%i/$instance}
    rights=$(value "$unit" AmbientCapabilities)
    rights=${rights,,}
    rights=-all${rights:+,+${rights#cap_}}
    [ "$(value "$unit" User)" = gradnic ] || fail "$unit: another account"
    # RuntimeDirectory=, of the account.
    install -d -o "$uid" -g "$gid" "$root/run/$(value "$unit" RuntimeDirectory)"
    # shellcheck disable=SC2086 # the command has words
    testbed_start "$host" chroot "$root" setpriv --reuid "$uid" --regid "$gid" --clear-groups --inh-caps="$rights" \
        --ambient-caps="$rights" --bounding-set="$rights" --no-new-privs $command >"$testbed_dir/$unit.$instance.log" 2>&1
    pids+=("$testbed_pid")
}
pids=()
ready() { # HOST COMMAND...
    local i host=$1
    shift
    for ((i = 0; i < 500; i++)); do
        testbed_run "$host" chroot "$root" "$@" >/dev/null 2>&1 && return 0
        sleep 0.02
    done
    fail "it is not ready: $* $(cat "$testbed_dir"/gradnic-*.log)"
}

for host in 1 2; do
    cp "$root/usr/share/gradnic/examples/nic.conf" "$root/etc/gradnic/nic-gn$host.conf"
    sed -i -e "s|^address = .*|address = 10.77.0.$host/24|" \
        -e "s|^peer = .*|peer = 10.77.0.$((3 - host))/32=$(testbed_link_address $((3 - host)))|" "$root/etc/gradnic/nic-gn$host.conf"
    echo "control = /run/gradnic/gn$host.sock" >>"$root/etc/gradnic/nic-gn$host.conf"
    start $host gradnic-nic@.service gn$host
done
cp "$root/usr/share/gradnic/examples/switch.conf" "$root/etc/gradnic/switch.conf"
start 3 gradnic-switch.service switch
for host in 1 2; do ready $host gradnic nic status -c /run/gradnic/gn$host.sock; done
ready 3 gradnic switch status

serve 2 -i "$grads" -k 10
stream 1 10.77.0.2 -i "$grads" --tos 0x28 -t 0.5
expect "compressed by the service" "$(chroot "$root" gradnic nic stats --json -c /run/gradnic/gn1.sock | jq '.tx.rules[0].compressed')" -gt 0

rank() { # NUMBER
    testbed_run $(($1 + 1)) "$gradnic" bench allreduce --world-size 2 --rank "$1" \
        --rendezvous "tcp://$(testbed_link_address 1):5000" --algorithm switch --switch "$(testbed_link_address 3):7777" \
        -p dense -k 10 -b 1M -e 1M -n 3 --timeout 60s
}
rank 1 >"$testbed_dir/rank1" 2>&1 &
rank 0 >"$testbed_dir/rank0" 2>&1 || fail "rank 0: $(cat "$testbed_dir"/rank0 "$testbed_dir"/rank1)"
wait $! || fail "rank 1: $(cat "$testbed_dir/rank1")"
expect "sums of the service" "$(testbed_run 3 chroot "$root" gradnic switch stats --json | jq '.total.core.results')" -gt 0

# As systemd ends them.
kill "${pids[@]}"
for pid in "${pids[@]}"; do
    status=0
    wait "$pid" || status=$?
    [ "$status" -eq 0 ] || fail "a service ended with $status: $(cat "$testbed_dir"/gradnic-*.log)"
done
testbed_down
rm -r "$root/dev/net" "$root"/etc/gradnic/*.conf
find "$root/run/gradnic" -name '*.sock' | grep . && fail "sockets are left"
exit 0
