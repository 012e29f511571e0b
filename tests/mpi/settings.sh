#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The bits are the library's, exact and compressed. A wrong variable is named, with the rank, and so
# is a group that cannot be made. A rank that is killed ends the job.
# shellcheck source=tests/mpi/lib.sh
. "$(dirname "$0")/lib.sh"

preloaded 3 "$PROGRAMS/bits" exact >out 2>&1 || fail "exact: $(cat out)"
preloaded 3 GRADNIC_BOUND=2^-6 "$PROGRAMS/bits" 2^-6 >out 2>&1 || fail "compressed: $(cat out)"
preloaded 3 GRADNIC_CODEC=dense GRADNIC_BOUND=2^-6 "$PROGRAMS/bits" 2^-6 >out 2>&1 || fail "codec: $(cat out)"
preloaded 3 GRADNIC_CODEC=none GRADNIC_BOUND=2^-6 "$PROGRAMS/bits" exact >out 2>&1 || fail "none: $(cat out)"
preloaded 2 GRADNIC_BOUND=2^-6 GRADNIC_CODEC=lattice GRADNIC_SCALE=auto GRADNIC_SUMMARY=yes \
    "$PROGRAMS/bits" other >out 2>&1 && fail "other bits were not noticed: $(cat out)"
grep "not the bits of the library" out >/dev/null || fail "why: $(cat out)"

# refused VARIABLE=VALUE TEXT: the job fails, and says so
refused() {
    preloaded 2 "$1" "$PROGRAMS/bits" exact >out 2>&1 && fail "$1 was taken: $(cat out)"
    grep -E "^gradnic: rank [01]: ${1%%=*} is .*$2" out >/dev/null || fail "$1: $(cat out)"
}
refused GRADNIC_BOUND=10 "want 2\^-0 to 2\^-31 with dense"
refused GRADNIC_BOUND=2^-99 "want 2\^-.* with dense"
refused GRADNIC_CODEC=zip "want dense, lattice, paper or none"
refused GRADNIC_SCALE=auto "set GRADNIC_BOUND, too"
refused GRADNIC_SCALE=much "want auto or none"
refused GRADNIC_ALGORITHM=star "want ring, direct"
refused GRADNIC_MIN_BYTES=64K "want a number"
refused GRADNIC_TIMEOUT_MS=0 "want a number"
refused GRADNIC_MPI=maybe "want yes or no"
refused GRADNIC_SUMMARY=2 "want yes or no"

# One that nothing reads is told, once, and does no harm.
preloaded 2 GRADNIC_BUOND=2^-6 "$PROGRAMS/bits" exact >out 2>&1 || fail "misspelled: $(cat out)"
[ "$(grep -c 'rank 0: GRADNIC_BUOND is set, and nothing here reads it' out)" -eq 1 ] || fail "not told: $(cat out)"

# The library of the other MPI is noticed before it does harm.
if [ -n "${OTHER:-}" ]; then
    plain 2 env "LD_PRELOAD=$OTHER" "$PROGRAMS/bits" exact >out 2>&1 && fail "the other MPI's library was taken: $(cat out)"
    grep "preload libgradnic-mpi-$NAME.so" out >/dev/null || fail "which library is not said: $(cat out)"
else
    echo "settings.sh: there is no library of another MPI: that case is SKIPPED"
fi

# Without a group, MPI does the sums, and they are right.
preloaded 2 GRADNIC_INTERFACE=gn-not-there0 GRADNIC_SUMMARY=1 "$PROGRAMS/sums" >out 2>&1 || fail "$(cat out)"
grep "gn-not-there0.*MPI does this communicator's sums" out >/dev/null || fail "not said: $(cat out)"
grep "took 0 calls" out >/dev/null || fail "taken without a group: $(cat out)"

# So it does where one rank alone has none. All hear it at once.
# shellcheck disable=SC2016 # the shell of each rank does it
preloaded 2 GRADNIC_SUMMARY=1 GRADNIC_MIN_BYTES=4096 sh -c \
    '[ $((OMPI_COMM_WORLD_RANK + PMI_RANK)) -ne 1 ] || export GRADNIC_INTERFACE=gn-not-there0; exec "$0" counted' \
    "$PROGRAMS/reductions" >out 2>&1 || fail "one rank without a group: $(cat out)"
grep "took 0 calls" out >/dev/null || fail "taken with a rank without a group: $(cat out)"
grep "rank 0: rank 1: interface 'gn-not-there0'.*MPI does" out >/dev/null || fail "why: $(cat out)"

# A switch adds float as integers. That is said, where a program may rely on its small values.
port=$((20000 + RANDOM % 10000))
"$GRADNIC" switch -l "127.0.0.1:$port" -c none >switch.log 2>&1 &
switch=$!
trap 'kill "$switch" || true; rm -rf "$work"' EXIT
for ((i = 0; i < 250; i++)); do grep listening switch.log >/dev/null && break; sleep 0.02; done
through=(GRADNIC_ALGORITHM=switch "GRADNIC_SWITCH=127.0.0.1:$port" GRADNIC_SUMMARY=1 "$PROGRAMS/sums")
preloaded 2 "${through[@]}" >out 2>&1 || true # its sums may be less than exact
[ "$(grep -c 'rank 0: the switch adds float as integers' out)" -eq 1 ] || fail "integers: $(cat out)"
grep "took [1-9].*sums of float are integers of the switch" out >/dev/null || fail "integers, in the end: $(cat out)"
preloaded 2 GRADNIC_BOUND=2^-10 "${through[@]}" >out 2>&1 || true # nor are these
grep "took [1-9].*a sum of float is at most" out >/dev/null || fail "not summed with a bound: $(cat out)"
! grep "integers" out || fail "integers with a bound: $(cat out)"
kill "$switch"
wait "$switch" || fail "the switch ended with $?"
trap 'rm -rf "$work"' EXIT

# A sum that fails is an error of MPI for the program that wants errors.
preloaded 2 GRADNIC_TIMEOUT_MS=3000 "$PROGRAMS/bits" late >out 2>&1 || fail "late: $(cat out)"

began=$SECONDS
got=0
preloaded 3 "$PROGRAMS/bits" kill >out 2>&1 || got=$?
[ "$got" -ne 0 ] || fail "a killed rank is not noticed: $(cat out)"
[ $((SECONDS - began)) -lt 95 ] || fail "the others wait for a killed rank: $(cat out)"
