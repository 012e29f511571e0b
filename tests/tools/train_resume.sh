#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checkpoints of gradnic train: a training that was interrupted, or killed at any moment, goes on
# and ends with the same bits. What does not fit is refused with a reason.
# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"
digits=$SOURCE/tests/data
base=(train --data "$digits" --hidden 64 --timeout 20s --augment 2 -q -f)
weights() { jq -r '[.weights, .checkpoints[-1].loss, .checkpoints[-1].accuracy]' "$1"; }
saved() { # saved FILE: the step of a checkpoint
    od -An -t u8 -j 24 -N 8 "$1" | tr -d ' '
}

# The same bits with everything that has a state: momentum, error feedback, the order of an epoch,
# the learning rate, losses, the transform of NICs.
for how in '--feedback -k 8' '' '-k 2 --scale auto --overlap --batch 5 --algorithm direct' \
    '--overlap --feedback' '-p paper --nic in-process --feedback' '-k 2 --scale auto --feedback' \
    '--algorithm worker-aggregator -p dense' '--evaluate-steps 7 --rate-drop-steps 20 --batch 10' \
    '--augment 0 --steps 50'; do
    rm -f c.*
    # shellcheck disable=SC2206 # words are wanted
    options=(-N 3 --steps 50 $how)
    "$GRADNIC" "${base[@]}" "${options[@]}" --json=whole.json
    "$GRADNIC" "${base[@]}" "${options[@]}" --steps 25 --checkpoint c --checkpoint-steps 10 --json=part.json
    [ "$(saved c.0) $(saved c.2.before)" = "20 10" ] ||
        fail "steps of the checkpoints: $(saved c.0) $(saved c.2.before)"
    "$GRADNIC" "${base[@]}" "${options[@]}" --checkpoint c --resume --json=rest.json
    [ "$(weights whole.json)" = "$(weights rest.json)" ] ||
        fail "other bits with '$how': $(weights whole.json) $(weights rest.json)"
    # A rank that is behind: all go back to what it has.
    for rank in 0 2; do mv c.$rank.before c.$rank; done
    "$GRADNIC" "${base[@]}" "${options[@]}" --checkpoint c --resume --json=back.json
    [ "$(weights whole.json)" = "$(weights back.json)" ] || fail "other bits with '$how' after a step back"
done
[ "$(saved c.1)" = 10 ] || fail "it did not go back: $(saved c.1)"
[ ! -e c.1.before ] || fail "a checkpoint that the others lack is still there"
# At the end nothing is left to do. That is no failure, and says the result.
"$GRADNIC" "${base[@]}" -N 3 --augment 0 --steps 10 --checkpoint c --resume --json=end.json
jq -e '.accuracy > 0 and .replicas_identical and (.checkpoints | length) == 1' end.json >/dev/null ||
    fail "$(cat end.json)"
# Gradients that were dumped behind the last checkpoint are made again, and are the same. A file
# that has others is somebody else's.
rm -f c.*
dumping=(train --data "$digits" --hidden 64 --timeout 20s -q -N 2 --checkpoint c --resume --dump-gradients dump --dump-steps 3)
"$GRADNIC" "${dumping[@]}" --steps 4
mkdir kept
cp c.* kept
"$GRADNIC" "${dumping[@]}" --steps 10
cp -r dump dumped
cp kept/* .
"$GRADNIC" "${dumping[@]}" --steps 10
diff -r dump dumped || fail "other gradients after a step back"
[ "$(find dump -name 'step0000[369]-rank0-*.npy' | wc -l)" -eq "$(find dump -type f | wc -l)" ] || fail "$(ls dump)"
cp dump/step00006-rank0-layer1-bias.npy dump/step00009-rank0-layer1-bias.npy
cp kept/* .
expect 1 "dump/step00009-rank0-layer1-bias.npy: exists already; --force overwrites it" "$GRADNIC" "${dumping[@]}" --steps 10
cmp dump/step00006-rank0-layer1-bias.npy dump/step00009-rank0-layer1-bias.npy || fail "it was overwritten"
for steps in 20 50; do # not at the end of an epoch, and after results
    rm -f c.*
    last=(-N 2 --steps "$steps" --evaluate-steps 25 --checkpoint c --checkpoint-steps 10)
    "$GRADNIC" "${base[@]}" "${last[@]}" --json=whole.json
    "$GRADNIC" "${base[@]}" "${last[@]}" --resume --json=end.json
    [ "$(weights whole.json)" = "$(weights end.json)" ] ||
        fail "another end after $steps steps: $(weights whole.json) $(weights end.json)"
done

# A signal: saved after the step, ended by the signal, and the rest gives the same bits. With -N,
# and with ranks of their own, of which one gets the signal.
rm -f c.*
options=(--steps 600 --feedback)
# begun FILE: the training has made a step
begun() {
    for ((i = 0; i < 400; i++)); do
        [ ! -s "$1" ] || return 0
        sleep 0.02
    done
    fail "it did not begin"
}
slow=(--nic in-process --rate 4mbit) # so that there is time
"$GRADNIC" "${base[@]}" -N 2 "${options[@]}" --nic in-process --json=whole.json
# Systemd, Slurm and others signal all processes of a job, so ranks hear of it twice.
for how in TERM HUP 'TERM group'; do
    read -r signal group <<<"$how"
    setsid "$GRADNIC" "${base[@]}" -N 2 "${options[@]}" "${slow[@]}" --checkpoint c --resume 2>err &
    pid=$!
    begun c.0
    begun c.1
    before=$(saved c.0)
    sleep 0.7
    kill -s "$signal" -- "${group:+-}$pid"
    [ -z "$group" ] || { sleep 0.02; kill -s "$signal" -- "-$pid" 2>/dev/null || true; }
    got=0
    wait "$pid" || got=$?
    [ "$got" -eq $((128 + $(kill -l "$signal"))) ] || fail "ended with $got after SIG$signal: $(cat err)"
    grep -q 'note: interrupted after step [1-9][0-9]*; --resume goes on from there' err || fail "no note: $(cat err)"
    [ "$(saved c.0)" = "$(saved c.1)" ] || fail "saved steps: $(saved c.0) $(saved c.1)"
    [ "$(saved c.0)" -gt "$before" ] || fail "SIG$how: nothing was saved after step $before"
done
# The limit of processor time, or a batch system, signals single ranks: they are not called killed.
for signal in XCPU USR1; do
    "$GRADNIC" "${base[@]}" -N 2 "${options[@]}" "${slow[@]}" --checkpoint c --resume 2>err &
    pid=$!
    begun c.0
    begun c.1
    before=$(saved c.0)
    sleep 0.7
    kill -s "$signal" "$(pgrep -P "$pid" | tail -1)"
    got=0
    wait "$pid" || got=$?
    [ "$got" -eq $((128 + $(kill -l "$signal"))) ] || fail "SIG$signal at a rank: ended with $got: $(cat err)"
    grep -q 'note: interrupted after step' err || fail "no note: $(cat err)"
    ! grep -q 'killed' err || fail "SIG$signal at a rank: $(cat err)"
    [ "$(saved c.0)" -gt "$before" ] || fail "SIG$signal at a rank: nothing was saved after step $before"
done
# Before there is anything to save, a signal ends a rank at once.
env --default-signal=INT "$GRADNIC" "${base[@]}" "${options[@]}" --rank 0 --world-size 2 \
    --rendezvous "file://$work/nobody" --checkpoint c --resume &
pid=$!
sleep 0.5
began=$SECONDS
kill -s INT "$pid"
got=0
wait "$pid" || got=$?
[ "$got" -eq 130 ] || fail "a rank that waits for others ended with $got"
[ $((SECONDS - began)) -lt 10 ] || fail "a rank that waits for others ended after $((SECONDS - began)) s"
# A second signal, later, ends it also where the others stand still.
pids=()
for rank in 0 1; do
    "$GRADNIC" "${base[@]}" "${options[@]}" "${slow[@]}" --rank "$rank" --world-size 2 \
        --rendezvous "file://$work/meet" --checkpoint c --resume 2>/dev/null &
    pids+=($!)
done
sleep 1
kill -s STOP "${pids[0]}"
kill -s TERM "${pids[1]}"
sleep 1.2
kill -s TERM "${pids[1]}"
began=$SECONDS
got=0
wait "${pids[1]}" || got=$?
[ "$got" -eq 143 ] || fail "a second signal: ended with $got"
[ $((SECONDS - began)) -lt 10 ] || fail "a second signal ended it after $((SECONDS - began)) s"
kill -s CONT "${pids[0]}"
wait "${pids[0]}" && fail "a rank lost the other, and its status is 0"
# The kernel sends SIGXCPU again and again.
for signal in TERM USR1 USR2 XCPU; do
    pids=()
    for rank in 0 1; do
        "$GRADNIC" "${base[@]}" "${options[@]}" "${slow[@]}" --rank "$rank" --world-size 2 \
            --rendezvous "file://$work/meet" --checkpoint c --resume 2>err.$rank &
        pids+=($!)
    done
    before=$(saved c.0)
    sleep 1.2
    kill -s "$signal" "${pids[1]}"
    [ "$signal" != XCPU ] || kill -s XCPU "${pids[1]}"
    ends=(0 0)
    for rank in 0 1; do wait "${pids[$rank]}" || ends[rank]=$?; done
    [ "${ends[*]}" = "1 $((128 + $(kill -l "$signal")))" ] || fail "SIG$signal: ended with ${ends[*]}: $(cat err.0 err.1)"
    [ "$(saved c.0)" = "$(saved c.1)" ] || fail "SIG$signal: saved steps: $(saved c.0) $(saved c.1)"
    [ "$(saved c.0)" -gt "$before" ] || fail "SIG$signal: nothing was saved after step $before"
done
"$GRADNIC" "${base[@]}" -N 2 "${options[@]}" --nic in-process --checkpoint c --resume --json=rest.json
[ "$(weights whole.json)" = "$(weights rest.json)" ] || fail "other bits after signals"

# Killed at any moment, again and again.
rm -f c.*
kills=0
for ((i = 0; i < 60; i++)); do
    setsid "$GRADNIC" "${base[@]}" -N 2 "${options[@]}" --nic in-process --checkpoint c --checkpoint-steps 3 --resume \
        --json=rest.json 2>err &
    pid=$!
    sleep "0.$((RANDOM % 15 + 12))"
    # A rank first, then all of them: files of different steps.
    victim=$(pgrep -P "$pid" | tail -n 1) || true
    [ -z "$victim" ] || kill -s KILL "$victim" 2>/dev/null || true
    ! kill -s KILL -- "-$pid" 2>/dev/null || kills=$((kills + 1))
    got=0
    wait "$pid" || got=$?
    [ "$got" -ne 0 ] || break
    [ "$got" -eq 137 ] || fail "ended with $got: $(cat err)"
done
[ "$got" -eq 0 ] ||
    "$GRADNIC" "${base[@]}" -N 2 "${options[@]}" --nic in-process --checkpoint c --checkpoint-steps 3 --resume \
    --json=rest.json
[ "$(weights whole.json)" = "$(weights rest.json)" ] ||
    fail "other bits after $kills kills: $(weights whole.json) $(weights rest.json)"
echo "killed $kills times"
[ "$(find . -name 'c.*' | wc -l)" -le 6 ] || fail "files stay behind: $(ls)"

# Two trainings with one checkpoint: the second is refused, with -f as well, and the first goes on.
rm -f c.*
slow=(--nic in-process --rate 1mbit)
"$GRADNIC" "${base[@]}" -N 2 "${options[@]}" "${slow[@]}" --checkpoint c --checkpoint-steps 1 2>err &
pid=$!
begun c.1
for how in --resume --seed=2; do
    expect 1 ": another training that runs keeps this checkpoint; end it, or name another file" \
        "$GRADNIC" "${base[@]}" -N 2 "${options[@]}" "${slow[@]}" --checkpoint c "$how"
done
kill "$pid"
got=0
wait "$pid" || got=$?
[ "$got" -eq 143 ] || fail "the first training ended with $got: $(cat err)"
"$GRADNIC" "${base[@]}" -N 2 "${options[@]}" --nic in-process --checkpoint c --resume --json=rest.json
[ "$(weights whole.json)" = "$(weights rest.json)" ] || fail "another training changed the checkpoint"

# What does not fit.
one=(-N 1 --steps 4 --feedback --checkpoint d --checkpoint-steps 2)
"$GRADNIC" "${base[@]}" "${one[@]}"
try() { # try TEXT OPTION...
    local text=$1
    shift
    expect 1 "$text" "$GRADNIC" "${base[@]}" "${one[@]}" --resume "$@"
}
try "d.0: --batch was 25 there, and is 30 now" --batch 30
try "d.0: --seed was 1 there, and is 2 now" --seed 2
try "d.0: --learning-rate was 0.1 there, and is 0.2 now" --learning-rate 0.2
try "d.0: --bound was 10 there, and is 9 now" -k 9
try "d.0: it is of rank 0 of 1, and this is rank 0 of 2" -N 2
try "d.0: --profile was dense there, and is lattice now" -p lattice
try "d.0: --scale was none there, and is auto now" --scale auto
"$GRADNIC" "${base[@]}" -N 1 --steps 2 -p dense --checkpoint f --checkpoint-steps 2
expect 1 "f.0: compression (-p) was on there, and is off now" \
    "$GRADNIC" "${base[@]}" -N 1 --steps 2 --checkpoint f --resume
expect 1 "d.0: --feedback was on there, and is off now" \
    "$GRADNIC" "${base[@]}" -N 1 --steps 4 -p dense --checkpoint d --resume
expect 1 "d.0: exists already; --resume goes on from it, --force overwrites it" \
    "$GRADNIC" train --data "$digits" -q --hidden 64 -N 1 --steps 4 --checkpoint d
[ "$("$GRADNIC" train --data "$digits" -q --hidden 64 -N 3 --steps 4 --checkpoint d 2>&1 | wc -l)" -eq 1 ] ||
    fail "said by every rank"
# A checkpoint that came behind the first look, while rank 0 waited for the others, stays as well.
bare=(train --data "$digits" -q --hidden 64 --timeout 20s --steps 4 --world-size 2 --rendezvous "file://$work/late")
"$GRADNIC" "${bare[@]}" --rank 0 --checkpoint k 2>err.0 &
pid=$!
until_holds "rank 0 does not wait" test -s late
cp d.0 k.0
got=0
"$GRADNIC" "${bare[@]}" --rank 1 --checkpoint k 2>err.1 || got=$?
[ "$got" -eq 1 ] || fail "rank 1 ended with $got: $(cat err.1)"
got=0
wait "$pid" || got=$?
[ "$got" -eq 1 ] || fail "rank 0 ended with $got: $(cat err.0)"
grep "k.0: exists already; --resume goes on from it" err.0 >/dev/null || fail "why: $(cat err.0)"
same k.0 d.0
# A file of results that cannot be opened costs no checkpoint, not even with -f.
cp d.0 copy
expect 1 "nowhere/x.json: No such file or directory" "$GRADNIC" "${base[@]}" "${one[@]}" --json=nowhere/x.json
same d.0 copy
# No two options write one file, and none writes what the training reads.
ln -s . here
for json in d.0 ./d.0 here/d.7 "$PWD/d.0.before" d.2.new; do
    expect 1 "$json: --json and --checkpoint both write this file" "$GRADNIC" "${base[@]}" "${one[@]}" --json="$json"
done
ln -s d.0 link.json
expect 1 "link.json: --json and --checkpoint both write this file" "$GRADNIC" "${base[@]}" "${one[@]}" --json=link.json
"$GRADNIC" "${base[@]}" "${one[@]}" --json=d.json
labels=("$digits"/*train*labels*)
zcat -f "${labels[0]}" >i.0
cp i.0 copy
expect 1 "i.0: is read by this command" "$GRADNIC" "${base[@]}" -N 1 --steps 2 --train-labels i.0 --checkpoint i
same i.0 copy
(umask 077 && head -c 32 /dev/urandom >s.0)
cp s.0 copy
expect 1 "s.0: is read by this command" "$GRADNIC" "${base[@]}" -N 2 --steps 2 --secret s.0 --checkpoint s
expect 1 "s.0: is read by this command" "$GRADNIC" "${base[@]}" -N 2 --steps 2 --secret s.0 --json=./s.0
same s.0 copy
expect 2 "--resume needs --checkpoint" "$GRADNIC" "${base[@]}" -N 1 --resume
expect 2 "--checkpoint-steps needs --checkpoint" "$GRADNIC" "${base[@]}" -N 1 --checkpoint-steps 3
expect 1 "--checkpoint: nowhere: No such file or directory" \
    "$GRADNIC" "${base[@]}" -N 2 --steps 2 --checkpoint nowhere/c
# One rank has checkpoints, and the other has not.
"$GRADNIC" "${base[@]}" --steps 4 --rank 0 --world-size 2 --rendezvous "file://$work/meet" --checkpoint e 2>err.0 &
pid=$!
expect 1 "rank 1 was started with other options or other data than rank 0" \
    "$GRADNIC" "${base[@]}" --steps 4 --rank 1 --world-size 2 --rendezvous "file://$work/meet"
! wait "$pid" || fail "a rank alone has checkpoints"
# Ranks without a step that all have.
rm -f c.*
"$GRADNIC" "${base[@]}" -N 2 --steps 9 --checkpoint c --checkpoint-steps 3
rm c.1 c.1.before
expect 1 "no checkpoint that all ranks have: rank 0 has step 9 or 6, rank 1 has none" \
    "$GRADNIC" "${base[@]}" -N 2 --steps 20 --checkpoint c --resume
# Who compresses decides the bits with paper alone.
for profile in dense paper; do
    rm -f c.*
    "$GRADNIC" "${base[@]}" -N 2 -p $profile --steps 6 --json=whole.json
    "$GRADNIC" "${base[@]}" -N 2 -p $profile --steps 4 --checkpoint c --checkpoint-steps 4
    "$GRADNIC" "${base[@]}" -N 2 -p $profile --steps 6 --nic in-process --checkpoint c --resume --json=rest.json
    [ "$(weights whole.json)" = "$(weights rest.json)" ] || fail "other bits with $profile in the library and by NICs"
done
expect 1 "paper's cuts on the way (--offload) was on there, and is off now" "$GRADNIC" "${base[@]}" -N 2 -p paper --steps 9 --offload none --checkpoint c --resume
# How vectors are added decides the bits without compression, and with paper.
four_steps() { # four_steps OPTION... -- OTHER OPTION...: with the former, in ${begun[@]}; the others are in ${others[@]}
    begun=()
    while [ "$1" != -- ]; do
        begun+=("$1")
        shift
    done
    others=("${@:2}")
    rm -f c.*
    "$GRADNIC" "${base[@]}" "${begun[@]}" --steps 4 --checkpoint c --checkpoint-steps 4
}
same_sums() { # same_sums OPTION... -- OTHER OPTION...: the same bits, so --resume takes the others
    four_steps "$@"
    "$GRADNIC" "${base[@]}" "${begun[@]}" --steps 6 --json=whole.json
    "$GRADNIC" "${base[@]}" "${others[@]}" --steps 6 --checkpoint c --resume --json=rest.json
    [ "$(weights whole.json)" = "$(weights rest.json)" ] || fail "other bits with ${others[*]} after ${begun[*]}"
}
other_sums() { # other_sums TEXT OPTION... -- OTHER OPTION...
    four_steps "${@:2}"
    expect 1 ": $1" "$GRADNIC" "${base[@]}" "${others[@]}" --steps 6 --checkpoint c --resume
}
same_sums -N 4 -p dense -- -N 4 -p dense --algorithm direct
same_sums -N 4 -p lattice --algorithm group-ring --groups 2 -- -N 4 -p lattice --groups 3
same_sums -N 4 -p none --algorithm group-ring -- -N 4 -p none --groups host
other_sums "--algorithm was ring there, and is direct now" -N 4 -p none -- -N 4 -p none --algorithm direct
other_sums "--algorithm was worker-aggregator there, and is ring now" -N 4 -p paper --algorithm worker-aggregator -- \
    -N 4 -p paper
other_sums "--algorithm was ring there, and is group-ring now" -N 4 -p none -- -N 4 -p none --groups 2
other_sums "--groups was 2 there, and is host now" -N 4 -p none --groups 2 -- -N 4 -p none --groups host
other_sums "paper's cuts within a group (--group-offload) was off there, and is on now" -N 4 -p paper --groups host -- \
    -N 4 -p paper --groups host --group-offload library
switches_at 10
switch_start one 7001
switched=(-N 2 -p none --algorithm switch --switch "$host:7001")
same_sums "${switched[@]}" -- "${switched[@]}" --switch-half types
other_sums "--switch-half was none there, and is all now" "${switched[@]}" -- "${switched[@]}" --switch-half all
other_sums "--switch-values was 64 there, and is 128 now" "${switched[@]}" --switch-values 64 -- \
    "${switched[@]}" --switch-values 128
# A checkpoint of an older version lacks them.
rm -f c.*
"$GRADNIC" "${base[@]}" -N 4 --steps 4 --checkpoint c --checkpoint-steps 4
"$PYTHON" - <<'PY'
import struct
for name in ("c.%d" % rank for rank in range(4)):
    data = open(name, "rb").read()
    words = list(struct.unpack_from("<33Q", data, 8))
    words[5], words[28:] = 20, []
    values, hash = data[8 + 33 * 8 : -8], 0xCBF29CE484222325
    for word in (*words, *struct.unpack("<%dI" % (len(values) // 4), values)):
        hash = (hash ^ word) * 0x100000001B3 % 2**64
    open(name, "wb").write(data[:8] + struct.pack("<28Q", *words) + values + struct.pack("<Q", hash))
PY
"$GRADNIC" "${base[@]}" -N 4 --steps 6 --checkpoint c --resume --json=rest.json
"$GRADNIC" "${base[@]}" -N 4 --steps 6 --json=whole.json
[ "$(weights whole.json)" = "$(weights rest.json)" ] || fail "other bits after a checkpoint without these settings"
# A file that is damaged, anywhere.
size=$(stat -c %s d.0)
for at in 0 9 20 100 300 5000 $((size / 2)) $((size - 4)); do
    cp d.0 keep
    printf '\325' | dd of=d.0 bs=1 seek="$at" conv=notrunc status=none
    try "d.0: "
    cp keep d.0
done
truncate -s -1 d.0
try "d.0: the file ends too early; remove it, and the one before it is used"
cp keep d.0
echo >>d.0
try "d.0: its bytes do not fit their check"
: >d.0
try "d.0: the file ends too early"
echo "not a checkpoint" >d.0
try "d.0: it is not a checkpoint of gradnic"
rm d.0
"$GRADNIC" "${base[@]}" "${one[@]}" --resume || fail "the checkpoint before was not enough"

# Nothing of a user's is overwritten: not where a file is written beside its name, either.
plain=(train --data "$digits" --hidden 8 --layers 2 --timeout 20s -q -N 1 --steps 4 --checkpoint e --checkpoint-steps 2)
for resume in '' --resume; do
    echo mine >e.0.new
    expect 1 "e.0.new: is not a checkpoint of gradnic's, and one would be written there; move it away" \
        "$GRADNIC" "${plain[@]}" $resume
    [ "$(cat e.0.new)" = mine ] || fail "a file was overwritten"
    rm e.0.new
    mkfifo e.0.new
    expect 1 "e.0.new: is not a checkpoint" timeout 10 "$GRADNIC" "${plain[@]}" $resume
    rm e.0.new
done
head -c 100 c.0 >e.0.new # of a rank that was killed
"$GRADNIC" "${plain[@]}"
[ ! -e e.0.new ] || fail "a rest of a rank that was killed is still there"
rm e.0
mkfifo e.0 # nobody ever writes into it
expect 1 "e.0: is not an ordinary file" timeout 10 "$GRADNIC" "${plain[@]}" --resume
rm e.0*

# A full disk ends the training with a reason, and what was saved before stays.
if [ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null; then
    mkdir small
    # shellcheck disable=SC2016 # the inner shell expands them
    unshare -m bash -c 'mount -t tmpfs -o size=320k none small && "$@" 2>err; got=$?; ls small >left; exit $got' - \
        "$GRADNIC" "${base[@]}" -N 1 --steps 9 --feedback --checkpoint small/c --checkpoint-steps 3 &&
        fail "a full disk"
    grep -q 'small/c.0.new: No space left on device' err || fail "a full disk: $(cat err)"
    [ "$(grep -c new left)$(grep -cx c.0 left)" = 01 ] || fail "a full disk leaves $(cat left)"
fi

# Strangers cannot read a checkpoint, and so not lock it.
mkdir -m 755 own
(umask 022 && "$GRADNIC" "${base[@]}" -N 2 --steps 4 --checkpoint own/c --checkpoint-steps 2)
for file in c.0 c.1 c.0.before c.1.before; do
    [ "$(stat -c %a own/$file)" = 640 ] || fail "$file has the mode $(stat -c %a own/$file)"
done
# Where everybody may put files, those of others are not gone on from. One's own are.
"$GRADNIC" train --data "$digits" --hidden 64 --augment 2 -f -N 2 --steps 6 --checkpoint own/c --resume >/dev/null 2>log
! grep 'everybody may' log || fail "a folder of one's own is called open"
chmod 1777 own
"$GRADNIC" train --data "$digits" --hidden 64 --augment 2 -f -N 2 --steps 8 --checkpoint own/c --resume >/dev/null 2>log
grep 'note: everybody may put files into own, and so stop this training' log >/dev/null || fail "not said: $(cat log)"
if [ "$(id -u)" -eq 0 ]; then
    chown 65534 own/c.1
    expect 1 "own/c.1: belongs to another account (65534), and everybody may put files into own" \
        "$GRADNIC" "${base[@]}" -N 2 --steps 10 --checkpoint own/c --resume
    chmod 755 own # nobody else could have put it there
    "$GRADNIC" "${base[@]}" -N 2 --steps 10 --checkpoint own/c --resume
else
    echo "train_resume.sh: not root: checkpoints of another account are SKIPPED"
fi
