#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gradnic train as users run it. It learns, ends with the same bits over any way of exchange,
# names errors, and leaves files that others can read.
# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"
digits=$SOURCE/tests/data
small=(train --data "$digits" --hidden 64 --timeout 20s)

holds() { jq -e "$2" "$1" >/dev/null || fail "$2 does not hold in $1: $(jq -c 'del(.checkpoints)' "$1")"; }
weights() { jq -r .weights "$1"; }

# It learns, with four workers and compression on the way.
"$GRADNIC" "${small[@]}" -N 4 --augment 8 --epochs 2 --feedback --nic in-process --json=ring.json >ring.txt
holds ring.json '.options.profile == "dense" and .options.bound_exp == 10'
holds ring.json '.accuracy > 0.93 and .replicas_identical and .steps == 270 and (.checkpoints | length) == 2'
holds ring.json '.checkpoints[1].loss < .checkpoints[0].loss and .checkpoints[1].epoch == 2 and .checkpoints[1].weights == .weights'
holds ring.json '.parameters == 64*64+64 + 3*(64*64+64) + 64*10+10'
holds ring.json '(.ranks | length) == 4 and (.ranks | all(.sent_bytes > 0 and .exchange_ms_median > 0 and .nic.ratio > 1))'
holds ring.json '.ranks | all(.step_ms_mean | .input > 0 and .forward > 0 and .backward > 0 and .communicate > 0 and .update > 0)'
# The NICs' counters: they compressed what the workers sent, and every byte left in some packet.
holds ring.json '(.ranks | map(.sent_bytes) | add) == .nic.payload_bytes and .nic.wire_bytes > .nic.wire_payload_bytes'
grep -q "^replicas identical: yes (4 workers, $(weights ring.json))" ring.txt || fail "$(cat ring.txt)"

# The same bits again: through the aggregator, overlapped, and without any NIC. With dense nothing
# is lost on the way.
short=("${small[@]}" --augment 2 --steps 30 -q -f)
dense=(-k 8 --feedback)
"$GRADNIC" "${short[@]}" -N 4 "${dense[@]}" --nic in-process --json=a.json
for how in '--nic in-process' '--nic in-process --algorithm worker-aggregator' '--nic in-process --overlap' '--nic in-process --mtu 600' '' '--overlap --algorithm worker-aggregator' '--groups 2' '--groups 3 --overlap' '--algorithm group-aggregator --groups 2 --group-offload none' '--algorithm aggregators'; do
    # shellcheck disable=SC2086 # words are wanted
    "$GRADNIC" "${short[@]}" -N 4 "${dense[@]}" $how --json=b.json
    [ "$(weights a.json)" = "$(weights b.json)" ] || fail "other weights with '$how'"
done
# Whoever compresses: the ranks (the default), NICs, or nobody.
for who in library nic none; do
    "$GRADNIC" "${short[@]}" -N 4 "${dense[@]}" --offload $who --json=b.json
    [ "$(weights a.json)" = "$(weights b.json)" ] || fail "other weights with --offload $who"
    holds b.json ".options.offload == \"$who\" and .options.tos == $([ $who = nic ] && echo 40 || echo 0)"
    factor=$([ $who = library ] && echo 4 || echo 1)
    holds b.json ".ranks | all(.sent_bytes >= $factor * .sent_wire_bytes and .received_wire_bytes > 0)"
done
"$GRADNIC" "${small[@]}" --augment 2 --steps 4 -N 2 -p dense >text
grep -Eq '^compressed by the ranks: [0-9.]+ [KM]iB of values, [0-9.]+ [KM]iB sent, ratio [0-9]+\.[0-9]{2}$' text || fail "no ratio: $(cat text)"
expect 2 "--offload nic needs a profile (-p)" "$GRADNIC" "${small[@]}" -N 2 --offload nic
expect 2 "--offload library: the NICs in-process compress (--nic in-process)" "$GRADNIC" "${small[@]}" -N 2 -p dense --offload library --nic in-process
expect 2 "--offload nic: NICs know the packets by their ToS, and --tos is 0" "$GRADNIC" "${small[@]}" -N 2 -p dense --offload nic --tos 0
expect 2 "data_tos 0x28 with offload library" "$GRADNIC" "${small[@]}" -N 2 -p dense --offload library --tos 0x28
# lattice learns the same, because it has the same values, in more bytes.
"$GRADNIC" "${short[@]}" -N 4 -p lattice "${dense[@]}" --nic in-process --json=b.json
[ "$(weights a.json)" = "$(weights b.json)" ] || fail "other weights with lattice"
holds a.json '.options.profile == "dense"'
holds b.json '.options.profile == "lattice"'
for figure in .loss .accuracy '.checkpoints | map([.loss, .accuracy, .weights])' .nic.payload_bytes; do
    [ "$(jq -c "$figure" a.json)" = "$(jq -c "$figure" b.json)" ] || fail "$figure differs between dense and lattice"
done
jq -es '.[0].nic.wire_payload_bytes * 1.5 < .[1].nic.wire_payload_bytes and .[0].nic.wire_bytes < .[1].nic.wire_bytes' a.json b.json >/dev/null ||
    fail "dense does not send less than lattice: $(jq -c .nic a.json b.json)"
"$GRADNIC" "${short[@]}" -N 4 "${dense[@]}" --seed 2 --json=b.json
[ "$(weights a.json)" != "$(weights b.json)" ] || fail "the seed changes nothing"
# All other ways of exchange: the replicas stay identical (exit status).
for how in '-p dense --nic in-process' '-k 2 --scale auto --nic in-process' '-p paper --nic in-process' '-p paper --feedback --nic in-process' '-p lattice -k 2 --scale auto --feedback --nic in-process' \
    '-p paper --algorithm worker-aggregator --nic in-process' '-p lattice -k -5' '--algorithm worker-aggregator' '--overlap' ''; do
    for ranks in 1 2 3; do
        # shellcheck disable=SC2086
        "$GRADNIC" "${short[@]}" -N "$ranks" --steps 4 $how --json=b.json || fail "-N $ranks $how"
        holds b.json ".replicas_identical and .options.ranks == $ranks"
    done
done

# A modelled link takes time: 12 exchanges of 2 * 3/4 * 71 KiB (times 4 workers) at 4 Mbit/s take
# at least 2 s.
"$GRADNIC" "${short[@]}" -N 4 --steps 12 -p none --nic in-process --rate 4mbit --json=b.json
holds b.json '.exchange_ms_median > 0.9 * (2 * 3/4 * .parameters * 4 * 8 / 4e3) - 270 and .nic.ratio == 1'

# Ranks from the environment, as torchrun sets it.
pids=()
for rank in 0 1; do
    RANK=$rank WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=29871 "$GRADNIC" "${short[@]}" "${dense[@]}" --json=env.json --dump-gradients env-dump --dump-steps 1 &
    pids+=($!)
done
for pid in "${pids[@]}"; do wait "$pid" || fail "a rank from the environment failed"; done
holds env.json '.options.ranks == 2'
[ -s env-dump/step00001-rank0-layer1-bias.npy ] || fail "RANK dumped nothing"

# Gradients for others.
"$GRADNIC" "${short[@]}" -N 2 --steps 6 --dump-gradients dump --dump-steps 3 --dump-ranks 2
[ "$(find dump -type f | wc -l)" -eq 40 ] || fail "$(find dump -type f | wc -l) files dumped"
"$PYTHON" - <<'PY' || fail "NumPy cannot read the gradients, or they are none"
import numpy as np
for step in (3, 6):
    for layer, shape in ((1, (64, 64)), (2, (64, 64)), (5, (10, 64))):
        g = [np.load(f"dump/step{step:05d}-rank{r}-layer{layer}-weight.npy") for r in (0, 1)]
        assert g[0].shape == shape and g[0].dtype == np.float32, g[0].shape
        assert np.isfinite(g[0]).all() and np.abs(g[0]).max() > 0 and (g[0] != g[1]).any()
        assert np.load(f"dump/step{step:05d}-rank0-layer{layer}-bias.npy").shape == shape[:1]
PY
"$GRADNIC" "${short[@]}" -N 2 --steps 6 --dump-gradients overlapped --dump-steps 3 --dump-ranks 2 --overlap
diff -r dump overlapped || fail "with --overlap, other gradients than the ranks' own"
"$GRADNIC" ratio --against none dump/*-weight.npy >/dev/null || fail "gradnic ratio cannot read the gradients"
# If they cannot be written, one error at the start says so, and no step is made.
expect 1 "exists already; --force overwrites it" "$GRADNIC" "${small[@]}" -N 2 --steps 3 --dump-gradients dump --dump-steps 3 -q
expect 2 "--dump-steps needs --dump-gradients" "$GRADNIC" "${small[@]}" -N 2 --dump-steps 3
expect 2 "--dump-ranks needs --dump-gradients" "$GRADNIC" "${small[@]}" -N 2 --dump-ranks 2
expect 1 "/dev/null/x: Not a directory" "$GRADNIC" "${small[@]}" -N 2 --steps 1 --dump-gradients /dev/null/x -q
expect 1 "dump/step00006-rank" "$GRADNIC" "${small[@]}" -N 2 --steps 1 --dump-gradients dump --dump-steps 6 --dump-ranks 2
"$GRADNIC" "${small[@]}" -N 2 --steps 1 --dump-gradients dump --dump-steps 6 >/dev/null 2>err && fail "files of an earlier run"
[ "$(wc -l <err)" -eq 1 ] || fail "said more than once: $(cat err)"

# Errors are printed once, with the right exit status.
expect 2 "no data" "$GRADNIC" train
for place in meet tcp://host tcp://host:0 file://relative; do
    expect 2 "--rendezvous: rendezvous '$place': want " "$GRADNIC" "${small[@]}" --rank 0 --world-size 2 --rendezvous "$place"
done
expect 2 "no ranks: -N 4 starts four here; else --rank and --world-size" env -u RANK "$GRADNIC" "${small[@]}" --world-size 2
expect 2 "--momentum: '2' is not a number from 0 to 1" "$GRADNIC" "${small[@]}" --momentum 2
expect 2 "--feedback needs a profile" "$GRADNIC" "${small[@]}" -p none --feedback
expect 2 "--scale needs a profile" "$GRADNIC" "${small[@]}" -p none --scale auto
expect 2 "--bound: paper takes bounds from" "$GRADNIC" "${small[@]}" -p paper -k 0
expect 2 "--tos: '0x29' is not a type of service" "$GRADNIC" "${small[@]}" --tos 0x29
expect 2 "-N starts all ranks itself" "$GRADNIC" "${small[@]}" -N 2 --rank 1
expect 2 "--rate needs --nic in-process" "$GRADNIC" "${small[@]}" --rate 1gbit
expect 2 "--mtu needs --nic in-process" "$GRADNIC" "${small[@]}" --mtu 9000
expect 1 "nowhere: no file matches *train*images*" "$GRADNIC" train --data nowhere -N 4
expect 1 "a step of 100 workers takes 2500 images, there are 1500" "$GRADNIC" "${small[@]}" -N 100
expect 1 "ring.json: exists already; --force overwrites it" "$GRADNIC" "${small[@]}" -N 2 --steps 1 -q --json=ring.json
# A folder's name is no pattern.
mkdir 'odd[1]*' odd1 && cp "$digits"/digits-* 'odd[1]*/'
"$GRADNIC" train --data 'odd[1]*' -N 1 --hidden 8 --steps 1 -q || fail "a folder with a name like a pattern"
mv 'odd[1]*'/* odd1
expect 1 "odd[1]*: no file matches" "$GRADNIC" train --data 'odd[1]*' -N 1 --hidden 8 --steps 1 -q
mkdir bad && cp "$digits"/digits-* bad/
expect 1 "bad/digits-test-labels-idx1-ubyte.gz: is the input" "$GRADNIC" train --data bad -N 2 -f --json=bad/digits-test-labels-idx1-ubyte.gz
same bad/digits-test-labels-idx1-ubyte.gz "$digits"/digits-test-labels-idx1-ubyte.gz
gzip -d bad/digits-test-labels* && printf '\377' | dd of=bad/digits-test-labels-idx1-ubyte bs=1 seek=8 conv=notrunc status=none
expect 1 "digits-test-labels-idx1-ubyte: label 0 is 255, expected less than 10 (--classes)" "$GRADNIC" train --data bad -N 4
[ "$("$GRADNIC" train --data bad -N 4 2>&1 | wc -l)" -eq 1 ] || fail "data that is wrong is reported by every rank"
truncate -s 300 bad/digits-test-labels-idx1-ubyte
expect 1 "292 bytes of elements where the header announces 297" "$GRADNIC" train --data bad -N 1

# Ranks with different options, or with one other label, notice before they train.
mkdir other && cp "$digits"/digits-* other/ && gzip -d other/digits-train-labels*
printf '%b' "\\x0$((($(od -An -j 8 -N 1 -t u1 other/digits-train-labels-idx1-ubyte) + 1) % 10))" |
    dd of=other/digits-train-labels-idx1-ubyte bs=1 seek=8 conv=notrunc status=none
# unlike ARGUMENT...: two ranks, of which rank 1 has these arguments, too
unlike() {
    local pid meet=(--world-size 2 --rendezvous "file://$work/meet")
    "$GRADNIC" "${short[@]}" "${meet[@]}" --rank 0 2>err.0 &
    pid=$!
    ! "$GRADNIC" "${short[@]}" "${meet[@]}" --rank 1 "$@" 2>err.1 || fail "rank 1 trains with $*"
    ! wait "$pid" || fail "rank 0 trains beside one with $*"
    grep -q 'rank 1 was started with other options or other data than rank 0' err.[01] || fail "$*: $(cat err.[01])"
}
unlike --seed 2
unlike --data other
