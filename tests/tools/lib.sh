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

# The work folder has only the named files, and no temporary files of failed runs.
only() {
    local found wanted
    found=$(find . -mindepth 1 -printf '%P\n' | sort)
    wanted=$(printf '%s\n' "$@" | sort)
    [ "$found" = "$wanted" ] || fail "files: $(echo "$found" | tr '\n' ' '), not: $*"
}
