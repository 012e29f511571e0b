#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The results in docs/lab/results that do not depend on the machine are still what this build gives,
# so ratios, errors and the example of bit planes in the documents are those of the code.
# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"
: "${BUILD:?}"

"$SOURCE/bench/measure" --build "$BUILD" --output "$work/found" ratio choices planes estimate 2>measure.log ||
    fail "bench/measure: $(cat measure.log)"
for name in ratio choices planes estimate; do
    jq -S .results "$SOURCE/docs/lab/results/$name.json" >"$name.committed"
    jq -S .results "found/$name.json" >"$name.found"
    diff "$name.committed" "$name.found" >difference ||
        fail "$name: run bench/measure $name and scripts/figures: $(head -n 6 difference)"
done
