#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The demo over the Verilog NIC with the C model beside it, with two steps: every figure is there,
# and no packet differs.
set -euo pipefail
: "${GRADNIC:?run this through ctest}"
work=$(mktemp -d "${TMPDIR:-/tmp}/gradnic-test.XXXXXX")
trap 'rm -rf "$work"' EXIT
fail() { echo "FAILED: $*" >&2; exit 1; }
[ "$(id -u)" -eq 0 ] || fail "run this as root"
# shellcheck source=scripts/testbed
(source "$(dirname "$0")/../../scripts/testbed" && testbed_possible) || exit 77

"$GRADNIC" demo --quick --engine lockstep -o "$work/out" >"$work/log" 2>&1 || fail "$(cat "$work/log")"
holds() { jq -e "$1" "$work/out/demo.json" >/dev/null || fail "$1 does not hold in $(jq -c '.runs | map(del(.train))' "$work/out/demo.json")"; }
holds '.workers == 2 and .rate == "20mbit" and (.runs | length == 7)'
holds '.runs | all(.train.steps == 2 and .train.replicas_identical and .nics.malformed == 0)'
holds '.runs | all(.nics.compared > 200 and .nics.differences == 0)'
holds '.runs[0].ratio == 1 and (.runs[1:5] | all(.nics.ratio > 2))'
holds '.runs[3].train.weights == .runs[4].train.weights'
grep -Eq '^all: [0-9]+ packets, 0 differences$' "$work/log" || fail "no sum: $(cat "$work/log")"
grep '^all: ' "$work/log"
