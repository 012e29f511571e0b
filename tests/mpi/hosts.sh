#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Two hosts, as namespaces, with links of 1 Gbit/s: the preload sums over the network, compressed,
# and finds the other rank through MPI. MPICH only: Open MPI's ranks want a daemon on each host.
# shellcheck source=tests/mpi/lib.sh
. "$(dirname "$0")/lib.sh"
: "${EXAMPLES:?}"
# shellcheck source=scripts/testbed
. "$(dirname "$0")/../../scripts/testbed"
# shellcheck source=tests/net/possible.sh
. "$(dirname "$0")/../net/possible.sh"

need_namespaces
"mpicc.$NAME" -O2 "$EXAMPLES/average.c" -o average -lm
trap 'testbed_down; rm -rf "$work"' EXIT
testbed_up 2 --no-nic --rate 1gbit || fail "no hosts"
first=$(testbed_address 1)

rank() { # rank HOST: what the launcher starts there
    echo "-n 1 ip netns exec $(testbed_netns "$1") env LD_PRELOAD=$PRELOAD MPIR_CVAR_NOLOCAL=1 FI_PROVIDER=tcp" \
        "GRADNIC_SHARED_MEMORY=no GRADNIC_INTERFACE=${first%.*}.0/24 GRADNIC_BOUND=2^-10 GRADNIC_SUMMARY=1 ./average"
}
read -ra command <<<"$(rank 1) : $(rank 2)"
timeout -k 5 100 "$LAUNCHER" "${command[@]}" >out 2>&1 || fail "$(cat out)"
grep "took 1 calls with 4194304 bytes, left 0 to MPI; sent .* as .* (2\.[0-9]* times fewer)" out >/dev/null ||
    fail "not compressed: $(cat out)"
