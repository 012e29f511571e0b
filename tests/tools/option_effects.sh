#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Options that no other test gives: each changes what it says it changes, in its unit.
# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"

switches_at 7
holds() { jq -e "$2" "$1" >/dev/null || fail "$2 does not hold in $1: $(jq -c 'del(.checkpoints)' "$1")"; }

# ---- bench allreduce --type and --op: every value is checked
typed() { # typed TYPE OP NAMES ARGUMENT...
    local type=$1 op=$2 names=$3
    shift 3
    "$GRADNIC" bench allreduce -N 3 -b 100003 -e 100003 -n 1 -w 0 -q --force --json=typed.json --type "$type" --op "$op" \
        "$@" >table.txt 2>err.txt || fail "--type $type --op $op $*: $(cat err.txt)"
    [ "$(jq -r '.results[0] | "\(.type) \(.redop) \(.wrong) \(.identical)"' typed.json)" = "$names 0 true" ] ||
        fail "--type $type --op $op $*: $(jq -c '.results[0]' typed.json)"
}
typed f32 min "float min" -p none
typed f64 average "double avg" -p none
typed i32 sum "int32 sum" -p none
typed i64 max "int64 max" -p none
typed u8 sum "uint8 sum" -p none
typed f16 max "half max" -p none
for algorithm in ring worker-aggregator; do
    typed bf16 average "bfloat16 avg" -p dense -k 10 --algorithm $algorithm
    typed f16 sum "half sum" -p lattice -k 10 --algorithm $algorithm
done
[ "$(jq '.results[0].count' typed.json)" = 50001 ] || fail "--type f16: $(jq -c '.results[0]' typed.json)"
# Three times 30000 and -30000 is infinite in 16 bits, and three times 20000 is not.
printf '\0\140\352\106\0\140\352\306\0\100\234\106' >large.f32
typed f16 sum "half sum" -p none -i large.f32
for algorithm in group-ring group-aggregator aggregators; do
    typed bf16 average "bfloat16 avg" -p dense -k 10 --algorithm $algorithm --groups 2
done

# What is not compressed goes over worker-aggregator and switch, too.
switch_start adder 7019
for algorithm in worker-aggregator "switch --switch $host:7019"; do
    # shellcheck disable=SC2086 # words are wanted
    {
        typed f32 max "float max" --algorithm $algorithm
        typed f64 sum "double sum" --algorithm $algorithm
        typed i32 sum "int32 sum" --algorithm $algorithm
    }
done

# ---- the table ends with what compression has gained, where the ranks compress
"$GRADNIC" bench allreduce -N 2 -b 4K -e 64K -n 1 -p dense --json=ratio.json >table.txt || fail "-p dense"
ratio=$(printf %.2f "$(jq ".results[-1] | .sent_bytes / .sent_wire_bytes" ratio.json)")
tail -n 1 table.txt | grep -qE "^# compressed by the ranks, at the largest size: a rank sent .* for 64 KiB of values, ratio $ratio$" ||
    fail "ratio $ratio: $(cat table.txt)"
for how in "" "-p dense --offload none" "-p dense --offload nic"; do
    # shellcheck disable=SC2086 # words are wanted
    "$GRADNIC" bench allreduce -N 2 -b 4K -e 4K -n 1 $how >table.txt || fail "$how"
    ! grep "compressed by" table.txt || fail "$how: nobody here compresses"
done

# ---- --algorithm auto says what it has chosen
"$GRADNIC" bench allreduce -N 2 -b 64K -e 64K -n 6 --algorithm auto >table.txt 2>err.txt || fail "auto: $(cat err.txt)"
grep -qE "^gradnic bench allreduce: note: auto: (direct|ring) for 2\^14 to 2\^15 values \(" err.txt || fail "auto: $(cat err.txt)"
[ "$(wc -l <err.txt)" = 1 ] || fail "rank 0 says it once: $(cat err.txt)"

# ---- --no-shared-memory at one rank: rank 0 says that TCP carries the values
pair=("$GRADNIC" bench allreduce -b 4K -e 4K -n 1 --world-size 2 --rendezvous "file://$work/meet")
"${pair[@]}" --rank 1 --no-shared-memory >/dev/null 2>&1 &
other=$!
"${pair[@]}" --rank 0 >table.txt 2>err.txt || fail "one without shared memory: $(cat err.txt)"
wait "$other" || fail "rank 1 failed"
grep -q "note: rank 1 at .* shares no memory with this rank (.*: TCP carries the values" err.txt || fail "note: $(cat err.txt)"

# ---- --groups and --group-offload
groups() { # groups FILE ARGUMENT...
    local file=$1
    shift
    "$GRADNIC" bench allreduce -N 4 -b 64K -e 64K -n 1 -w 0 --force --json="$file" "$@" >table.txt 2>err.txt || fail "$*: $(cat err.txt)"
}
groups plain.json -p dense --groups host
grep -qF "note: group-ring: 1 group of 4, by host: 127.0.0.1; not compressed within a group" err.txt || fail "note: $(cat err.txt)"
holds plain.json '.exchange.algorithm == "group-ring" and .exchange.groups == "host"'
holds plain.json '.results[0] | .group_sent_bytes == 98304 and .group_sent_wire_bytes == 98304 and .sent_bytes == 98304'
groups coded.json -p dense --algorithm aggregators --group-offload library -q
[ ! -s err.txt ] || fail "-q: $(cat err.txt)"
holds coded.json '.results[0] | .group_sent_bytes == 98304 and .group_sent_wire_bytes < 98304 and .wrong == 0'
groups three.json --groups 3
grep -qF "note: group-ring: 2 groups of 1 to 3, 3 ranks in a row" err.txt || fail "note: $(cat err.txt)"
groups number.json --groups number:9 --algorithm group-aggregator
grep -qF "note: group-aggregator: 1 group of 4, by number" err.txt || fail "note: $(cat err.txt)"
holds number.json '.exchange.groups == "number:9" and .results[0].model_us == 0'
expect 2 "--groups: groups is '0': want host, ranks of a group (1 to 256)" "$GRADNIC" bench allreduce -N 2 --groups 0
expect 2 "--groups goes with --algorithm group-ring" "$GRADNIC" bench allreduce -N 2 --groups 2 --algorithm direct
expect 2 "--group-offload goes with --algorithm group-ring" "$GRADNIC" bench allreduce -N 2 --group-offload none -p dense
expect 2 "--group-offload needs a profile" "$GRADNIC" bench allreduce -N 2 --groups 2 --group-offload library
expect 2 "--group-offload library: with --no-quantise only a NIC" \
    "$GRADNIC" bench allreduce -N 2 --groups 2 --group-offload library -p dense --no-quantise
expect 2 "group_offload library with offload none" "$GRADNIC" bench allreduce -N 2 --groups 2 --group-offload library -p dense --offload none

expect 2 "--op average goes with floats" "$GRADNIC" bench allreduce -N 2 --type i32 --op average
for algorithm in ring direct auto; do
    "$GRADNIC" bench allreduce -N 2 -b 64 -e 64 -n 1 --type f64 --op max --algorithm "$algorithm" >/dev/null ||
        fail "$algorithm has no f64"
done
for how in '--offload nic -p dense' '--tos 8' '--algorithm switch --switch 127.0.0.1:1'; do
    # shellcheck disable=SC2086 # words are wanted
    expect 2 "--no-shared-memory: values for a " "$GRADNIC" bench allreduce -N 2 --no-shared-memory $how
done
expect 2 "are compressed: -p goes with them" "$GRADNIC" bench allreduce -N 2 --op max -p dense
expect 2 "'f8' is none of" "$GRADNIC" bench allreduce -N 2 --type f8

# ---- bench allreduce --rate, --delay, and their old names: the model's link
model() { # model FILE ARGUMENT...
    local file=$1
    shift
    "$GRADNIC" bench allreduce -N 2 -b 64K -e 64K -n 1 -w 0 -c 0 -p none -q --json="$file" "$@" >table.txt 2>err.txt ||
        fail "$*: $(cat err.txt)"
}
# shellcheck disable=SC2016 # jq's variable
near='def near($x): . > $x * 0.999 and . < $x * 1.001;'
model new.json --rate 100mbit --delay 2ms
model old.json --link 100mbit --latency 2ms
grep -qF -- "--link is now --rate" err.txt || fail "--link: $(cat err.txt)"
grep -qF -- "--latency is now --delay" err.txt || fail "--latency: $(cat err.txt)"
for file in new.json old.json; do
    # 100 Mbit/s are 80 ns a byte. Two hops of 2 ms, and all bytes once, are 4 ms + 5.24 ms.
    holds $file "$near"' .model | (.latency_s | near(0.002)) and (.byte_s | near(8e-8))'
    holds $file "$near"' (.results[0].model_us - 32768 * .model.add_s * 1e6) | near(4000 + 65536 * 0.08)'
done
model slow.json --rate 1mbit --delay 30us
holds slow.json "$near"' .model | (.latency_s | near(3e-5)) and (.byte_s | near(8e-6))'

# ---- train: optimiser
digits=$SOURCE/tests/data
small=(train --hidden 16 -N 1 --momentum 0 --weight-decay 0 -q -f)
train() { # train FILE ARGUMENT...
    local file=$1
    shift
    "$GRADNIC" "${small[@]}" "$@" --json="$file" >said.txt 2>&1 || fail "train $*: $(cat said.txt)"
}
weights() { jq -r .weights "$1"; }
same_weights() { [ "$(weights "$1")" = "$(weights "$2")" ] || fail "other weights in $1 and $2"; }
other_weights() { [ "$(weights "$1")" != "$(weights "$2")" ] || fail "the same weights in $1 and $2"; }
data=(--data "$digits")
# Without a rate nothing is learnt, however long.
train still1.json "${data[@]}" --steps 1 --learning-rate 0
train still9.json "${data[@]}" --steps 9 --learning-rate 0 --momentum 0.9 --weight-decay 1
same_weights still1.json still9.json
train learns.json "${data[@]}" --steps 9 --learning-rate 0.05
other_weights still9.json learns.json
train faster.json "${data[@]}" --steps 9 --learning-rate 0.1
other_weights learns.json faster.json
holds faster.json '.options.learning_rate == 0.1 and .options.momentum == 0 and .options.weight_decay == 0'
# The momentum of the first step is not there yet.
train first.json "${data[@]}" --steps 1 --learning-rate 0.1
train first9.json "${data[@]}" --steps 1 --learning-rate 0.1 --momentum 0.9
same_weights first.json first9.json
train momentum.json "${data[@]}" --steps 9 --learning-rate 0.1 --momentum 0.9
other_weights faster.json momentum.json
# rate * decay = 1 takes each weight to 0, but for the gradient. Then all of ten classes are about
# as likely: the next loss is ln 10. Half of it, and nothing, leave more.
for decay in 0 0.5 1; do
    train "decay$decay.json" "${data[@]}" --steps 2 --evaluate-steps 1 --learning-rate 1 --weight-decay $decay
    holds "decay$decay.json" ".options.weight_decay == $decay"
done
jq -es 'map(.checkpoints[1].loss - (10 | log) | fabs) | .[0] > .[1] and .[1] > .[2] and .[2] < 0.005' decay0.json \
    decay0.5.json decay1.json >/dev/null ||
    fail "--weight-decay: $(jq -c '[.checkpoints[].loss]' decay*.json)"
# The rate drops after 4 steps: before that nothing is different, and then everything is. To drop to
# the same rate, or never, is not to drop.
drop() { train "$1" "${data[@]}" --learning-rate 0.1 "${@:2}"; }
drop before.json --steps 4 --rate-drop-steps 0
drop dropped.json --steps 4 --rate-drop 10 --rate-drop-steps 4
same_weights before.json dropped.json
drop dropped.json --steps 9 --rate-drop 10 --rate-drop-steps 4
other_weights faster.json dropped.json
drop other.json --steps 9 --rate-drop 5 --rate-drop-steps 4
other_weights dropped.json other.json
drop same.json --steps 9 --rate-drop 1 --rate-drop-steps 4
same_weights faster.json same.json

# ---- train: the four files one by one
part() { echo "$digits/digits-$1-idx$2-ubyte.gz"; }
files=(--train-images "$(part train-images 3)" --train-labels "$(part train-labels 1)"
    --test-images "$(part test-images 3)" --test-labels "$(part test-labels 1)")
train files.json "${files[@]}" --steps 9 --learning-rate 0.1
same_weights faster.json files.json
holds files.json '.data.train_images == 1500 and .data.test_images == 297'
files=(--train-images "$(part test-images 3)" --train-labels "$(part test-labels 1)"
    --test-images "$(part train-images 3)" --test-labels "$(part train-labels 1)")
train swapped.json "${files[@]}" --steps 9 --learning-rate 0.1
other_weights faster.json swapped.json
holds swapped.json '.data.train_images == 297 and .data.test_images == 1500'
for file in train-images train-labels test-images test-labels; do
    expect 1 "nowhere-$file" "$GRADNIC" "${small[@]}" "${files[@]}" "--$file" "nowhere-$file"
done

# ---- the workers' options for a switch
# sums FILE ARGUMENT...: two ranks over the switch at 7001
sums() {
    local file=$1
    shift
    "$GRADNIC" bench allreduce -N 2 -b 64K -e 64K -w 0 -c 1 -p none -q --force --rate 1gbit --delay 1us \
        --algorithm switch --json="$file" --switch "$host:7001" "$@" >table.txt 2>err.txt ||
        fail "$*: $(cat err.txt)"
    holds "$file" '.results[0].wrong == 0 and .results[0].identical'
}
total() { "$GRADNIC" switch stats -c one.sock --json | jq ".total.core.$1"; }
switch_start one 7001
sums plain.json -n 1
[ "$(grep -c 'runs: 2 children, 1 channel of 256 slots' one.log)" = 1 ] || fail "default slots: $(cat one.log)"
for slots in 1 32 512; do
    sums slots.json -n 1 --switch-slots $slots
    grep -q "runs: 2 children, 1 channel of $slots slots" one.log || fail "--switch-slots $slots: $(cat one.log)"
done
for values in 64 256 2000; do
    before=$(total results) chunks=$(((16384 + values - 1) / values))
    sums values.json -n 1 --switch-values $values
    results=$(($(total results) - before))
    # The measured vector and the one that is checked; there may be more.
    { [ $((results % chunks)) -eq 0 ] && [ $((results / chunks)) -ge 1 ] && [ $((results / chunks)) -le 4 ]; } ||
        fail "--switch-values $values: $results sums, of $chunks for each vector"
done
# In 16 bits a vector takes half the bytes: of f32 only with all. Packets have twice the values.
sent() { # sent TYPE WHICH [ARGUMENT...]: bytes that came up for the vectors of one run
    local before
    before=$(total up_bytes)
    sums half.json -n 20 --type "$1" --switch-half "$2" "${@:3}"
    echo $(($(total up_bytes) - before))
}
wide=$(sent f32 none)
[ $((10 * $(sent f32 all))) -lt $((6 * wide)) ] || fail "--switch-half all: f32 takes too many bytes"
[ $((10 * $(sent f32 types))) -gt $((9 * wide)) ] || fail "--switch-half types: f32 does not travel in 32 bits"
for type in bf16 f16; do
    wide=$(sent $type none) half=$(sent $type types)
    [ $((10 * half)) -lt $((6 * wide)) ] || fail "--switch-half types: $type takes $half bytes, and $wide without"
done
expect 2 "'some' is none of: none, types, all" "$GRADNIC" bench allreduce -N 2 --algorithm switch --switch "$host:7001" --switch-half some
expect 2 "--switch-half is for values without a profile" "$GRADNIC" bench allreduce -N 2 --algorithm switch --switch "$host:7001" -p dense --switch-half all
expect 2 "need --algorithm switch" "$GRADNIC" bench allreduce -N 2 --switch-half all
expect 2 "--switch-slots" "$GRADNIC" bench allreduce -N 2 --algorithm switch --switch "$host:7001" --switch-slots 3
expect 2 "--switch-values" "$GRADNIC" bench allreduce -N 2 --algorithm switch --switch "$host:7001" --switch-values 2049

# One packet under way at a time, and every tenth is lost on its way in: each loss costs the
# timeout.
switch_start lossy 7002 --loss in:10% --seed 5
lossy() { # lossy RTO: milliseconds of one vector of 32 packets
    sums rto.json -n 1 --switch "$host:7002" --switch-slots 1 --switch-values 512 --switch-rto "$1"
    jq '.results[0].time_us / 1000 | floor' rto.json
}
long=$(lossy 300ms) short=$(lossy 2ms)
[ "$long" -ge 300 ] || fail "--switch-rto 300ms: a vector with losses took $long ms"
[ $((2 * short)) -lt "$long" ] || fail "--switch-rto 2ms: a vector took $short ms, and $long with 300ms"

# ---- switch --place
switch_start root 7010
switch_start leaf 7011 --parent "$host:7010"
expect 1 "nobody says its place there: parent_children is 0 (--place)" \
    "$GRADNIC" bench allreduce -N 2 -b 64K -e 64K -p none --algorithm switch --switch "$host:7011"
switch_start only 7012 --parent "$host:7010" --place 0/1
sums place.json -n 1 --switch "$host:7012"
grep -q 'runs: 1 child,' root.log || fail "--place 0/1: $(cat root.log)"
# The first rank's leaf would have bit 0, and the other bit 1. --place says it the other way round.
switch_start left 7013 --parent "$host:7010" --place 1/2
switch_start right 7014 --parent "$host:7010" --place 0/2
for rank in 0 1; do
    "$GRADNIC" bench allreduce --rank $rank --world-size 2 --rendezvous "file://$PWD/meet" -b 64K -e 64K -n 100000 \
        -w 0 -c 0 -p none \
        --algorithm switch --switch "$host:$((7013 + rank))" >"rank$rank.out" 2>"rank$rank.err" &
    pids+=($!)
done
for _ in $(seq 500); do
    "$GRADNIC" switch jobs -c root.sock --json >jobs.json
    jq -e '.jobs | any(.state == "running" and .children == 2)' jobs.json >/dev/null && break
    sleep 0.02
done
holds jobs.json ".jobs[0].members | map({bit, rank, address}) ==
    [{bit: 0, rank: 1, address: \"$host:7014\"}, {bit: 1, rank: 0, address: \"$host:7013\"}]"
expect 2 "--place needs --parent" "$GRADNIC" switch -c none -l "$host:7015" --place 0/1
