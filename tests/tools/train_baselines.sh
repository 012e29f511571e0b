#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `gradnic train --baseline`: other compressors in a training; and the convolutional network.
# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"
small=(train --data "$SOURCE/tests/data" --hidden 64 --augment 2 --steps 30 --timeout 20s -q -f -N 3)
cnn=(train --data "$SOURCE/tests/data" --network cnn --timeout 20s -q -f -N 3)

holds() { jq -e "$2" "$1" >/dev/null || fail "$2 does not hold in $1: $(jq -c 'del(.checkpoints)' "$1")"; }
weights() { jq -r .weights "$1"; }

"$GRADNIC" "${small[@]}" -p none --json=plain.json
"$GRADNIC" "${small[@]}" -p none --algorithm worker-aggregator --json=aggregator.json # adds in another order
# What removes nothing changes nothing: all values, and compressors without loss on the way.
in_process=(--nic in-process)
same_weights() { [ "$(weights "$1")" = "$(weights "$2")" ] || fail "other weights with ${*:3}"; }
for feedback in '' --feedback; do
    # shellcheck disable=SC2086 # a word, or none
    "$GRADNIC" "${small[@]}" --baseline topk:100% $feedback --json=all.json
    same_weights plain.json all.json topk:100% "$feedback"
    holds all.json '.baseline_ratio == 0.5 and .options.baseline == "topk:100%" and .options.profile == "none"'
done
for name in zlib:1 snappy lz4 zstd:1; do
    "$GRADNIC" ratio --against "${name%:*}" "$SOURCE"/tests/data/gradients/mlp-it1000-w0.npy.gz >/dev/null 2>&1 || continue  # not compiled in
    for algorithm in ring worker-aggregator; do
        "$GRADNIC" "${small[@]}" "${in_process[@]}" --algorithm $algorithm --baseline "$name" --json=lossless.json
        same_weights "$([ $algorithm = ring ] && echo plain || echo aggregator).json" lossless.json "$name" over $algorithm
        holds lossless.json '.nic.ratio > 1 and .nic.wire_payload_bytes < .nic.payload_bytes and (has("baseline_ratio") | not)'
    done
done

# The others change the gradient, all replicas alike, by as many bits as they say.
changed() { # NAME RATIO ARGUMENT...
    "$GRADNIC" "${small[@]}" --baseline "$1" "${@:3}" --json=changed.json
    [ "$(weights plain.json)" != "$(weights changed.json)" ] || fail "the same weights with $1"
    holds changed.json ".replicas_identical and .options.baseline == \"$1\" and (.baseline_ratio - $2 | fabs) < 0.05 * $2"
}
changed truncate:16 2
changed truncate-both:24 4
changed topk:10% 5 --feedback
holds changed.json .options.feedback
changed qsgd:4 7.8
changed uniform:4 7.9
"$GRADNIC" "${small[@]}" --baseline truncate-weights:16 --json=weights.json
holds weights.json '(has("baseline_ratio") | not) and .replicas_identical'
[ "$(weights plain.json)" != "$(weights weights.json)" ] || fail "the same weights with truncate-weights:16"
# Draws follow from the seed and the rank.
"$GRADNIC" "${small[@]}" --baseline qsgd:4 --json=first.json
"$GRADNIC" "${small[@]}" --baseline qsgd:4 --json=second.json
[ "$(weights first.json)" = "$(weights second.json)" ] || fail "qsgd draws other numbers each time"
"$GRADNIC" train --data "$SOURCE/tests/data" --hidden 16 --steps 2 -N 2 --baseline topk:10% --feedback >text
grep -q ', baseline topk:10%, error feedback' text || fail "$(cat text)"
grep -q '^baseline topk:10%: ratio 4\.9' text || grep -q '^baseline topk:10%: ratio 5\.0' text || fail "$(cat text)"

expect 2 "--baseline topk:1% goes with -p none" "$GRADNIC" "${small[@]}" --baseline topk:1% -p dense
expect 2 "--baseline topk:1% takes no bound" "$GRADNIC" "${small[@]}" --baseline topk:1% -k 10
expect 2 "--baseline qsgd:4 takes no --overlap" "$GRADNIC" "${small[@]}" --baseline qsgd:4 --overlap
expect 2 "takes no --checkpoint: its state is not saved" "$GRADNIC" "${small[@]}" --baseline qsgd:4 --checkpoint c
expect 2 "--baseline zlib:6 needs --nic in-process" "$GRADNIC" "${small[@]}" --baseline zlib:6
expect 2 "--baseline zlib:6 takes no --feedback" "$GRADNIC" "${small[@]}" --baseline zlib:6 --nic in-process --feedback
expect 2 "--baseline: 'truncate:32': truncate needs bits, 1 to 31" "$GRADNIC" "${small[@]}" --baseline truncate:32
expect 2 "'gzip' is not a compressor" "$GRADNIC" "${small[@]}" --baseline gzip
if "$GRADNIC" "${small[@]}" --nic in-process --algorithm worker-aggregator --baseline zfp:10 --json=zfp.json 2>said.txt; then
    holds zfp.json '.nic.ratio > 1 and .replicas_identical'
    expect 2 "it needs --algorithm worker-aggregator" "$GRADNIC" "${small[@]}" --nic in-process --baseline zfp:10
else
    grep -q 'was not found when gradnic was built' said.txt || fail "$(cat said.txt)"
fi

# The convolutional network learns, over any exchange with the same bits, and dumps tensors.
"$GRADNIC" "${cnn[@]}" --augment 8 --steps 120 -p dense -k 10 --feedback --json=cnn.json --dump-gradients dump --dump-steps 120
holds cnn.json '.accuracy > 0.9 and .parameters == 160 + 4640 + 65664 + 1290 and .options.network == "cnn" and (.options | has("hidden") | not)'
"$GRADNIC" "${cnn[@]}" --augment 8 --steps 120 -p dense -k 10 --feedback --overlap --algorithm worker-aggregator --json=overlap.json
[ "$(weights cnn.json)" = "$(weights overlap.json)" ] || fail "other weights with --overlap"
"$GRADNIC" ratio --list dump/step00120-rank0-layer2-weight.npy | grep -Eq '32 ?x ?144|32, 144' || fail "$("$GRADNIC" ratio --list dump/step00120-rank0-layer2-weight.npy)"
expect 2 "--layers and --hidden are of --network hdc" "$GRADNIC" "${cnn[@]}" --hidden 5
expect 2 "--network cnn takes no --checkpoint" "$GRADNIC" "${cnn[@]}" --checkpoint c
