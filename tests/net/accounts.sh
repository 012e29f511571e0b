#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# NIC and switch become another account when root has started them, without any right of root's and
# any group of the caller's. The folder of their control sockets is root's. Clients do not ask a
# stranger's socket.
# shellcheck source=tests/net/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

begin 2
testbed_nic_stop 1
passwd=$testbed_dir/passwd
{ cat /etc/passwd; echo 'gradnic:x:63123:63124::/nonexistent:/usr/sbin/nologin'; } >"$passwd"

# daemon WHAT CONTROL COMMAND...: starts it in host 1, with groups that it has to lose, in a mount
# namespace where /etc/passwd has an account gradnic if $with is set, and /run is empty
with=''
daemon() {
    local what=$1 i
    control=$2
    shift 2
    # shellcheck disable=SC2016  # expanded by the inner shell
    testbed_start 1 setpriv --groups 4,20 unshare -m sh -c '
        mount -t tmpfs none /run && [ -z "$2" ] || install -d -o "$2" -m 755 /run/gradnic
        [ -z "$0" ] || mount --bind "$1" /etc/passwd || exit 9
        shift 2; exec "$@"' "$with" "$passwd" "${old:-}" \
            "$gradnic" "$what" -c "$control" "$@" 2>"$testbed_dir/daemon.err"
    pid=$testbed_pid
    for ((i = 0; i < 100; i++)); do
        ask status >/dev/null 2>&1 && return 0
        kill -0 "$pid" 2>/dev/null || fail "$what: $(cat "$testbed_dir/daemon.err")"
        sleep 0.02
    done
    fail "$what does not answer at $control"
}
ask() { nsenter -t "$pid" -m "$gradnic" "$what" "$@" -c "$control"; }
ends() {
    kill "$pid"
    wait "$pid" || fail "$what: exit status $?"
}
is() { # is UID GID: who the daemon is, and that it may nothing
    local line
    for line in "Uid:.$1.$1.$1.$1" "Gid:.$2.$2.$2.$2" 'Groups:[[:space:]]*' 'CapInh:.0*' 'CapPrm:.0*' 'CapEff:.0*' \
        'CapBnd:.0*' 'CapAmb:.0*' 'NoNewPrivs:.1'; do
        grep -q "^$line\$" "/proc/$pid/status" ||
            fail "$what: not $line: $(grep -E '^(Uid|Gid|Groups|Cap|NoNew)' "/proc/$pid/status")"
    done
}

for what in nic switch; do
    own=(-l 127.0.0.1:7801)
    [ $what = switch ] ||
        own=(-q -d gn5 -a 10.99.0.1/24 -P "10.99.0.2/32=$(testbed_link_address 2)" -l "$(testbed_link_address 1):7805")
    with='' daemon $what /run/gradnic/x.sock "${own[@]}"
    if id gradnic >/dev/null 2>&1; then is "$(id -u gradnic)" "$(id -g gradnic)"; else is 65534 65534; fi
    # The folder is root's, and nobody else can put a socket there.
    expect "$what: owner of the folder" "$(nsenter -t "$pid" -m stat -c %u:%g:%a /run/gradnic)" = 0:0:755
    expect "$what: owner of the socket" "$(nsenter -t "$pid" -m stat -c %a /run/gradnic/x.sock)" = 600
    ends
    with='' daemon $what /run/gradnic/x.sock "${own[@]}" --user daemon
    is "$(id -u daemon)" "$(id -g daemon)"
    ends
    with=1 daemon $what /run/gradnic/x.sock "${own[@]}"
    is 63123 63124
    expect "$what: owner of the socket" "$(nsenter -t "$pid" -m stat -c %u:%a /run/gradnic/x.sock)" = 63123:600
    ends
    # A folder that an older version gave to its account is taken back.
    with='' old=nobody daemon $what /run/gradnic/x.sock "${own[@]}"
    expect "$what: owner of the old folder" "$(nsenter -t "$pid" -m stat -c %u:%g:%a /run/gradnic)" = 0:0:755
    ends
done

# Folders where strangers could put a socket of their own.
refused() { # refused TEXT FOLDER
    testbed_run 1 timeout 10 "$gradnic" switch -q -l 127.0.0.1:7801 -c "$2/x.sock" 2>"$testbed_dir/refusal"
    expect "exit status with $2" $? -eq 1
    grep -q "$1" "$testbed_dir/refusal" || fail "$2: $(cat "$testbed_dir/refusal")"
    [ -z "$(ls -A "$2")" ] || fail "something was made in $2"
}
install -d -m 777 "$testbed_dir/open"
refused 'others can write into its folder' "$testbed_dir/open"
install -d -m 775 -g daemon "$testbed_dir/group"
refused 'others can write into its folder' "$testbed_dir/group"
install -d -o daemon "$testbed_dir/daemons"
refused 'its folder belongs to account daemon' "$testbed_dir/daemons"
what=switch old='' with=''
install -d -m 1777 "$testbed_dir/sticky"
daemon switch "$testbed_dir/sticky/x.sock" -q -l 127.0.0.1:7801
ends

# A stranger's socket is not asked.
chmod 711 "$testbed_dir"
setpriv --reuid daemon --regid daemon --clear-groups /usr/bin/python3 - "$testbed_dir/daemons/s.sock" <<'P' &
import os, socket, sys
s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); os.chmod(sys.argv[1], 0o777); s.listen()
s.settimeout(20)
for i in range(2):
    c = s.accept()[0]
    c.settimeout(5)
    if c.recv(1000): open(sys.argv[1] + ".asked", "w")
P
stranger=$!
for ((i = 0; i < 200; i++)); do [ -S "$testbed_dir/daemons/s.sock" ] && break; sleep 0.02; done
for what in nic switch; do
    "$gradnic" $what status -c "$testbed_dir/daemons/s.sock" >"$testbed_dir/said" 2>&1
    expect "exit status of $what status" $? -eq 1
    grep -q 's.sock: account daemon listens there, and not root, .* or you: its .* is not asked' "$testbed_dir/said" ||
        fail "a stranger was asked: $(cat "$testbed_dir/said")"
done
wait $stranger || fail "the stranger: $?"
[ ! -e "$testbed_dir/daemons/s.sock.asked" ] || fail "a stranger got a request"
