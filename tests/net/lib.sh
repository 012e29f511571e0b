# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# shellcheck disable=SC2034  # variables that the tests read
# What the namespace tests share. GRADNIC names the program, GN_TEST_DATA the folder of inputs.
# GN_LONG=1 makes tests thorough.
set -u
# shellcheck source=scripts/testbed
source "$(dirname "${BASH_SOURCE[0]}")/../../scripts/testbed"
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/net/possible.sh
source "$here/possible.sh"
data=${GN_TEST_DATA:-$here/../data}
grads=$data/gradients/cnn-it100-w0.npy.gz
gradnic=$testbed_gradnic

fail() {
    echo "FAIL: $*" >&2
    for log in "${testbed_dir:-/nowhere}"/nic*.log; do [ ! -s "$log" ] || sed "s|^|${log##*/}: |" "$log" >&2; done
    exit 1
}
expect() { # expect WHAT A OP B
    test "$2" "$3" "$4" || fail "$1: $2 $3 $4 does not hold"
}
stat_of() { testbed_stats "$1" | jq -e "$2" || fail "host $1 has no counter $2"; }

begin() {
    need_namespaces
    testbed_up "$@" || fail "the testbed did not come up"
}

# serve HOST [ARGS]: a far end for stream() on that host
serve() {
    local host=$1 i
    shift
    testbed_start "$host" "$gradnic" bench nic --serve "$@"
    for ((i = 0; i < 100; i++)); do
        testbed_run "$host" ss -Hltn 'sport = :7801' | grep -q . && return 0
        sleep 0.02
    done
    fail "the far end on host $host did not start"
}
# stream HOST ADDRESS ARGS: sends for a while. Fails unless everything arrived (within the server's
# bound).
stream() {
    local host=$1
    shift
    testbed_run "$host" "$gradnic" bench nic "$@" || fail "stream from host $host to $1"
}
