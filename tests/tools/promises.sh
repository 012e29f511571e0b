#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Each test that docs/security.md names beside a promise is registered. BUILD is the build folder.
# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"
: "${BUILD:?}"

ctest --test-dir "$BUILD" -N | sed -n 's/^ *Test *#[0-9]*: //p' >there
# The third column of the tables, from the heading on.
# shellcheck disable=SC2016  # backquotes of the page
sed -n '/^## What is promised/,/^## What is fuzzed/p' "$SOURCE/docs/security.md" |
    awk -F'|' 'NF == 5 { print $4 }' | grep -o '`[a-z0-9_*]*`' | tr -d '`' | sort -u >named
[ "$(wc -l <named)" -ge 30 ] || fail "only these tests are named: $(cat named)"
while IFS= read -r name; do
    grep -q "^${name//\*/.*}\$" there || fail "docs/security.md names the test $name, which does not exist"
done <named
echo "$(wc -l <named) tests are named, and exist"
