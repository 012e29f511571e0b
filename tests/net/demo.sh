#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The demo, with few steps: over namespaces, links and NICs, then in-process. Every figure of its table is there and makes sense, the report
# is one file that refers to nothing else, and the gradients are ones.
set -euo pipefail
: "${GRADNIC:?run this through ctest}"
work=$(mktemp -d "${TMPDIR:-/tmp}/gradnic-test.XXXXXX")
trap 'rm -rf "$work"' EXIT
fail() { echo "FAILED: $*" >&2; exit 1; }
holds() { jq -e "$1" "$2" >/dev/null || fail "$1 does not hold in $(jq -c '.runs | map(del(.train))' "$2")"; }

# Without compression about half of the ring's bytes, and with dense the ring's weights, to the last bit; what comes back from the switch is longer than
# what goes there, since sums have more bits.
check_switch() {
    local json=$1
    jq -e '.runs | map(.name) | index("switch, no compression")' "$json" >/dev/null || return 0
    holds '.runs[4].name == "switch, no compression" and .runs[5].name == "switch, dense 2^-10, feedback"' "$json"
    holds '.runs[5].train.weights == .runs[3].train.weights' "$json"
    holds '.runs[4].ratio > 0.6 and .runs[4].ratio <= 1 and .runs[5].ratio > 4' "$json"
    holds '.runs[4].wire_bytes_per_step > 25e6 and .runs[5].wire_bytes_per_step < 12e6' "$json"
    holds '(.runs[0].train.accuracy - .runs[4].train.accuracy) | fabs < 0.1' "$json"
}

check_results() {
    local out=$1 json=$1/demo.json ring="$1/ring.json"
    holds ".runs | length == $2" "$json"
    holds '.runs | all(.train.replicas_identical and .train.steps == 20 and (.nics.malformed // 0) == 0)' "$json"
    holds '.runs | all(.train.accuracy > 0 and .train.exchange_ms_median > 0 and .wire_bytes_per_step > 0)' "$json"
    check_switch "$json"
    jq '.runs |= map(select(.name | startswith("switch") | not))' "$json" >"$ring"
    json=$ring
    holds '.runs[0].ratio == 1 and .runs[4].ratio == 1 and (.runs[1:4] | all(.ratio > 4))' "$json"
    holds '.runs[4].speedup == 1' "$json"
    # Two thirds of 2 * 4 * 3.16 MB have to cross the wire; a compressed exchange needs less than a third of that.
    holds '.runs[0].wire_bytes_per_step > 18.9e6 and .runs[0].wire_bytes_per_step < 25e6' "$json"
    holds '.runs[1:4] | all(.wire_bytes_per_step < 6e6)' "$json"
    # dense: lattice's learning, to the last bit, in fewer bytes.
    holds '.runs[2].train.weights == .runs[3].train.weights and .runs[2].train.accuracy == .runs[3].train.accuracy' "$json"
    holds '.runs[3].ratio > 1.3 * .runs[2].ratio and .runs[3].wire_bytes_per_step < .runs[2].wire_bytes_per_step' "$json"
    # Without compression ring and worker-aggregator learn the same, up to the order of additions.
    holds '(.runs[0].train.accuracy - .runs[4].train.accuracy) | fabs < 0.1' "$json"
    [ "$(grep -c '<svg' "$out/demo.html")" -eq 4 ] || fail "the report does not have its four plots"
    ! grep -Eq 'src=|href=|@import|url\(' "$out/demo.html" || fail "the report refers to something outside of it"
    grep -q '</html>' "$out/demo.html" || fail "the report ends early"
    python3 - "$out/demo.html" <<'PY' || fail "the report is not well-formed"
import re, sys, xml.dom.minidom
page = open(sys.argv[1], encoding="utf-8").read()
for svg in re.findall(r"<svg.*?</svg>", page, re.S):
    xml.dom.minidom.parseString(svg)
PY
    [ "$(find "$out/gradients" -name '*-layer2-weight.npy' | wc -l)" -eq 2 ] || fail "no gradients"
    grep -q '^total: ' "$out/ratio.txt" || fail "no ratios"
}

[ "$(id -u)" -eq 0 ] || fail "run this as root"
"$GRADNIC" demo --quick -o "$work/a" >"$work/a.log" 2>&1 || fail "$(cat "$work/a.log")"
if grep -q 'cannot be made' "$work/a.log"; then
    echo "CANNOT: this machine does not let namespaces or TUN devices be made" >&2
else
    holds '.mode == "a gradnic nic in each of as many network namespaces"' "$work/a/demo.json"
fi
rows=7
! grep -q 'in-process' "$work/a/demo.json" || rows=5
check_results "$work/a" "$rows"
"$GRADNIC" demo --quick --in-process -o "$work/b" >"$work/b.log" 2>&1 || fail "$(cat "$work/b.log")"
holds '.mode | startswith("packet transform in-process")' "$work/b/demo.json"
check_results "$work/b" 5
# The same training, whoever carries the packets: without compression, with lattice and with dense the same bits.
for run in 0 2 3; do
    [ "$(jq -r ".runs[$run].train.weights" "$work/a/demo.json")" = "$(jq -r ".runs[$run].train.weights" "$work/b/demo.json")" ] ||
        fail "run $run ended with other weights in-process than over NICs"
done
# Where TUN devices cannot be made the demo says so, and does without.
if unshare -m true 2>/dev/null; then
    # shellcheck disable=SC2016  # for the inner shell
    unshare -m sh -c 'mount -t tmpfs none /dev/net && exec "$0" "$@"' "$GRADNIC" demo --quick -o "$work/c" >"$work/c.log" 2>&1 || fail "$(cat "$work/c.log")"
    grep -q '/dev/net/tun is missing' "$work/c.log" || fail "no word about what is missing: $(head -n 5 "$work/c.log")"
    holds '.mode | startswith("packet transform in-process")' "$work/c/demo.json"
    check_results "$work/c" 5
fi
# Once more over the old results: they are replaced.
"$GRADNIC" demo --quick --in-process -o "$work/b" >"$work/b.log" 2>&1 || fail "$(cat "$work/b.log")"
check_results "$work/b" 5
