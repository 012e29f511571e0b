#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Threads with a communicator each sum at the same time, with and without the preload.
# shellcheck source=tests/mpi/lib.sh
. "$(dirname "$0")/lib.sh"

plain 2 "$PROGRAMS/threads" >out 2>&1 || fail "without the preload: $(cat out)"
preloaded 2 GRADNIC_SUMMARY=yes "$PROGRAMS/threads" >out 2>&1 || fail "2 ranks: $(cat out)"
# 3 threads with 2 communicators of 8 sums each; all are large
grep "^gradnic: rank 0: took 48 calls " out >/dev/null || fail "not all were taken: $(cat out)"
