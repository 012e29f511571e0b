# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Functions for the tests of the preload, to be sourced. ctest sets LAUNCHER (mpirun of the MPI),
# NAME (openmpi, mpich or abi), PRELOAD (the library) and PROGRAMS (the folder of the tests'
# programs), GRADNIC (the command), and OTHER, the library for another MPI, where there is one.
set -euo pipefail
: "${LAUNCHER:?run this through ctest}" "${NAME:?}" "${PRELOAD:?}" "${PROGRAMS:?}"

work=$(mktemp -d "${TMPDIR:-/tmp}/gradnic-mpi-XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"
# Nothing of the caller's changes what is tested.
while IFS= read -r variable; do unset "$variable"; done < <(compgen -e GRADNIC_ || true)
unset RANK WORLD_SIZE MASTER_ADDR MASTER_PORT
start=("$LAUNCHER")
if [ "$NAME" = openmpi ]; then
    start+=(--oversubscribe)
    [ "$(id -u)" -ne 0 ] || start+=(--allow-run-as-root)
fi

# MPICH's ranks spin, so with more ranks than cores its programs take minutes.
case "$NAME" in
openmpi) sizes=(1 2 3 5) ;;
mpich) sizes=(1 2 3) ;;
*) sizes=(1 2) ;;
esac
# shellcheck disable=SC2034 # tests use it
few=${sizes[2]:-2}

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

# plain COUNT PROGRAM...: ranks without the preload, for at most 100 s
plain() {
    local count=$1
    shift
    timeout -k 5 100 "${start[@]}" -n "$count" "$@"
}

# preloaded COUNT VARIABLE=VALUE... PROGRAM...: ranks with it, and with these variables
preloaded() {
    local count=$1
    shift
    plain "$count" env "LD_PRELOAD=$PRELOAD" "$@"
}
