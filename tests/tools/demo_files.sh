#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The demo's folder: what is in it and is not the demo's stays as it is, whoever owns it, also with
# sudo. A result is whole or not there.
# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"
# Plots are most of a demo's time, so only some have them. The others find no Matplotlib.
plots() { "$GRADNIC" demo --in-process --quick --steps 2 --workers 2 -q "$@" >log 2>&1; }
demo() { PYTHONPATH=$bare plots "$@"; }
bare=$PWD/bare
mkdir bare
echo 'raise ImportError("none here", name="matplotlib")' >bare/matplotlib.py
owner() { stat -c %u "$1"; }

# A folder that was there belongs to whom it did before, and so do other files in it.
mkdir old
echo mine >old/demo.key
echo mine >old/gradients.txt
if [ "$(id -u)" -eq 0 ]; then
    SUDO_UID=12345 SUDO_GID=12345 demo -o old || fail "$(cat log)"
    SUDO_UID=12345 SUDO_GID=12345 plots -o new || fail "$(cat log)"
    [ "$(owner old) $(owner old/demo.key)" = "0 0" ] || fail "a folder or a file that was there has another owner"
    for file in old/demo.json old/ratio.txt old/gradients new new/demo.json new/gradients new/gradients/*.npy; do
        [ "$(owner "$file")" = 12345 ] || fail "$file belongs to $(owner "$file")"
    done
    # A full disk leaves the results of before.
    if unshare -m true 2>/dev/null; then
        mkdir disk
        # shellcheck disable=SC2016 # for the inner shell
        unshare -m bash -c 'mount -t tmpfs -o size=200k,mode=755 none disk && echo before >disk/demo.json &&
            touch disk/.gradnic-demo && mkdir disk/gradients && mount -t tmpfs -o mode=755 none disk/gradients &&
            head -c 1M /dev/zero >disk/full 2>/dev/null; "$0" demo --in-process --quick --steps 2 --workers 2 -q -o disk >log 2>&1 && exit 9
            [ "$(cat disk/demo.json)" = before ] && [ -z "$(find disk -name ".gradnic-*")" ]' "$GRADNIC" ||
                fail "a full disk: $(cat log)"
        grep -q 'No space left on device' log || fail "no reason: $(cat log)"
    fi
else
    demo -o old || fail "$(cat log)"
fi
[ "$(cat old/demo.key old/gradients.txt)" = "$(printf 'mine\nmine')" ] || fail "files of the user's have changed"
# Results of an earlier demo are replaced. Files of the user's with the same names stay.
[ ! -e old/.gradnic-demo ] || fail "a mark stays beside demo.json"
SUDO_UID=12345 SUDO_GID=12345 demo -o old || fail "a second demo: $(cat log)"
for file in demo.json demo.html ratio.txt gradients/step9-rank0-layer0-weight.npy; do
    mkdir -p users/gradients
    echo mine >users/$file
    ! demo -o users || fail "$file was replaced"
    grep -q "users/$file: no demo has made it" log || fail "not said: $(cat log)"
    [ "$(cat users/$file)" = mine ] || fail "$file has changed"
    [ "$(find users -type f)" = users/$file ] || fail "more than $file: $(find users)"
    rm -r users
done
# A demo that ended early leaves its gradients, and the next one may replace them.
! demo -o early --steps 3 --workers 2 --port 1 --data "$SOURCE/tests" || fail "no data, and no error"
[ ! -e early ] || fail "a mark stays alone: $(find early)"
mkdir -p early/gradients
touch early/.gradnic-demo early/gradients/step1-rank0-layer0-weight.npy
demo -o early || fail "after one that ended early: $(cat log)"
[ ! -e early/.gradnic-demo ] || fail "a mark stays beside demo.json"
# Without a home Matplotlib says so, and makes the plots all the same.
HOME=/proc/none MPLCONFIGDIR='' plots -o homeless || fail "$(cat log)"
[ -s homeless/demo.html ] || fail "no report: $(cat log)"
! grep -q 'no report\|Matplotlib' log || fail "Matplotlib is heard: $(cat log)"
# Others could put links into such folders, and have files overwritten elsewhere.
mkdir open linked busy
chmod 777 open
! demo -o open || fail "everybody may put files into it"
grep -q 'open: everybody may put files into it' log || fail "not said: $(cat log)"
echo precious >precious
ln -s ../precious linked/.gradnic-demo
! demo -o linked || fail "a mark that leads elsewhere"
grep -q 'linked/.gradnic-demo: is no ordinary file' log || fail "not said: $(cat log)"
[ "$(cat precious)" = precious ] || fail "a link was followed"
if [ "$(id -u)" -eq 0 ]; then
    mkdir -p strange half/gradients
    chown 54321 strange half/gradients
    for folder in strange half/gradients; do
        ! demo -o ${folder%/*} || fail "a stranger's folder: $folder"
        grep -q "$folder: belongs to another account (54321)" log || fail "not said: $(cat log)"
        [ -z "$(ls -A $folder)" ] || fail "left: $(ls -A $folder)"
    done
fi
(umask 000 && demo -o all) || fail "$(cat log)"
[ "$(stat -c %a all all/gradients | sort -u)" = 775 ] || fail "everybody may put files into a demo's folder"
# Two demos do not mix their gradients.
exec {busy}>busy/.gradnic-demo
flock "$busy"
! demo -o busy || fail "another demo writes there"
grep -q 'another demo that runs writes to busy' log || fail "not said: $(cat log)"
[ "$(ls -A busy)" = .gradnic-demo ] || fail "left: $(ls -A busy)"
exec {busy}>&-

# Nothing was made, and nothing stays.
! demo --data nonexistent -o none || fail "no data, and no error"
[ ! -e none ] || fail "an empty folder stays"
grep -q 'nonexistent: no file matches' log || fail "$(cat log)"
expect 2 "--output: the path is empty" "$GRADNIC" demo -o ""
# A name that looks like an option.
demo -o -odd || fail "$(cat log)"
[ -s ./-odd/demo.json ] || fail "no results in -odd"

# What a killed demo left goes when the next one runs, and not before it is dead.
setsid "$GRADNIC" demo --in-process --steps 100000 --workers 2 -q -o killed >log 2>&1 &
pid=$!
for ((i = 0; i < 200; i++)); do
    [ ! -s "$(echo "$TMPDIR"/gradnic-demo.*/owner)" ] || break
    sleep 0.05
done
left=$(echo "$TMPDIR"/gradnic-demo.*)
[ -s "$left/owner" ] || fail "no folder: $(cat log)"
mkdir "$TMPDIR/gradnic-demo.mine00"
demo -o next || fail "$(cat log)"
[ -d "$left" ] || fail "the folder of a demo that runs is gone"
{
    kill -KILL -- "-$pid"
    wait "$pid" || true
} 2>/dev/null
demo -o next || fail "$(cat log)"
[ ! -e "$left" ] || fail "a killed demo's folder stays"
[ -d "$TMPDIR/gradnic-demo.mine00" ] || fail "a folder that is no demo's is gone"
rmdir "$TMPDIR/gradnic-demo.mine00"
