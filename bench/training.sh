#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What compression does to learning: the digits classifier, four workers, one training for each seed
# and profile. The NICs' packet transform runs in-process, without a link's limit. Prints the
# accuracy on the test images after each epoch, medians over the seeds, and what was claimed against
# what was measured; writes everything to a JSON file.
#
#   bench/training.sh RESULT.json [EPOCHS [SEEDS]]    default: 3 epochs, seeds 1,2,3
#   ONLY=REGEX      the variants whose names match, e.g. '^no compression|2\^-10, feedback'
#   GRADNIC=path    the program (default: build/release/tools/gradnic)
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
gradnic=${GRADNIC:-$root/build/release/tools/gradnic}
[ $# -ge 1 ] || { sed -n '3,10s/^# \{0,1\}//p' "$0" >&2; exit 2; }
[ -x "$gradnic" ] || { echo "training.sh: $gradnic: not there; build it, or set GRADNIC" >&2; exit 1; }
result=$1 epochs=${2:-3}
IFS=, read -ra seeds <<<"${3:-1,2,3}"
copies=24 batch=25 ranks=4
epoch_steps=$((1500 * (1 + copies) / (batch * ranks)))

variants=(
    'no compression|-p none'
    'paper 2^-10|-p paper -k 10'
    'paper 2^-10, feedback|-p paper -k 10 --feedback'
    'paper 2^-6|-p paper -k 6'
    'lattice 2^-10, feedback|-p lattice -k 10 --feedback'
    'dense 2^-10|-p dense -k 10'
    'dense 2^-10, feedback|-p dense -k 10 --feedback'
    'dense 2^-8, feedback|-p dense -k 8 --feedback'
    'dense 2^-6|-p dense -k 6'
    'dense 2^-6, feedback|-p dense -k 6 --feedback'
    'dense auto/4, feedback|-p dense -k 2 --scale auto --feedback'
)

mapfile -t variants < <(printf '%s\n' "${variants[@]}" | grep -E -- "${ONLY:-.}")
[ "${#variants[@]}" -gt 0 ] || { echo "training.sh: no variant matches '$ONLY'" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

printf '%-26s %5s %8s   %s\n' exchange seed ratio 'accuracy after each epoch'
for variant in "${variants[@]}"; do
    IFS='|' read -r name arguments <<<"$variant"
    for seed in "${seeds[@]}"; do
        # shellcheck disable=SC2086 # words are wanted
        "$gradnic" train --data "$root/tests/data" -N "$ranks" --batch "$batch" --augment "$copies" --epochs "$epochs" --seed "$seed" \
            --rate-drop-steps $(((epochs - 1) * epoch_steps)) --nic in-process $arguments -q -f --json="$work/run.json"
        jq -c --arg name "$name" '{name: $name, seed: .options.seed, ratio: .nic.ratio, identical: .replicas_identical, weights: .weights,
            accuracy: [.checkpoints[].accuracy], loss: [.checkpoints[].loss], test_loss: [.checkpoints[].test_loss], environment}' \
            "$work/run.json" | tee -a "$work/runs.json" |
            jq -r '[.name, .seed, .ratio, (.accuracy | map("\(. * 10000 | round / 100) %") | join("  "))] | @tsv' |
            awk -F '\t' '{printf "%-26s %5s %8.2f   %s\n", $1, $2, $3, $4}'
    done
done

jq -s 'def median: sort | if length % 2 == 1 then .[length / 2 | floor] else (.[length / 2 - 1] + .[length / 2]) / 2 end;
    def names: reduce .[].name as $n ([]; if index([$n]) then . else . + [$n] end);
    . as $runs
    | {benchmark: "training.sh", environment: .[0].environment, test_images: 297, runs: map(del(.environment)),
       medians: (names | map(. as $n | [$runs[] | select(.name == $n)]
          | {name: $n, ratio: (map(.ratio) | median), accuracy: (map(.accuracy) | transpose | map(median)),
             test_loss: (map(.test_loss) | transpose | map(median)), mean_last: ((map(.accuracy[-1]) | add) / length)}))}' \
    "$work/runs.json" >"$work/all.json"

echo
echo "== medians over the seeds; the mean of the last accuracies, and the median of the last losses on the test images"
jq -r '.medians[] | [.name, .ratio, (.accuracy | map("\(. * 10000 | round / 100) %") | join("  ")), .mean_last * 100, .test_loss[-1]] | @tsv' "$work/all.json" |
    awk -F '\t' '{printf "%-26s %14.2f   %-27s %9.2f %% %9.4f\n", $1, $2, $3, $4, $5}'

echo
echo "== claims (one test image is 0.34 %)"
jq -r '
    def last(name): [.medians[] | select(.name == name) | .accuracy[-1]][0];
    last("no compression") as $plain | last("dense 2^-10, feedback") as $ours
    | (if $plain and $ours then
        "dense 2^-10 with error feedback reaches the uncompressed accuracy, within one image: \(if $plain - $ours <= 1.001 / 297 then "holds" else "FAILS" end)"
       else empty end),
      (def weights(name): [.runs[] | select(.name == name) | {seed, weights}] | sort_by(.seed);
       weights("dense 2^-10, feedback") as $dense | weights("lattice 2^-10, feedback") as $lattice
       | if ($dense | length) > 0 and ($lattice | length) > 0 then
           "dense learns what lattice learns, to the last bit of the weights: \(if $dense == $lattice then "holds" else "FAILS" end)"
         else empty end),
      "all replicas identical in every run: \(if all(.runs[]; .identical) then "holds" else "FAILS" end)"' "$work/all.json"
mv "$work/all.json" "$result"
