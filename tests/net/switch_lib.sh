# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154  # variables that callers read, and those of scripts/testbed
# A software switch where the hosts of a testbed meet, and a worker on each host. SWITCH_CLIENT
# names tests/switch/switch_client.
set -u
# shellcheck source=scripts/testbed
source "$(dirname "${BASH_SOURCE[0]}")/../../scripts/testbed"
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/net/possible.sh
source "$here/possible.sh"
switch_address=10.78.0.250
: "${SWITCH_CLIENT:=$testbed_root/build/release/tests/switch/switch_client}"

fail() {
    echo "FAIL: $*" >&2
    for log in "${testbed_dir:-/nowhere}"/*.out "${testbed_dir:-/nowhere}"/*.err "${testbed_dir:-/nowhere}"/switch.log; do [ ! -s "$log" ] || sed "s|^|${log##*/}: |" "$log" >&2; done
    exit 1
}
expect() { # expect WHAT A OP B
    test "$2" "$3" "$4" || fail "$1: $2 $3 $4 does not hold"
}

# begin HOSTS [OPTION...]: the testbed without NICs, and an address for the switch
begin() {
    local hosts=$1
    shift
    need_namespaces
    testbed_up "$hosts" --no-nic "$@" || fail "the testbed did not come up"
    ip -n "$(testbed_netns 0)" link set lo up || fail "the switch's own loopback"
    ip -n "$(testbed_netns 0)" addr add "$switch_address/24" dev br0 || fail "the switch's address"
}

# switch_start [ARGS]
switch_start() {
    local i
    testbed_start 0 "$testbed_gradnic" switch -l "$switch_address" -c "$testbed_dir/switch.sock" "$@" >>"$testbed_dir/switch.log" 2>&1
    switch_pid=$testbed_pid
    for ((i = 0; i < 100; i++)); do
        switch_ask status >/dev/null 2>&1 && return 0
        sleep 0.05
    done
    fail "the switch did not start"
}
# switch_stop [SIGNAL]: exit status in $switch_status
switch_stop() {
    switch_status=0
    kill -s "${1:-TERM}" "$switch_pid"
    wait "$switch_pid" 2>/dev/null || switch_status=$?
}
switch_ask() { "$testbed_gradnic" switch "$1" -c "$testbed_dir/switch.sock" "${@:2}"; }
switch_stat() { switch_ask stats --json | jq -e "$1" || fail "the switch has no counter $1"; }

# worker HOST NAME RANK RANKS [OPTION VALUE]...: in the background. Its process is in $testbed_pid,
# its output in NAME-RANK.out.
worker() {
    local host=$1 name=$2 rank=$3
    shift
    testbed_start "$host" "$SWITCH_CLIENT" "$switch_address" 7777 "$@" >"$testbed_dir/$name-$rank.out" 2>"$testbed_dir/$name-$rank.err"
}
# workers FIRST-HOST NAME RANKS [OPTION VALUE]...: one on each host, from the first on. The
# processes are in ${pids[@]}.
workers() {
    local first=$1 name=$2 ranks=$3 rank
    shift 3
    pids=()
    for ((rank = 0; rank < ranks; rank++)); do
        worker $((first + rank)) "$name" "$rank" "$ranks" "$@"
        pids+=("$testbed_pid")
    done
}
# workers_good NAME: waits for ${pids[@]}; all sums were right and the same everywhere
workers_good() {
    local rank hash='' this
    for rank in "${!pids[@]}"; do
        wait "${pids[$rank]}" || fail "worker $rank of $1"
        this=$(jq .hash "$testbed_dir/$1-$rank.out")
        [ -z "$hash" ] || [ "$hash" = "$this" ] || fail "worker $rank of $1 has other sums"
        hash=$this
    done
}
result() { jq -r ".$2" "$testbed_dir/$1.out"; } # result NAME-RANK MEMBER

# until_running NAME: waits until the switch runs the job
until_running() {
    local i
    for ((i = 0; i < 200; i++)); do
        switch_ask jobs --json | jq -e --arg job "$1" '.jobs[] | select(.job == $job and .state == "running")' >/dev/null && return 0
        sleep 0.02
    done
    fail "job $1 does not run"
}
