#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# examples/train: the small program makes the same network, bit for bit, as `gradnic train` does.
# It names errors in its data.
# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"
: "${EXAMPLE:?run this through ctest}"

digits=$SOURCE/tests/data
files=()
for name in train-images-idx3 train-labels-idx1 test-images-idx3 test-labels-idx1; do
    files+=("$digits/digits-$name-ubyte.gz")
done

# A port of this test's own. Nothing else listens at MASTER_ADDR.
export MASTER_ADDR=127.$((RANDOM % 200 + 20)).$((RANDOM % 200)).7 MASTER_PORT=29500 WORLD_SIZE=2
RANK=1 "$EXAMPLE" "${files[@]}" 20 >rank1.txt &
RANK=0 "$EXAMPLE" "${files[@]}" 20 >rank0.txt || fail "rank 0 failed"
wait $! || fail "rank 1 failed"
[ ! -s rank1.txt ] || fail "rank 1 speaks, too: $(cat rank1.txt)"
"$GRADNIC" train --data "$digits" -N 2 -p dense -k 10 --feedback --steps 20 -q --json=train.json
[ "$(sed -n 's/.* weights //p' rank0.txt)" = "$(jq -r .weights train.json)" ] || fail "other weights: $(cat rank0.txt)"

# Without a number of steps it is two epochs, as the command's.
RANK=0 WORLD_SIZE=1 "$EXAMPLE" "${files[@]}" >whole.txt || fail "a whole training failed"
"$GRADNIC" train --data "$digits" -N 1 -p dense -k 10 --feedback -q -f --json=train.json
[ "$(sed -n 's/.* weights //p' whole.txt | tail -n 1)" = "$(jq -r .weights train.json)" ] || fail "other weights: $(cat whole.txt)"

expect 2 "usage: " "$EXAMPLE"
expect 2 "usage: " "$EXAMPLE" "${files[@]}" 20 and more
files[3]=nowhere
RANK=0 WORLD_SIZE=1 expect 1 "nowhere: No such file or directory" "$EXAMPLE" "${files[@]}" 1
