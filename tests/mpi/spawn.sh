#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Ranks with the preload start others that may be without it. Sums of both are MPI's.
# shellcheck source=tests/mpi/lib.sh
. "$(dirname "$0")/lib.sh"

preloaded 2 GRADNIC_SUMMARY=1 "$PROGRAMS/spawn" >out 2>&1 || fail "$(cat out)"
[ "$(grep -c 'sums are right' out)" -eq 4 ] || fail "not all four: $(cat out)"
grep 'parent with: ' out >/dev/null || fail "the parents were without the preload: $(cat out)"
grep '^gradnic: rank 0: took 1 calls' out >/dev/null || fail "what they sum alone was not taken: $(cat out)"
