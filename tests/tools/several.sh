#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2016 # bash -c expands it
# compress and decompress of several files: each becomes a file, a failure stops no other, and
# nothing is overwritten by accident.
# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"

"$PYTHON" - <<'PY'
import os
import numpy as np
os.mkdir("other")
for i, name in enumerate(("a.npy", "b.npy", "other/a.npy")):
    np.save(name, np.arange(40, dtype="<f4").reshape(8, 5) / 512 * (i + 1))
PY
cp a.npy a.orig
cp b.npy b.orig

"$GRADNIC" compress -p lattice a.npy b.npy 2>log
[ "$(grep -c 'npy.gn: 40 values' log)" -eq 2 ] || fail "a line for each: $(cat log)"
"$GRADNIC" compress -q -p lattice -o one.gn b.npy
same b.npy.gn one.gn
rm a.npy b.npy
"$GRADNIC" decompress a.npy.gn b.npy.gn
same a.npy a.orig
same b.npy b.orig

# A folder for the outputs
mkdir out
"$GRADNIC" compress -q -o out a.npy b.npy
"$GRADNIC" compress -q -o out/ one.gn other/a.npy 2>log && fail "out/a.npy.gn was overwritten"
grep -q "out/a.npy.gn: exists already; --force overwrites it" log || fail "$(cat log)"
[ -e out/one.gn.gn ] || fail "the first file did not go on"
"$GRADNIC" decompress -q -o out out/a.npy.gn
same out/a.npy a.orig
expect 2 "--output: 'x.gn' is not a folder; several files need one" "$GRADNIC" compress -o x.gn a.npy b.npy
expect 2 "--output: '-' is not a folder; several files need one" "$GRADNIC" decompress -o - a.npy.gn b.npy.gn
expect 1 "nowhere/a.npy.gn: No such file or directory" "$GRADNIC" compress -o nowhere/ a.npy
expect 1 "out: is a folder; standard input needs a file as OUT" bash -c '"$GRADNIC" compress -o out - <a.npy'
expect 2 "'-', standard input, can be read only once" "$GRADNIC" compress - -

# A failure names its file; the others go on; the status says so.
rm ./*.gn
head -c 200 a.npy >cut.npy
expect 1 "gradnic compress: cut.npy: byte 200: ends after 18 of 40 values" "$GRADNIC" compress cut.npy nosuch.npy b.npy
[ -e b.npy.gn ] || fail "b.npy was not compressed"
[ ! -e cut.npy.gn ] || fail "output after a failure"
expect 1 "nosuch.npy: No such file or directory" "$GRADNIC" compress -f cut.npy nosuch.npy b.npy
"$GRADNIC" compress -q a.npy
printf x | dd of=a.npy.gn bs=1 seek=60 conv=notrunc status=none
rm -f b.npy
expect 1 "gradnic decompress: a.npy.gn: byte " "$GRADNIC" decompress -f a.npy.gn b.npy.gn
same a.npy a.orig
same b.npy b.orig

# Nothing is overwritten, and with -f nothing that this run wrote or reads.
"$GRADNIC" compress -q -f a.npy
expect 1 "a.npy.gn: exists already; --force overwrites it" "$GRADNIC" compress a.npy other/a.npy
# Who could read a file that is overwritten can still do so, and nobody else.
if [ "$(id -u)" -eq 0 ]; then
    chmod 755 .
    "$PYTHON" -c 'import numpy as np; np.save("public.npy", np.ones(500, "<f4"))'
    for owner in nobody:daemon nobody:nogroup root:daemon; do
        touch owned.gn
        chown "$owner" owned.gn
        chmod 640 owned.gn
        "$GRADNIC" compress -q -f -o owned.gn public.npy
        [ "$(stat -c '%U:%G %a' owned.gn)" = "$owner 640" ] ||
            fail "not $owner any more: $(stat -c '%U:%G %a' owned.gn)"
    done
    # So does its list of accounts. Without it, the list's limit would be the group's rights.
    cat >list.py <<'P'
import os, struct, sys
NAME, NOBODY = "system.posix_acl_access", 0xffffffff
ROWS = [(1, 6, NOBODY), (2, 6, 12345), (4, 0, NOBODY), (16, 6, NOBODY), (32, 0, NOBODY)]
LIST = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *row) for row in ROWS)
try:
    if sys.argv[1] == "set": os.setxattr(sys.argv[2], NAME, LIST)
    elif os.getxattr(sys.argv[2], NAME) != LIST: sys.exit("another list")
except OSError as error:
    sys.exit(f"{error}")
P
    touch listed.gn
    if "$PYTHON" list.py set listed.gn; then
        "$GRADNIC" compress -q -f -o listed.gn public.npy
        "$PYTHON" list.py is listed.gn || fail "the list of accounts is gone, and mode $(stat -c %a listed.gn) stays"
    fi
    mkdir --mode=777 theirs
    cp public.npy theirs
    touch theirs/team.gn
    chown nobody:daemon theirs/team.gn
    chmod 664 theirs/team.gn
    if setpriv --reuid=nobody --regid=nogroup --clear-groups test -x "$GRADNIC"; then
        setpriv --reuid=nobody --regid=nogroup --clear-groups "$GRADNIC" compress -q -f -o theirs/team.gn theirs/public.npy
        [ "$(stat -c '%U:%G %a' theirs/team.gn)" = "nobody:nogroup 604" ] ||
            fail "another group: $(stat -c '%U:%G %a' theirs/team.gn)"
    fi
fi
# With a standard stream closed, messages do not get into a file that has its number.
"$PYTHON" -c 'import numpy as np; np.save("closed.npy", np.ones(5000, "<f4"))'
for closed in '0<&-' '1>&-' '2>&-' '0<&- 2>&-' '1>&- 2>&-' '0<&- 1>&- 2>&-'; do
    rm -f closed.gn closed.json
    # shellcheck disable=SC2016 # for the inner shell
    bash -c '"$0" compress closed.npy -o closed.gn --json=closed.json '"$closed" "$GRADNIC" 2>/dev/null ||
        fail "$closed: status $?"
    jq -e '.values == 5000' closed.json >/dev/null || fail "$closed: $(cat closed.json)"
done
expect 1 "standard output: Bad file descriptor" bash -c '"$GRADNIC" compress -o - closed.npy >&-'
expect 1 "standard input: Bad file descriptor" bash -c '"$GRADNIC" compress -o x.gn - <&-'
# FILE:NAME reads FILE, too.
"$PYTHON" -c 'import numpy as np; np.savez("named.npz", w=np.ones(5000, "<f4"))'
cp named.npz kept.npz
for command in "estimate" "bench codec -t 0.1" "bench allreduce -N 2 -b 4K -e 4K -n 1 -i" "bench switch" "ratio" "compress -o x.gn"; do
    # shellcheck disable=SC2086 # words are wanted
    "$GRADNIC" $command named.npz:w --force --json=./named.npz >/dev/null 2>err && fail "$command: no error"
    grep -q "named.npz: is .*; give the output another name" err || fail "$command: $(cat err)"
    same named.npz kept.npz
done
expect 1 "out/a.npy.gn: an earlier file of this run was written there" "$GRADNIC" compress -f -o out a.npy other/a.npy
# A file that failed was not written: the next one may take its name.
mkdir bad one
cp cut.npy bad/a.npy
"$GRADNIC" compress -o one bad/a.npy other/a.npy 2>log && fail "a cut file"
! grep 'was written there' log || fail "a name that nothing was written to is taken"
grep -q 'bad/a.npy: byte 200: ends after 18 of 40 values' log || fail "$(cat log)"
"$GRADNIC" decompress -q -o one/back.npy one/a.npy.gn
same one/back.npy other/a.npy
"$GRADNIC" decompress -q -f -o one.npy out/a.npy.gn
same one.npy a.orig
expect 1 "b.npy: is the input" "$GRADNIC" compress -f -o b.npy b.npy
cp a.npy.gn c.npy.gn
cp a.npy.gn c.npy # an input, and where c.npy.gn would go
expect 1 "c.npy: is the input; give the output another name" "$GRADNIC" decompress -f c.npy.gn c.npy
same b.npy b.orig
mkdir again && ln -s ../out/a.npy.gn again/b.npy.gn
expect 1 "again/b.npy.gn: an earlier file of this run was written there" \
    bash -c 'ln -sf ../out/a.npy.gn again/a.npy.gn && "$GRADNIC" compress -f -o again a.npy b.npy'

# --json: an object for one file, a list for several.
[ "$("$GRADNIC" compress -f --json a.npy | jq -r .output)" = a.npy.gn ] || fail "one file"
got=$("$GRADNIC" compress -f --json a.npy nosuch.npy b.npy 2>/dev/null || true)
[ "$(jq -c '[.failed, .files[].output]' <<<"$got")" = '[1,"a.npy.gn","b.npy.gn"]' ] || fail "several files: $got"
got=$("$GRADNIC" decompress -f --json a.npy.gn b.npy.gn)
[ "$(jq -c '[.failed, .files[].output, .files[].tensors]' <<<"$got")" = '[0,"a.npy","b.npy",1,1]' ] ||
    fail "several files: $got"
expect 1 "a.npy.gn: another option writes this file, too" "$GRADNIC" compress -f --json=a.npy.gn a.npy b.npy
