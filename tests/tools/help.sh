#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every command, at every level, has --help, --usage, --version and a man page. Unknown commands
# and unknown options are wrong usage.
# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"

# Examples and columns behind the options are indented and stay lines. argp breaks none of them,
# and troff reports nothing.
check_page() { # PAGE
    sed '1,/^for any corresponding short options\.$/d' help >behind
    ! grep -A1 '^  ' behind | grep -E '^[^ -]' || fail "$1: argp broke an indented line"
    if command -v man >/dev/null && command -v groff >/dev/null; then
        MANWIDTH=80 LC_ALL=C man --warnings -l "$1" >page 2>warnings || fail "man $1"
        [ ! -s warnings ] || fail "$1: $(head -n 3 warnings)"
        sed -n 's/^  //p' behind >wanted
        # Finds a line with any indentation. Not in a pipe, because grep -q would end before sed.
        sed 's/^ *//' page >flat
        while IFS= read -r line; do
            grep -qxF -- "${line#"${line%%[! ]*}"}" flat || fail "$1: no line '$line'"
        done <wanted
    fi
}

walk() { # COMMAND...
    local name sub
    "$GRADNIC" "$@" --help >help || fail "$* --help"
    grep -q '^Usage: gradnic' help || fail "$* --help has no usage"
    [ "$("$GRADNIC" "$@" --version)" = "$("$GRADNIC" --version)" ] || fail "$* --version"
    expect 2 "" "$GRADNIC" "$@" --no-such-option
    # An option whose argument can be left out by mistake would meet a NULL.
    ! grep -oE -- '--[a-z0-9-]+\[=' help | grep -vxE -- '--(csv|json|listen)\[=' || fail "$*: an argument may be left out"
    [ $# -eq 0 ] || "$GRADNIC" help "$@" | cmp - help || fail "help $*"
    name=gradnic$(printf -- '-%s' "$@" | sed 's/^-$//')
    [ -z "${MAN:-}" ] || [ -s "$MAN/$name.1" ] || fail "no man page $name.1"
    [ -z "${MAN:-}" ] || check_page "$MAN/$name.1"
    count=$((count + 1))
    local below
    mapfile -t below < <(sed -n '/^Commands:$/,/^$/s/^  \([a-z][a-z0-9-]*\) .*/\1/p' help)
    for sub in "${below[@]}"; do walk "$@" "$sub"; done
}
count=0
walk
[ "$count" -gt 4 ] || fail "only $count commands found"
expect 2 "'nonsense' is not a command" "$GRADNIC" nonsense
expect 2 "'nonsense' is not a command" "$GRADNIC" help nonsense
echo "$count commands"

# Control characters of a command line do nothing to the terminal.
red=$'\e[31m'
for words in "$red" "train --$red" "train -$red" "train -k $red" "switch --$red" "nic --mtu $red" "bench $red" \
    "ratio --k$red=3" "nic status --$red"; do
    # shellcheck disable=SC2086 # $words are words
    expect 2 '\x1b' "$GRADNIC" $words
    # shellcheck disable=SC2086
    ! "$GRADNIC" $words 2>&1 | grep -q $'\e' || fail "control characters of '${words//$red/ESC}' reach the terminal"
done

# A failed write is a failure.
for words in --help --version "ratio --help" "compress --version" "bench --help"; do
    # shellcheck disable=SC2016,SC2086 # bash -c expands the one, $words are words
    expect 1 "standard output: No space left on device" bash -c '"$GRADNIC" "$@" >/dev/full' bash $words
done
