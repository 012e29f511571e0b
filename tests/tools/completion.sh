#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Completion in bash, zsh and fish: the files are right, and each shell completes commands, options
# and values. COMPLETION is their folder, SHELLS the shells beside bash that this machine has.
# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"
: "${COMPLETION:?}"
export PATH=${GRADNIC%/*}:$PATH

# They are what --help says now: no option is missing.
"$SOURCE/tools/completion/make.sh" "$GRADNIC" made
for name in gradnic.bash _gradnic gradnic.fish; do same "$COMPLETION/$name" made/$name; done
for words in "nic" "switch" "bench codec" "nic set"; do
    # shellcheck disable=SC2086 # $words are words
    "$GRADNIC" $words --help | sed -n 's/^  \(-., \|    \)--\([a-z-]*\).*/\2/p' >options
    [ "$(wc -l <options)" -gt 8 ] || fail "--help of $words"
    while IFS= read -r option; do
        grep -q "^    \"$words\").* --${option}[ \"]" made/gradnic.bash || fail "bash: $words has no --$option"
        grep -q "^    \"$words\").*'--$option:" made/_gradnic || fail "zsh: $words has no --$option"
        grep -q "__gradnic_at '$words'\" -l $option " made/gradnic.fish || fail "fish: $words has no --$option"
    done <options
done

bash -n made/gradnic.bash || fail "bash -n"
if command -v shellcheck >/dev/null; then shellcheck made/gradnic.bash || fail "shellcheck"; fi
in_bash() { # WORD...: what the last word becomes
    bash -c '. made/gradnic.bash; COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _gradnic; echo "${COMPREPLY[@]}"' bash "$@"
}
query() { # WANTED GOT WHAT
    [ "$2" = "$1" ] || fail "$3: '$2', not '$1'"
}
query "estimate" "$(in_bash gradnic est)" "bash: a command"
query "status stats" "$(in_bash gradnic nic stat)" "bash: what a running NIC is asked"
query "--rate" "$(in_bash gradnic nic --ra)" "bash: an option"
query "--check-config" "$(in_bash gradnic switch --check)" "bash: an option"
query "mtu" "$(in_bash gradnic nic --cut m)" "bash: a value"
query "mtu fill" "$(in_bash gradnic nic --cut =)" "bash: a value behind ="
query "json" "$(in_bash gradnic switch --log = j)" "bash: a value behind ="
query "" "$(in_bash gradnic compress x)" "bash: a file"

if [[ " ${SHELLS:-} " == *" fish "* ]]; then
    export HOME=$work
    fish -n made/gradnic.fish || fail "fish -n"
    in_fish() { fish --no-config -c "source made/gradnic.fish; complete -C '$1'" 2>&1 | cut -f1 | sort | tr '\n' ' '; }
    query "estimate " "$(in_fish 'gradnic est')" "fish: a command"
    query "stats status " "$(in_fish 'gradnic nic stat')" "fish: what a running NIC is asked"
    query "--rate " "$(in_fish 'gradnic nic --ra')" "fish: an option"
    query "fill mtu " "$(in_fish 'gradnic nic --cut ')" "fish: values"
fi
if [[ " ${SHELLS:-} " == *" zsh "* ]]; then
    zsh -n made/_gradnic || fail "zsh -n"
    "$PYTHON" - made <<'P' || fail "zsh"
import os, pty, re, select, sys, time
pid, fd = pty.fork()
if pid == 0:
    os.environ.update(TERM="dumb", HOME=os.getcwd())
    os.execvp("zsh", ["zsh", "-f", "-i"])
def read(until, seconds=20):
    got, end = "", time.time() + seconds
    while time.time() < end and not re.search(until, got):
        if select.select([fd], [], [], 0.1)[0]: got += os.read(fd, 65536).decode(errors="replace")
    return got
def send(text): os.write(fd, text.encode())
send(f"PS1='> '; fpath=({os.path.abspath(sys.argv[1])} $fpath); autoload -Uz compinit; compinit -u -D; "
     "bindkey '^I' complete-word; bindkey '^U' kill-whole-line; echo do''ne\n")
assert "done" in read(r"done\r?\n")
for typed, wanted in (("est", "gradnic estimate"), ("nic statu", "gradnic nic status"),
                      ("nic --ra", "gradnic nic --rate"), ("nic --cut=m", "gradnic nic --cut=mtu"),
                      ("switch --log-level d", "gradnic switch --log-level debug")):
    send(f"gradnic {typed}\t")
    got = read(re.escape(wanted.rsplit(" ", 1)[1]))
    assert wanted.rsplit(" ", 1)[1] in got, (typed, got)
    send("\x15")
send("exit\n")
os.waitpid(pid, 0)
P
fi
