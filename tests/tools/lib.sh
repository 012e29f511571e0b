# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Functions for the tests of the program, to be sourced. ctest sets GRADNIC (the program) and
# SOURCE (the source tree).
#
# Behind a pipe it is "grep >/dev/null", not "grep -q". That ends at the first line, and pipefail
# then takes the writer's SIGPIPE for a failure.
set -euo pipefail
: "${GRADNIC:?run this through ctest}" "${SOURCE:?}"
export PYTHONDONTWRITEBYTECODE=1
PYTHON=/usr/bin/python3 # Debian's, which has python3-numpy
DATA=$SOURCE/tests/data/gradients
export DATA PYTHON

work=$(mktemp -d "${TMPDIR:-/tmp}/gradnic-test-XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"
# What a program that is killed leaves goes with the folder.
mkdir "$work/.tmp"
export TMPDIR=$work/.tmp

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

# expect STATUS TEXT COMMAND...: the command ends with STATUS and its stderr contains TEXT
expect() {
    local status=$1 text=$2 got=0
    shift 2
    "$@" >"$work/.stdout" 2>"$work/.stderr" || got=$?
    [ "$got" -eq "$status" ] || fail "exit status $got, not $status: $*: $(cat "$work/.stderr")"
    grep -qF -- "$text" "$work/.stderr" || [ -z "$text" ] || fail "no '$text' in '$(cat "$work/.stderr")': $*"
    rm -f "$work/.stdout" "$work/.stderr"
}

same() {
    cmp "$1" "$2" || fail "$1 and $2 differ"
}

# until_holds WHAT COMMAND...: waits until the command succeeds, for 500 tries. Otherwise it fails
# with WHAT and the last lines of the log, whose name is in $said_in
until_holds() {
    local what=$1
    shift
    for _ in $(seq 500); do
        ! "$@" >/dev/null 2>&1 || return 0
        sleep 0.02
    done
    fail "$what: $([ -z "${said_in:-}" ] || tail -n 40 "$said_in")"
}

# The work folder has only the named files, and no temporary files of failed runs.
only() {
    local found wanted
    found=$(find . -mindepth 1 -not -path ./.tmp -printf '%P\n' | sort)
    wanted=$(printf '%s\n' "$@" | sort)
    [ "$found" = "$wanted" ] || fail "files: $(echo "$found" | tr '\n' ' '), not: $*"
}

# switches_at LAST: for a test with switches. Their address is $host, whose ports are free: LAST
# tells it from those of other tests. Processes in pids are killed at the end.
switches_at() {
    host=127.$((RANDOM % 200 + 20)).$((RANDOM % 200)).$1
    pids=()
    declare -gA switch_pid=()
    trap '{ kill -s KILL "${pids[@]}" || true; wait; } 2>/dev/null; rm -rf "$work"' EXIT
}

# switch_start NAME PORT ARGUMENT...: a switch that says when it listens. Its process is
# ${switch_pid[NAME]}, its log NAME.log, its control socket NAME.sock
switch_start() {
    local name=$1 port=$2
    shift 2
    : >"$name.log"
    "$GRADNIC" switch -l "$host:$port" -c "$PWD/$name.sock" -u "$(id -un)" "$@" 2>"$name.log" &
    # shellcheck disable=SC2034 # tests read it
    switch_pid[$name]=$!
    pids+=($!)
    said_in=$name.log until_holds "$name does not listen" grep listening "$name.log"
}
