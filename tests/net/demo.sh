#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The demo, with few steps: over namespaces, links and NICs, then in-process. Every figure of its
# table is there and makes sense. The report is one file that refers to nothing else. The gradients
# can be read.
set -euo pipefail
export GRADNIC_OFFLOAD=none # the user's own programs: it changes no row
: "${GRADNIC:?run this through ctest}"
work=$(mktemp -d "${TMPDIR:-/tmp}/gradnic-test.XXXXXX")
trap 'rm -rf "$work"' EXIT
fail() { echo "FAILED: $*" >&2; exit 1; }
holds() { jq -e "$1" "$2" >/dev/null || fail "$1 does not hold in $(jq -c '.runs | map(del(.train))' "$2")"; }

# check CONDITION FILE: as holds, where .RING_NONE, .RING_PAPER, ... are the runs of these names.
names='{"RING_NONE": "ring, no compression", "RING_PAPER": "ring, paper 2^-10", "RING_PAPER_F": "ring, paper 2^-10, feedback",
        "RING_LATTICE": "ring, lattice 2^-10, feedback", "RING_DENSE": "ring, dense 2^-10, feedback", "RING_LIBRARY": "ring, dense 2^-10, feedback, in the library",
        "DIRECT": "direct, dense 2^-10, feedback, in the library",
        "SWITCH_NONE": "switch, no compression", "SWITCH_DENSE": "switch, dense 2^-10, feedback",
        "WA_DENSE": "worker-aggregator, dense 2^-10 up, feedback", "WA_NONE": "worker-aggregator, no compression"}'
check() {
    jq -e --argjson names "$names" '. as $all | ($names | map_values(. as $name | first($all.runs[] | select(.name == $name)) // null))
        | '"$1" "$2" >/dev/null || fail "$1 does not hold in $(jq -c '.runs | map(del(.train))' "$2")"
}

# Without compression the switch needs two thirds of the bytes of a ring. With dense it makes the
# ring's weights, to the last bit. What comes back is longer than what goes: sums have more bits.
check_switch() {
    local json=$1
    jq -e '.runs | map(.name) | index("switch, no compression")' "$json" >/dev/null || return 0
    check '.SWITCH_DENSE.train.weights == .RING_DENSE.train.weights' "$json"
    check '.SWITCH_NONE.ratio == 1 and .SWITCH_DENSE.ratio > 4' "$json"
    check '.SWITCH_NONE.wire_bytes_per_step > 25e6 and .SWITCH_DENSE.wire_bytes_per_step < 12e6' "$json"
    check '.SWITCH_NONE.wire_bytes_per_step / .RING_NONE.wire_bytes_per_step | . > 0.6 and . < 0.75' "$json"
    check '(.RING_NONE.train.accuracy - .SWITCH_NONE.train.accuracy) | fabs < 0.1' "$json"
}

# Whoever compresses, the weights are the same. Workers need no tunnel, so they send a little less.
check_library() {
    local json=$1
    jq -e '.runs | map(.name) | index("ring, dense 2^-10, feedback, in the library")' "$json" >/dev/null || return 0
    check '.RING_LIBRARY.train.weights == .RING_DENSE.train.weights' "$json"
    check '.RING_LIBRARY.train.options.offload == "library" and .RING_DENSE.train.options.offload == "nic"' "$json"
    check '.DIRECT.train.weights == .RING_LIBRARY.train.weights and .DIRECT.ratio > 4' "$json"
    check '.RING_LIBRARY.ratio > 4 and .RING_LIBRARY.wire_bytes_per_step < 1.05 * .RING_DENSE.wire_bytes_per_step' "$json"
}

check_results() {
    local out=$1 json=$1/demo.json
    holds ".runs | length == $2" "$json"
    holds '.runs | all(.train.replicas_identical and .train.steps == 20 and (.nics.malformed // 0) == 0)' "$json"
    holds '.runs | all(.train.accuracy > 0 and .train.exchange_ms_median > 0 and .wire_bytes_per_step > 0)' "$json"
    holds '.notes | length >= 5' "$json"
    check_switch "$json"
    check_library "$json"
    check '.RING_NONE.ratio == 1 and .WA_NONE.ratio == 1' "$json"
    check '[.RING_PAPER, .RING_PAPER_F, .RING_LATTICE, .RING_DENSE] | all(.ratio > 4)' "$json"
    check '.WA_NONE.speedup == 1' "$json"
    # Each worker has to send and to receive 3/2 of 3.16 MB. A compressed exchange needs less than a
    # third of that.
    check '.RING_NONE.wire_bytes_per_step > 37.8e6 and .RING_NONE.wire_bytes_per_step < 50e6' "$json"
    check '.WA_NONE.wire_bytes_per_step > 37.8e6 and .WA_NONE.wire_bytes_per_step < 50e6' "$json"
    check '[.RING_PAPER, .RING_PAPER_F, .RING_LATTICE, .RING_DENSE] | all(.wire_bytes_per_step < 12e6)' "$json"
    # One leg of the two is compressed: the other's 6 times 3.16 MB all cross the links. On links
    # the ratio may be above 2: without compression more is lost and sent again.
    check '.WA_DENSE.ratio > 1.5 and .WA_DENSE.wire_bytes_per_step > 18.9e6' "$json"
    # shellcheck disable=SC2016  # $all is jq's
    check '.WA_DENSE.ratio < 2 or ($all.mode | startswith("packet transform in-process") | not)' "$json"
    # dense: lattice's learning, to the last bit, in fewer bytes; whoever adds.
    check '.RING_LATTICE.train.weights == .RING_DENSE.train.weights and .RING_LATTICE.train.accuracy == .RING_DENSE.train.accuracy' "$json"
    check '.WA_DENSE.train.weights == .RING_DENSE.train.weights' "$json"
    check '.RING_DENSE.ratio > 1.3 * .RING_LATTICE.ratio and .RING_DENSE.wire_bytes_per_step < .RING_LATTICE.wire_bytes_per_step' "$json"
    # Without compression ring and worker-aggregator learn the same, up to the order of additions.
    check '(.RING_NONE.train.accuracy - .WA_NONE.train.accuracy) | fabs < 0.1' "$json"
    [ "$(grep -c '<svg' "$out/demo.html")" -eq 5 ] || fail "the report does not have its five plots"
    ! grep -Eq 'src=|href="[^#]|@import|url\([^#]' "$out/demo.html" || fail "the report refers to something outside of it"
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
rows=11
! grep -q 'in-process' "$work/a/demo.json" || rows=7
check_results "$work/a" "$rows"
"$GRADNIC" demo --quick --in-process -o "$work/b" >"$work/b.log" 2>&1 || fail "$(cat "$work/b.log")"
holds '.mode | startswith("packet transform in-process")' "$work/b/demo.json"
check_results "$work/b" 7
# The same training, whoever carries the packets: the same bits without compression, with lattice
# and with dense.
for run in 0 3 4; do
    [ "$(jq -r ".runs[$run].train.weights" "$work/a/demo.json")" = "$(jq -r ".runs[$run].train.weights" "$work/b/demo.json")" ] ||
        fail "run $run ended with other weights in-process than over NICs"
done
# Where TUN devices cannot be made the demo says so, and does without.
if unshare -m true 2>/dev/null; then
    # shellcheck disable=SC2016  # for the inner shell
    unshare -m sh -c 'mount -t tmpfs none /dev/net && exec "$0" "$@"' "$GRADNIC" demo --quick -o "$work/c" >"$work/c.log" 2>&1 || fail "$(cat "$work/c.log")"
    grep -q '/dev/net/tun is missing' "$work/c.log" || fail "no word about what is missing: $(head -n 5 "$work/c.log")"
    holds '.mode | startswith("packet transform in-process")' "$work/c/demo.json"
    check_results "$work/c" 7
fi
# Once more over the old results: they are replaced.
"$GRADNIC" demo --quick --in-process -o "$work/b" >"$work/b.log" 2>&1 || fail "$(cat "$work/b.log")"
check_results "$work/b" 7
# Half of it was tried.
! grep -q 'cannot be made' "$work/a.log" || exit 77
