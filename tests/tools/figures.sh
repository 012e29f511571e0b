#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `gradnic figures`: figures that are the same everywhere, compared with what they were. Lists,
# errors, and what a report has.
# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"

"$GRADNIC" figures --list >list.txt
# Each figure of the papers is made, or has a reason.
[ "$(grep -c '^inceptionn-' list.txt)" -ge 10 ] || fail "INCEPTIONN's figures: $(cat list.txt)"
! grep ' missing ' list.txt | grep -v ': ' || fail "a figure is missing without a reason"
"$GRADNIC" figures --list --checked >checked.txt
! grep -E ' (missing|measured) ' checked.txt || fail "not the same everywhere"

"$GRADNIC" figures -q --checked --compare -o out >compared.txt || fail "other numbers than before: $(cat compared.txt)"
number=$(wc -l <checked.txt)
[ "$(grep -Ec '^[a-z0-9-]+: ([0-9]+) of \1 numbers as before$' compared.txt)" -eq "$number" ] ||
    fail "$(cat compared.txt)"
tail -1 compared.txt | grep -Ex "([0-9]+) of \1 numbers of $number figures as before" >/dev/null ||
    fail "$(cat compared.txt)"
[ "$(grep -c '<svg' out/figures.html)" -eq "$(wc -l <checked.txt)" ] || fail "a plot is missing"
! grep -Eq 'src=|href="[^#]|@import|url\([^#]' out/figures.html || fail "the report refers to something outside of it"
jq -e '(.figures | length) == '"$(wc -l <checked.txt)"' and all(.figures[].rows[]; .ours != null)' out/figures.json >/dev/null ||
    fail "figures.json: $(jq -c .figures out/figures.json)"
jq -e '.figures[] | select(.name == "switchml-pool") | .seeds == [1] and (.commands | length) == 12' out/figures.json >/dev/null ||
    fail "the commands are not there"

# The same again, and documents.
mkdir pages
"$GRADNIC" figures -q -f -o out2 --pages pages switchml-fig12 inceptionn-fig1
jq '.figures[] | select(.name == "switchml-fig12")' out/figures.json >first.json
jq '.figures[] | select(.name == "switchml-fig12")' out2/figures.json >second.json
same first.json second.json
grep -q '| halves beside int32 | 1.997 x | 2 |' pages/switchml.md || fail "$(cat pages/switchml.md)"
grep -q 'Not made: ' pages/inceptionn.md || fail "a document says nothing of what is missing"
# Figures that are not made then stay in the documents, in the papers' order.
"$GRADNIC" figures -q -f -o out2 --pages pages switchml-fig8
[ "$(grep '^## ' pages/switchml.md | cut -d : -f 1)" = '## Fig. 8
## Fig. 11 and 12' ] || fail "$(grep '^## ' pages/switchml.md)"
grep -q '| halves beside int32 | 1.997 x | 2 |' pages/switchml.md || fail "a figure is gone: $(cat pages/switchml.md)"
# What is published is renewed there, and our numbers are not.
cp pages/switchml.md before.md
sed -i -e 's/^| halves.*/| halves beside int32 | 1.5 x | - |/' \
    -e 's/^No published number: .*/No published number: none./' pages/switchml.md
"$GRADNIC" figures -q -f -o out2 --pages pages inceptionn-fig1
sed 's/^| halves.*/| halves beside int32 | 1.5 x | 2 |/' before.md >expected.md
grep -q '^No published number: its packets have another header\.$' expected.md || fail "no reason: $(cat before.md)"
same pages/switchml.md expected.md

expect 1 "figures.json: exists" "$GRADNIC" figures -q -o out switchml-fig8
expect 2 "there is no figure 'fig8'" "$GRADNIC" figures fig8
expect 1 "standard output or a temporary file: No space left on device" bash -c 'exec "$@" >/dev/full' - "$GRADNIC" \
    figures --list
expect 2 "contradict" "$GRADNIC" figures --quick --full
expect 2 "" "$GRADNIC" figures --quik
# Real daemons: a switch that is started, and one that does not start.
"$GRADNIC" figures -q -f -o daemons --pages pages switchml-fig3
# What is measured has a date, and what is the same everywhere has none.
grep -Eq '^.gradnic figures switchml-fig3., measured on [0-9]+ [A-Z][a-z]+ 20[0-9]{2}\.$' pages/switchml.md ||
    fail "no date: $(cat pages/switchml.md)"
grep -qx '.gradnic figures switchml-fig8., computed\.' pages/switchml.md || fail "$(cat pages/switchml.md)"
jq -e '.figures[0].rows | map(select(.what | startswith("this machine"))) | length == 4 and all(.ours > 0.1)' daemons/figures.json >/dev/null ||
    fail "$(jq -c '.figures[0].rows' daemons/figures.json)"
jq -e '.figures[0].commands | any(startswith("gradnic bench allreduce") and endswith("--switch HOST:PORT"))' daemons/figures.json >/dev/null ||
    fail "$(jq -c '.figures[0].commands' daemons/figures.json)"
cat >fake <<'FAKE'
#!/bin/bash
[ "$1" != switch ] || { echo "no room for a switch" >&2; exit 1; }
[[ " $* " != *" snappy "* ]] || { echo "gradnic train: snappy was not found when gradnic was built" >&2; exit 2; }
words=()
for word; do words+=("$([ "$word" = 40 ] && echo 2 || echo "$word")"); done # fewer steps
exec "$REAL" "${words[@]}"
FAKE
chmod +x fake
export REAL=$GRADNIC
GRADNIC=$PWD/fake expect 1 "gradnic switch did not start: no room for a switch" "$SOURCE/figures/paper-figures" --quiet --output none switchml-fig3
# What this build has no library for is left out, and said.
GRADNIC=$PWD/fake "$SOURCE/figures/paper-figures" --quiet --output lacking inceptionn-fig7
jq -e '.figures[0] | (.rows | any(.what | startswith("snappy")) | not) and (.why | contains("Not there when gradnic was built: snappy"))' lacking/figures.json >/dev/null ||
    fail "$(jq -c '.figures[0]' lacking/figures.json)"
# A number outside of its band is named.
mkdir -p copy/scripts
cp -r "$SOURCE/figures" copy/
cp "$SOURCE/scripts/report_plots.py" copy/scripts/
jq '."switchml-fig8" |= map_values([0, 1])' "$SOURCE/figures/bands.json" >copy/figures/bands.json
! copy/figures/paper-figures --compare --quiet --output out3 switchml-fig8 >wrong.txt || fail "not found"
grep -q 'switchml-fig8: 32 values.* outside 0 to 1' wrong.txt || fail "$(cat wrong.txt)"
grep -qx 'switchml-fig8: 0 of 4 numbers as before' wrong.txt || fail "$(cat wrong.txt)"

# Folders that are none.
touch file
for wrong in "-o file" "-o file/below" "-o out7 --pages file" "-o out7 --pages nowhere"; do
    # shellcheck disable=SC2086 # options are words
    ! "$GRADNIC" figures -q $wrong inceptionn-fig3a 2>said || fail "$wrong"
    grep -Eqx 'gradnic figures: (file|file/below|nowhere): .*' said || fail "$wrong: $(cat said)"
done

# What is somebody's own stays, and a file that was not finished is not there.
mkdir own out9
echo mine >own/dsa.md
expect 1 "own/dsa.md: exists" "$GRADNIC" figures -q -o out8 --pages own inceptionn-fig3a
[ "$(cat own/dsa.md)" = mine ] || fail "a file of somebody else is gone"
expect 1 "out8/figures.html: File too large" bash -c 'ulimit -f 8; exec "$@"' - "$GRADNIC" figures -q -o out8 inceptionn-fig3a
[ "$(ls -A out8)" = figures.json ] || fail "left: $(ls -A out8)"
"$GRADNIC" figures -q -f -o out8 --pages own inceptionn-fig3a
grep -q '^## Fig. 3a' own/inceptionn.md || fail "no page: $(cat own/inceptionn.md)"
! grep mine own/dsa.md || fail "--force has not overwritten"
ln -s "$PWD/elsewhere" out9/figures.json
expect 1 "out9/figures.json: exists" "$GRADNIC" figures -q -o out9 inceptionn-fig3a
[ ! -e elsewhere ] || fail "a link was followed"

# What is replaced keeps its owner and its rights. Nobody waits for a FIFO's writer.
if [ "$(id -u)" -eq 0 ]; then
    chown 12345:54321 out8/figures.json
    chmod 640 out8/figures.json
    "$GRADNIC" figures -q -f -o out8 inceptionn-fig3a
    [ "$(stat -c '%u:%g %a' out8/figures.json)" = "12345:54321 640" ] || fail "$(stat -c '%u:%g %a' out8/figures.json)"
fi
mkdir fifos
mkfifo fifos/dsa.md
expect 1 "fifos/dsa.md: is not an ordinary file" timeout 60 "$GRADNIC" figures -q -o out10 --pages fifos inceptionn-fig3a

# A signal ends all that was begun.
has_ended() { ! grep '^State:' "/proc/$1/status" 2>/dev/null | grep -v Z >/dev/null; }
printf '#!/bin/bash\necho $$ >"%s/begun"\nexec sleep 60\n' "$PWD" >idle
chmod +x idle
for signal in TERM KILL; do
    rm -f begun
    GRADNIC=$PWD/idle "$SOURCE/figures/paper-figures" --quiet --output idle-out switchml-fig3 2>said &
    asked=$!
    until_holds "the switch is not begun" test -s begun
    kill -s "$signal" $asked
    status=0
    wait $asked || status=$?
    [ "$status" -eq $((128 + $(kill -l "$signal"))) ] || fail "$signal: status $status: $(cat said)"
    until_holds "what was begun goes on after $signal" has_ended "$(cat begun)"
    [ "$signal" = KILL ] || [ -z "$(ls -d "$TMPDIR"/gradnic-figures-* 2>/dev/null)" ] || fail "a folder is left"
done
