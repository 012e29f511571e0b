#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# MPI_Reduce and both forms of MPI_Reduce_scatter return what MPI does, whether preloaded or not.
# shellcheck source=tests/mpi/lib.sh
. "$(dirname "$0")/lib.sh"

plain 2 "$PROGRAMS/reductions" >out 2>&1 || fail "without the preload: $(cat out)"
for ranks in "${sizes[@]}"; do
    preloaded "$ranks" GRADNIC_MIN_BYTES=4096 GRADNIC_SUMMARY=yes "$PROGRAMS/reductions" >out 2>&1 || fail "$ranks ranks: $(cat out)"
    [ "$ranks" -eq 1 ] || ! grep "took 0 calls" out || fail "no call was taken"
    ! grep "left 0 to MPI" out || fail "all calls were taken"
done
# The least size of each call, and what is no sum.
preloaded 2 GRADNIC_MIN_BYTES=4096 GRADNIC_SUMMARY=yes "$PROGRAMS/reductions" counted >out 2>&1 || fail "counted: $(cat out)"
grep "^gradnic: rank 0: took 6 calls with 331776 bytes, left 6 to MPI; sent" out >/dev/null || fail "counted: $(cat out)"
