#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Programs with sessions of MPI 4: with them alone, and with MPI_Init() as well.
# shellcheck source=tests/mpi/lib.sh
. "$(dirname "$0")/lib.sh"

preloaded 2 GRADNIC_SUMMARY=1 "$PROGRAMS/session" alone >out 2>&1 || fail "alone: $(cat out)"
[ "$(grep -c '^gradnic: rank 0: took 1 calls' out)" -eq 1 ] || fail "the summary of a session: $(cat out)"
preloaded 2 GRADNIC_SUMMARY=1 "$PROGRAMS/session" within >out 2>&1 || fail "with MPI_Init(): $(cat out)"
[ "$(grep '^gradnic: rank 0: took' out | cut -d , -f 1)" = "gradnic: rank 0: took 2 calls with 800000 bytes" ] ||
    fail "the summary of both: $(cat out)"
preloaded 2 GRADNIC_BOUND=x "$PROGRAMS/session" alone >out 2>&1 && fail "a wrong bound was taken: $(cat out)"
grep "^gradnic: process [0-9]*: GRADNIC_BOUND is 'x'" out >/dev/null || fail "why: $(cat out)"
