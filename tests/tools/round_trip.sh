#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2002,SC2016 # a pipe is meant; bash -c expands it
# compress and decompress: formats, pipes, names, -f, exit statuses, and failures that leave no
# file.
# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"

"$PYTHON" -c '
import numpy as np
rng = np.random.default_rng(2)
(rng.standard_normal(600001) * rng.choice([1e-4, 1e-2, 1, 90], 600001)).astype("<f4").tofile("a.f32")'
gzip -k a.f32

# The same values give the same bytes, with any kind of input and output.
"$GRADNIC" compress -q a.f32
"$GRADNIC" compress -q -o packed.gn a.f32.gz               # count known only at the end: header written afterwards
"$GRADNIC" compress -q - <a.f32 >stdin.gn                  # standard output can be rewound
(echo -n head; "$GRADNIC" compress -q -o - - <a.f32) >after # ... to where it began
"$GRADNIC" compress -q -o - a.f32.gz | cat >piped.gn       # cannot: through a temporary file
cat a.f32 | "$GRADNIC" compress - | cat >pipes.gn
: >appended.gn
"$GRADNIC" compress -o - a.f32.gz >>appended.gn
tail -c +5 after >after.gn
for f in packed stdin piped pipes after appended; do same a.f32.gn $f.gn; done

"$GRADNIC" decompress -q -o b.f32 a.f32.gn
"$GRADNIC" decompress - <a.f32.gn >c.f32
gzip -c a.f32.gn | "$GRADNIC" decompress - | cmp - c.f32 || fail "gzip on standard input"
cat a.f32.gz | "$GRADNIC" compress - >gzip-pipe.gn
"$GRADNIC" compress --format f32 - <a.f32.gz >gzip-file.gn
cat a.f32.gz <(head -c 40 a.f32 | gzip) <(head -c 999 /dev/zero) >members.f32.gz # several members, and a tape's padding
cat a.f32 <(head -c 40 a.f32) >both.f32
"$GRADNIC" compress members.f32.gz
"$GRADNIC" compress -o both.gn both.f32
same a.f32.gn gzip-pipe.gn
same a.f32.gn gzip-file.gn
same members.f32.gn both.gn
gzip -k a.f32.gn
"$GRADNIC" decompress -q -o d.npy a.f32.gn.gz
"$GRADNIC" decompress -q --to npy -o - a.f32.gn >e.npy
same b.f32 c.f32
same d.npy e.npy
same b.f32 <(tail -c +129 d.npy)

# Compressing again what was decompressed changes nothing.
"$GRADNIC" compress -q -o again.gn b.f32
"$GRADNIC" decompress -q -o again.f32 again.gn
same b.f32 again.f32
"$GRADNIC" compress -q -o recompressed.gn a.f32.gn
same again.gn recompressed.gn

"$PYTHON" - <<'PY'
import os, sys
import numpy as np
sys.path.insert(0, os.environ["SOURCE"] + "/tests/tools")
import reference
decoded = reference.lattice(np.fromfile("a.f32", "<f4"), 10)[1].tobytes()
assert np.fromfile("b.f32", "<f4").tobytes() == decoded
profile, k, values = reference.read_container(open("a.f32.gn", "rb").read())  # a second reader
assert (profile, k) == (2, 10) and values.tobytes() == decoded
PY
"$GRADNIC" compress -q -p paper -k 7 -o paper.gn a.f32
"$GRADNIC" compress -q -p lattice -o lattice.gn a.f32
"$PYTHON" - <<'PY'
import os, sys
import numpy as np
sys.path.insert(0, os.environ["SOURCE"] + "/tests/tools")
import reference
profile, k, values = reference.read_container(open("paper.gn", "rb").read())
assert (profile, k) == (0, 7) and values.tobytes() == reference.paper(np.fromfile("a.f32", "<f4"), 7)[1].tobytes()
profile, k, values = reference.read_container(open("lattice.gn", "rb").read())
assert (profile, k) == (1, 10) and values.tobytes() == open("b.f32", "rb").read()  # dense's values
PY

# --json, default names
[ "$("$GRADNIC" compress -f --json a.f32.gz | jq -r '[.output, .values, .profile, .bound_exp, .output_bytes] | join(" ")')" = \
    "a.f32.gn 600001 dense 10 $(stat -c %s a.f32.gn)" ] || fail "summary as JSON"
cp a.f32.gn plain.gn
"$GRADNIC" decompress -q plain.gn
same plain.npy d.npy
cp a.f32 values
expect 1 "values: neither its name (.npy, .f32, .gn, each also .gz; .npz, .safetensors, .pt) nor its first bytes tell the format" "$GRADNIC" compress values
"$GRADNIC" compress -q --format f32 values
same values.gn a.f32.gn

# Empty input
expect 1 "standard input: the file is empty" bash -c '"$GRADNIC" compress - </dev/null'
[ "$("$GRADNIC" compress --format f32 - </dev/null | wc -c)" -eq 40 ] || fail "no values at all"
: >empty.f32
"$GRADNIC" compress -q empty.f32
[ "$(stat -c %s empty.f32.gn)" -eq 40 ] || fail "an empty file is a header"
"$GRADNIC" decompress -q -f empty.f32.gn
[ ! -s empty.f32 ] || fail "empty"

# Nothing is overwritten without -f; -f keeps the old file until the new one is complete.
cp a.f32.gn keep
expect 1 "gradnic compress: a.f32.gn: exists already; --force overwrites it" "$GRADNIC" compress -k 6 a.f32
same a.f32.gn keep
head -c 1001 a.f32 >cut.f32
expect 1 "cut.f32: byte 1000: ends within a value (1 of its 4 bytes)" "$GRADNIC" compress -f -o a.f32.gn cut.f32
same a.f32.gn keep
"$GRADNIC" compress -q -f -k 6 a.f32
cmp -s a.f32.gn keep && fail "-f did not overwrite"
cp a.f32 b.f32
ln -s b.f32 link.f32
expect 1 "link.f32: is the input" "$GRADNIC" compress -f -o link.f32 b.f32
expect 1 "b.f32: is the input" bash -c '"$GRADNIC" compress -f -o b.f32 - <b.f32'
expect 1 "plain.gn: is the input" "$GRADNIC" decompress -f --to f32 -o plain.gn plain.gn
same a.f32 b.f32

# Corrupt gzip: the error names the file and the byte.
"$PYTHON" - <<'PY'
data = bytearray(open("a.f32.gz", "rb").read())
open("behind.f32.gz", "wb").write(data + b"junk")
open("short.f32.gz", "wb").write(data[:-9])
open("plain.f32.gz", "wb").write(bytes(100))
data[-6] ^= 1
open("sum.f32.gz", "wb").write(data)
data[20000:20100] = bytes(100)
open("middle.f32.gz", "wb").write(data)
PY
size=$(stat -c %s a.f32.gz)
expect 1 "behind.f32.gz: byte $size: the bytes behind the gzip data are not gzip data" "$GRADNIC" compress behind.f32.gz
expect 1 "short.f32.gz: byte $((size - 9)): the gzip file is truncated" "$GRADNIC" compress short.f32.gz
expect 1 "plain.f32.gz: byte 0: not a gzip file" "$GRADNIC" compress plain.f32.gz
expect 1 "sum.f32.gz: byte " "$GRADNIC" compress sum.f32.gz
expect 1 "the gzip data is corrupt" "$GRADNIC" compress sum.f32.gz
expect 1 "middle.f32.gz: byte " "$GRADNIC" compress middle.f32.gz
expect 1 "standard input: byte " bash -c '"$GRADNIC" compress - <middle.f32.gz | cat; exit ${PIPESTATUS[0]}'

# Failures leave nothing.
rm -rf ./* && "$PYTHON" -c 'open("a.f32", "wb").write(bytes(4000001))'
expect 1 "a.f32: byte 4000000: ends within a value" "$GRADNIC" compress a.f32
expect 1 "missing.npy: No such file or directory" "$GRADNIC" compress missing.npy
expect 1 "no/such/folder/x.gn: No such file or directory" "$GRADNIC" compress -o no/such/folder/x.gn a.f32
expect 1 "not a .gn file" "$GRADNIC" decompress -o x.f32 a.f32
head -c 4000000 a.f32 >b.f32
expect 1 "/dev/full: No space left on device" "$GRADNIC" compress -o /dev/full b.f32
expect 1 "standard output: No space left on device" bash -c '"$GRADNIC" compress -o - b.f32 >/dev/full'
# One output may not overwrite the other, however its name is spelled, and not with -f either.
ln -s . here
for other in ./x.gn "$PWD/x.gn" here/x.gn; do
    rm -f x.gn
    expect 1 "x.gn: another option writes this file, too" "$GRADNIC" compress -q -f -o x.gn --json="$other" b.f32
    "$GRADNIC" compress -q -o x.gn b.f32
    expect 1 "another option writes this file, too" "$GRADNIC" compress -q -f -o x.gn --json="$other" b.f32
    expect 1 "another option writes this file, too" "$GRADNIC" decompress -q -f -o y.f32 --json=./y.f32 x.gn
    [ "$(head -c 8 x.gn)" = GRADNIC1 ] || fail "--json overwrote the .gn file"
done
rm -f x.gn y.f32 here
expect 1 "/dev/full: JSON output: No space left on device" "$GRADNIC" compress -q -f -o /dev/null --json=/dev/full b.f32
# Names cannot steer a terminal.
name=$(printf 'a\033]0;x\007.f32')
cp b.f32 "$name"
"$GRADNIC" compress "$name" 2>said
! grep -q "$(printf '\033')" said || fail "a control character of a name: $(cat -v said)"
"$GRADNIC" ratio -p dense --against none "$name" >said
! grep -q "$(printf '\033')" said || fail "a control character of a name: $(cat -v said)"
rm "$name" "$name.gn" said
expect 1 "JSON output: No space left on device" bash -c '"$GRADNIC" compress --json -f -o /dev/null b.f32 >/dev/full'
# What goes through a temporary file (unknown count, output that cannot be rewound) honours TMPDIR.
expect 1 "a temporary file in $PWD/nowhere: No such file or directory (TMPDIR names another folder)" \
    bash -c 'cat b.f32 | TMPDIR=$PWD/nowhere "$GRADNIC" compress --format f32 -o - - | cat; exit ${PIPESTATUS[1]}'
mkdir spool
# shellcheck disable=SC2002 # a pipe is wanted
cat b.f32 | TMPDIR=$PWD/spool "$GRADNIC" compress --format f32 -o - - | cat >spooled
"$GRADNIC" decompress -q -o spooled.f32 - <spooled
cmp -s b.f32 spooled.f32 || fail "the spooled values differ"
rmdir spool && rm spooled spooled.f32

# A small file may hold many values: their size is known, and looked at, ahead of them.
"$GRADNIC" compress -q -o zeros.gn b.f32
expect 1 "zeros.gn: holds 3.81 MiB of values; --limit is 1 MiB" "$GRADNIC" decompress --limit 1M -o x.f32 zeros.gn
expect 0 "" "$GRADNIC" decompress --limit 4M -o x.f32 zeros.gn
rm x.f32
"$GRADNIC" decompress --json -o x.f32 zeros.gn >x.json
jq -e '.output == "x.f32" and .format == "f32" and .profile == "dense" and .bound_exp == 10 and .values == 1000000
    and .value_bytes == 4000000 and .seconds > 0' x.json >/dev/null || fail "decompress --json: $(cat x.json)"
expect 2 "--json and the values would both go to standard output" "$GRADNIC" decompress --json -o - zeros.gn
rm x.f32 x.json
if [ "$(id -u)" -eq 0 ]; then # a small file system, for this one command
    mkdir small
    # shellcheck disable=SC2016 # the inner shell expands it
    expect 1 "small/x.f32: needs 3.81 MiB, and the file system has " unshare -m \
        sh -c 'mount -t tmpfs -o size=1m none small && "$GRADNIC" decompress -o small/x.f32 zeros.gn'
    rmdir small
    # Without /proc the temporary file has a name until the end. Sanitizers need /proc themselves.
    if ! grep -q __asan_init "$GRADNIC"; then
        unshare -m sh -c 'mount -t tmpfs none /proc && "$GRADNIC" compress -q -o bare.gn b.f32 &&
            "$GRADNIC" compress -q -f -o bare.gn b.f32 && ! "$GRADNIC" compress -q -o bare.gn b.f32 2>err' ||
            fail "without /proc"
        grep -q 'bare.gn: exists already' err || fail "$(cat err)"
        "$GRADNIC" decompress -q --to f32 -o - bare.gn >/dev/null || fail "without /proc"
        rm bare.gn err
    fi
else
    echo "not root: a full file system was not tried"
fi
rm zeros.gn
only a.f32 b.f32

# begun PID: it has a temporary file, which has no name, or one on file systems that need it
begun() {
    compgen -G '.gradnic-*' >/dev/null || readlink /proc/"$1"/fd/* 2>/dev/null | grep "^$PWD/#.* (deleted)" >/dev/null
}

# interrupt SIGNAL: sends it to a compression in the middle of its input, whose exit status then is
# $got. No file may stay.
interrupt() {
    mkfifo fifo
    # A background job of a script ignores SIGINT and SIGQUIT, so another program starts it.
    (ulimit -c 0 && exec "$PYTHON" -c 'import os, signal, sys
for number in signal.SIGINT, signal.SIGQUIT: signal.signal(number, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' "$GRADNIC" compress -q --format f32 -o out.gn fifo) &
    exec 9>fifo
    head -c 3000000 b.f32 >&9
    for _ in $(seq 400); do
        begun $! && break
        sleep 0.05
    done
    begun $! || fail "no temporary file appeared"
    [ ! -e out.gn ] || fail "the output appeared too early"
    kill -s "$1" $!
    got=0
    wait $! || got=$?
    exec 9>&-
    rm fifo
    only a.f32 b.f32
}

# Ctrl-C, SIGTERM, a closed pipe
for signal in INT TERM; do
    interrupt $signal
    [ $got -eq $((128 + $(kill -l $signal))) ] || fail "exit status $got after SIG$signal"
done
# Batch systems send others before they kill.
for signal in QUIT XCPU USR1; do interrupt $signal; done
# Nobody hears of SIGKILL in time.
if [ "$(stat -f -c %T .)" != nfs ]; then interrupt KILL; fi
"$GRADNIC" compress -o - b.f32 | head -c 100 >/dev/null || true
only a.f32 b.f32

# Wrong usage is 2.
expect 2 "no FILE" "$GRADNIC" compress
expect 2 "'1e-3' is not a bound; write it as 2^-10, or 10 for short" "$GRADNIC" compress -k 1e-3 a.f32
expect 2 "dense takes bounds from 2^31 (k = -31) to 2^-31 (k = 31); 2^-64 is outside" "$GRADNIC" compress -k 64 a.f32
expect 2 "'best' is not a profile; there are paper, lattice, dense" "$GRADNIC" compress -p best a.f32
expect 2 "'-1' is not a number" "$GRADNIC" compress -j -1 a.f32
expect 2 "would both go to standard output" "$GRADNIC" compress --json -o - a.f32
expect 2 "x.txt: neither .npy, .npz nor .f32; give --to npy, --to npz or --to f32" "$GRADNIC" decompress -o x.txt a.gn
expect 2 "--shape is for .npy" "$GRADNIC" decompress --shape 3 -o x.f32 a.gn
expect 2 "--to takes npy, npz or f32, not 'gn'" "$GRADNIC" decompress --to gn a.gn
expect 2 "is not a command" "$GRADNIC" squeeze
expect 2 "" "$GRADNIC"
expect 2 "kernel 'mmx' is not in this build, or not for this machine; there are auto, scalar" "$GRADNIC" compress --kernel mmx b.f32
only a.f32 b.f32
