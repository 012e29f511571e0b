#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The examples of examples/mpi, compiled as a user does, with the preload: in C, in Fortran with
# mpi_f08 and with mpif.h; and as it is in Python, if PYTHON says one that has mpi4py. Each looks at
# its own sums, and the summary says that they were taken.
# shellcheck source=tests/mpi/lib.sh
. "$(dirname "$0")/lib.sh"
: "${EXAMPLES:?}"

# taken COUNT PROGRAM...: it was right, and so many calls were taken, exact and compressed
taken() {
    local count=$1
    shift
    preloaded 3 GRADNIC_SUMMARY=1 "$@" >out 2>&1 || fail "$*: $(cat out)"
    grep "took $count calls .* left 0 to MPI" out >/dev/null || fail "$*: not taken: $(cat out)"
    preloaded 2 GRADNIC_SUMMARY=1 GRADNIC_BOUND=2^-10 "$@" >out 2>&1 || fail "$*, compressed: $(cat out)"
    grep "took $count calls .* left 0 to MPI" out >/dev/null || fail "$*, compressed: not taken: $(cat out)"
}

"mpicc.$NAME" -O2 "$EXAMPLES/average.c" -o average -lm
taken 1 ./average
"mpifort.$NAME" -O2 "$EXAMPLES/average_f08.f90" -o average_f08
taken 2 ./average_f08
"mpifort.$NAME" -O2 -w -fallow-argument-mismatch "$EXAMPLES/average_mpif.f90" -o average_mpif
taken 2 ./average_mpif
[ -z "${PYTHON:-}" ] || taken 1 "$PYTHON" "$EXAMPLES/average.py"
