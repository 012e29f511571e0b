#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What compression does to learning: the digits classifier, four workers, one training per seed and profile, the NICs' packet transform
# in-process and without a link's limit. Prints the accuracy on the test images after each epoch, medians over the seeds, and what was
# claimed against what was measured; writes everything to a JSON file.
#
#   bench/training.sh RESULT.json [EPOCHS [SEEDS]]    (default: 3 epochs, seeds 1,2,3); about 10 minutes on 2 cores
#   GRADNIC=path                                      the program (default: build/release/tools/gradnic)
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
gradnic=${GRADNIC:-$root/build/release/tools/gradnic}
[ $# -ge 1 ] || { sed -n '3,8s/^# \{0,1\}//p' "$0" >&2; exit 2; }
[ -x "$gradnic" ] || { echo "training.sh: $gradnic: not there; build it, or set GRADNIC" >&2; exit 1; }
result=$1 epochs=${2:-3}
IFS=, read -ra seeds <<<"${3:-1,2,3}"
copies=24 batch=25 ranks=4
epoch_steps=$((1500 * (1 + copies) / (batch * ranks)))

variants=(
    'no compression|'
    'paper 2^-10|-p paper -k 10'
    'paper 2^-10, feedback|-p paper -k 10 --feedback'
    'paper 2^-6|-p paper -k 6'
    'lattice 2^-10|-p lattice -k 10'
    'lattice 2^-10, feedback|-p lattice -k 10 --feedback'
    'lattice 2^-8, feedback|-p lattice -k 8 --feedback'
    'lattice 2^-6|-p lattice -k 6'
    'lattice 2^-6, feedback|-p lattice -k 6 --feedback'
    'lattice auto/4, feedback|-p lattice -k 2 --scale auto --feedback'
)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

printf '%-26s %5s %8s   %s\n' exchange seed ratio 'accuracy after each epoch'
for variant in "${variants[@]}"; do
    IFS='|' read -r name arguments <<<"$variant"
    for seed in "${seeds[@]}"; do
        # shellcheck disable=SC2086 # words are wanted
        "$gradnic" train --data "$root/tests/data" -N "$ranks" --batch "$batch" --augment "$copies" --epochs "$epochs" --seed "$seed" \
            --rate-drop-steps $(((epochs - 1) * epoch_steps)) --nic in-process $arguments -q -f --json "$work/run.json"
        jq -c --arg name "$name" '{name: $name, seed: .options.seed, ratio: .nic.ratio, identical: .replicas_identical,
            accuracy: [.checkpoints[].accuracy], loss: [.checkpoints[].loss], test_loss: [.checkpoints[].test_loss], environment}' \
            "$work/run.json" | tee -a "$work/runs.json" |
            jq -r '[.name, .seed, .ratio, (.accuracy | map("\(. * 10000 | round / 100) %") | join("  "))] | @tsv' |
            awk -F '\t' '{printf "%-26s %5s %8.2f   %s\n", $1, $2, $3, $4}'
    done
done

jq -s 'def median: sort | if length % 2 == 1 then .[length / 2 | floor] else (.[length / 2 - 1] + .[length / 2]) / 2 end;
    {benchmark: "training.sh", environment: .[0].environment, test_images: 297, runs: map(del(.environment)),
     medians: (reduce .[] as $r ([]; if any(.[]; . == $r.name) then . else . + [$r.name] end) as $names | . as $runs
        | $names | map(. as $n | [$runs[] | select(.name == $n)] | {name: $n, ratio: (map(.ratio) | median),
            accuracy: (map(.accuracy) | transpose | map(median))}))}' "$work/runs.json" >"$work/all.json"

echo
echo "== medians over the seeds"
jq -r '.medians[] | [.name, .ratio, (.accuracy | map("\(. * 10000 | round / 100) %") | join("  "))] | @tsv' "$work/all.json" |
    awk -F '\t' '{printf "%-26s %14.2f   %s\n", $1, $2, $3}'

echo
echo "== claims (one test image is 0.34 %)"
jq -r '
    def last(name): .medians[] | select(.name == name) | .accuracy[-1];
    (last("no compression") - last("lattice 2^-10, feedback")) as $missing
    | "lattice 2^-10 with error feedback reaches the uncompressed accuracy (within one image): \(if $missing <= 1.001 / 297 then "holds" else "FAILS" end)",
      "all replicas identical in every run: \(if all(.runs[]; .identical) then "holds" else "FAILS" end)"' "$work/all.json"
mv "$work/all.json" "$result"
