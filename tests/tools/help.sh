#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every subcommand, at every level, has --help, --usage, --version and a man page; unknown ones and unknown options are wrong usage.
# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"

walk() { # COMMAND...
    local name sub
    "$GRADNIC" "$@" --help >help || fail "$* --help"
    grep -q '^Usage: gradnic' help || fail "$* --help has no usage"
    [ "$("$GRADNIC" "$@" --version)" = "$("$GRADNIC" --version)" ] || fail "$* --version"
    expect 2 "" "$GRADNIC" "$@" --no-such-option
    [ $# -eq 0 ] || "$GRADNIC" help "$@" | cmp - help || fail "help $*"
    name=gradnic$(printf -- '-%s' "$@" | sed 's/^-$//')
    [ -z "${MAN:-}" ] || [ -s "$MAN/$name.1" ] || fail "no man page $name.1"
    count=$((count + 1))
    local below
    mapfile -t below < <(sed -n '/^Commands:$/,/^$/s/^  \([a-z][a-z0-9-]*\) .*/\1/p' help)
    for sub in "${below[@]}"; do walk "$@" "$sub"; done
}
count=0
walk
[ "$count" -gt 4 ] || fail "only $count commands found"
expect 2 "'nonsense' is no command" "$GRADNIC" nonsense
expect 2 "'nonsense' is no command" "$GRADNIC" help nonsense
echo "$count commands"

# What could not be written is no success.
for words in --help --version "ratio --help" "compress --version" "bench --help"; do
    # shellcheck disable=SC2016,SC2086 # bash -c expands the one, $words are words
    expect 1 "standard output: No space left on device" bash -c '"$GRADNIC" "$@" >/dev/full' bash $words
done
