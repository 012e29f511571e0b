#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# MPI_*_comp compress in a program that is linked with the library, and only where they may.
# shellcheck source=tests/mpi/lib.sh
. "$(dirname "$0")/lib.sh"

plain 3 env GRADNIC_SUMMARY=1 "$PROGRAMS/comp" >out 2>&1 || fail "$(cat out)"
grep -E "took [0-9]+ calls .*\(([2-9]|1\.[1-9])[0-9.]* times fewer\); a sum of float is at most 3 x 2\^-10 off" out >/dev/null ||
    fail "summary: $(cat out)"
plain 2 env GRADNIC_MPI=no "$PROGRAMS/comp" exact >out 2>&1 || fail "GRADNIC_MPI=no: $(cat out)"
