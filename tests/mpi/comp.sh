#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# MPI_*_comp compress in a program that is linked with the library, and only where they may. Ranks
# whose variables differ do not wait for one another: MPI does their sums.
# shellcheck source=tests/mpi/lib.sh
. "$(dirname "$0")/lib.sh"

plain 3 env GRADNIC_SUMMARY=1 "$PROGRAMS/comp" >out 2>&1 || fail "$(cat out)"
grep -E "took [0-9]+ calls .*\(([2-9]|1\.[1-9])[0-9.]* times fewer\); a sum of float is at most 3 x 2\^-10 off" out >/dev/null ||
    fail "summary: $(cat out)"
plain 2 env GRADNIC_MPI=no "$PROGRAMS/comp" exact >out 2>&1 || fail "GRADNIC_MPI=no: $(cat out)"
# shellcheck disable=SC2016 # the shell of each rank does it
for odd in GRADNIC_BOUND=2^-9 GRADNIC_CODEC=lattice; do
    plain 2 sh -c '[ $((OMPI_COMM_WORLD_RANK + PMI_RANK)) -ne 1 ] || export "$1"; exec "$0" exact' \
        "$PROGRAMS/comp" "$odd" >out 2>&1 || fail "$odd at one rank: $(cat out)"
    grep "MPI does this communicator's sums" out >/dev/null || fail "$odd at one rank: not said: $(cat out)"
done
