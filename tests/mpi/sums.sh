#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sums of random types, operations and sizes are MPI's, with and without the preload, whatever the
# number of ranks. Calls are taken, and some are left.
# shellcheck source=tests/mpi/lib.sh
. "$(dirname "$0")/lib.sh"

plain 2 "$PROGRAMS/sums" >out 2>&1 || fail "without the preload: $(cat out)"
! grep gradnic out || fail "gradnic is there without the preload"
for ranks in "${sizes[@]}"; do
    preloaded "$ranks" GRADNIC_SUMMARY=yes "$PROGRAMS/sums" >out 2>&1 || fail "$ranks ranks: $(cat out)"
    grep "^gradnic: rank 0: took " out >/dev/null || fail "no summary: $(cat out)"
    [ "$ranks" -eq 1 ] || ! grep "took 0 calls" out || fail "no call was taken"
    [ "$ranks" -ne 1 ] || grep "took 0 calls" out >/dev/null || fail "alone, there is nothing to take: $(cat out)"
    ! grep "left 0 to MPI" out || fail "all calls were taken"
done
# A threshold of each rank's own: they agree.
# shellcheck disable=SC2016 # the shell of each rank does it
preloaded "$few" sh -c 'GRADNIC_MIN_BYTES=$((1 + $$ % 3 * 5000)) exec "$0"' "$PROGRAMS/sums" >out 2>&1 || fail "$(cat out)"
preloaded 2 GRADNIC_MPI=no GRADNIC_SUMMARY=1 "$PROGRAMS/sums" >out 2>&1 || fail "$(cat out)"
grep "took 0 calls" out >/dev/null || fail "GRADNIC_MPI=no takes calls: $(cat out)"
