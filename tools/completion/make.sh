#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make.sh PROGRAM FOLDER: makes the completions for bash, zsh and fish from the --help of the
# program and of every command: gradnic.bash, _gradnic, gradnic.fish. So they have the same
# commands, options and values, and none is missing.
# shellcheck disable=SC2016  # dollars are awk's, and those of the shells
set -euo pipefail
program=$1 folder=$2
scratch=$(mktemp -d "${TMPDIR:-/tmp}/gradnic-completion-XXXXXX")
trap 'rm -rf "$scratch"' EXIT

# rows COMMAND...: what one --help says, as rows of PATH, KIND, NAME, LETTER, VALUE, TEXT. They are
# separated by '|'; a value that is a choice has commas. A command's letter and value are empty.
rows() {
    "$program" "$@" --help | awk -v path="$*" '
    function row(kind, name, letter, value, text) {
        gsub(/[|"`$\\]/, " ", text)
        gsub(/\047/, "", text)
        sub(/(;| \().*/, "", text)
        gsub(/ +/, " ", text)
        if (length(text) > 72) text = substr(text, 1, 69) "..."
        print path "|" kind "|" name "|" letter "|" value "|" text
    }
    function flush() { if (name) row("option", name, letter, value, text); name = "" }
    /^Commands:$/ { table = 1; next }
    table && /^  [a-z]/ { n = $1; sub(/^ +[^ ]+ +/, ""); row("command", n, "", "", $0); next }
    table && /^$/ { table = 0 }
    /^(  -., |      )--[a-z]/ {
        flush()
        line = $0
        sub(/^ +/, "", line)
        letter = ""
        if (line ~ /^-., /) { letter = substr(line, 2, 1); line = substr(line, 5) }
        split(line, word, / /)
        text = substr(line, length(word[1]) + 1)
        sub(/^ +/, "", text)
        name = word[1]
        value = ""
        if (match(name, /\[?=/)) { value = substr(name, RSTART + RLENGTH); name = substr(name, 1, RSTART - 1) }
        sub(/\]$/, "", value)
        if (value ~ /^[a-z]+(\|[a-z]+)+$/) gsub(/\|/, ",", value); else if (value) value = "?"
        next
    }
    name && /^                    +[^ ]/ { sub(/^ +/, ""); text = text (text ? " " : "") $0; next }
    { flush() }
    # "Commands for a running NIC: gradnic nic status, ... (each with --help)"
    /^Commands for a running/ { running = 1; all = "" }
    running { all = all " " $0 }
    running && /--help/ {
        running = 0
        while (match(all, /gradnic [a-z]+ [a-z]+/)) {
            split(substr(all, RSTART, RLENGTH), part, / /)
            all = substr(all, RSTART + RLENGTH)
            row("command", part[3], "", "", part[3] " of a running one")
        }
    }
    END { flush() }'
}

walk() {
    local below
    rows "$@" >"$scratch/rows.$#"
    cat "$scratch/rows.$#"
    while IFS='|' read -r _ kind below _; do
        [ "$kind" != command ] || walk "$@" "$below" </dev/null
    done < <(cat "$scratch/rows.$#")
}
walk >"$scratch/all"

# cases KIND FORMAT: a branch of a case for each path that has rows of that kind. FORMAT is awk code
# that prints one row.
cases() {
    awk -F'|' -v kind="$1" '
    $2 == kind { if (!($1 in of)) order[++n] = $1; of[$1] = of[$1] one() }
    END { for (i = 1; i <= n; i++) printf "    \"%s\") %s ;;\n", order[i], before of[order[i]] after }
    function one() { '"$2"' }' before="$3" after="$4" "$scratch/all"
}

# choices FORMAT: the same for options whose values are known, by path and option
choices() {
    awk -F'|' -v before="$1" -v after="$2" '
    $2 == "option" && $5 ~ /,/ {
        list = $5; gsub(/,/, " ", list); printf "    \"%s\") %s%s%s ;;\n", $1 " " $3, before, list, after
    }' "$scratch/all"
}

mkdir -p "$folder"

{
    cat <<'E'
# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Completion for bash. Made from --help by tools/completion/make.sh.
_gradnic_commands() {
    case "$*" in
E
    cases command 'return " " $3' 'echo "' '"'
    printf '    esac\n}\n_gradnic_options() {\n    case "$*" in\n'
    cases option 'return " " $3' 'echo "' '"'
    printf '    esac\n}\n_gradnic_values() {\n    case "$*" in\n'
    choices 'echo "' '"'
    cat <<'E'
    esac
}
_gradnic() {
    local word=${COMP_WORDS[COMP_CWORD]} option='' i at=() words=''
    for ((i = 1; i < COMP_CWORD; i++)); do
        [[ " $(_gradnic_commands "${at[@]}") " == *" ${COMP_WORDS[i]} "* ]] || break
        at+=("${COMP_WORDS[i]}")
    done
    # bash makes a word of its own of the = in --cut=fill.
    [[ ${COMP_WORDS[COMP_CWORD - 1]} != --* ]] || option=${COMP_WORDS[COMP_CWORD - 1]}
    if [[ $word == '=' ]]; then
        word=''
    elif [[ ${COMP_WORDS[COMP_CWORD - 1]} == '=' ]]; then
        option=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    if [[ $word == -* ]]; then
        words=$(_gradnic_options "${at[@]}")
    elif [[ -n $option ]]; then
        words=$(_gradnic_values "${at[@]}" "$option")
    elif ((i == COMP_CWORD)); then
        words=$(_gradnic_commands "${at[@]}")
    fi
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -o default -F _gradnic gradnic
E
} >"$folder/gradnic.bash"

{
    cat <<'E'
#compdef gradnic
# SPDX-License-Identifier: Apache-2.0
# Completion for zsh. Made from --help by tools/completion/make.sh.
_gradnic_commands() {
    reply=()
    case "$1" in
E
    cases command 'text = $6; gsub(/:/, "\\:", text); return " \047" $3 ":" text "\047"' 'reply=(' ')'
    printf '    esac\n}\n_gradnic_options() {\n    reply=()\n    case "$1" in\n'
    cases option 'text = $6; gsub(/:/, "\\:", text); return " \047" $3 ":" text "\047"' 'reply=(' ')'
    printf '    esac\n}\n_gradnic_values() {\n    reply=()\n    case "$1" in\n'
    choices 'reply=(' ')'
    cat <<'E'
    esac
}
_gradnic() {
    local at='' option='' i
    local -a reply
    for ((i = 2; i < CURRENT; i++)); do
        _gradnic_commands "$at"
        (($reply[(I)${words[i]}:*])) || break
        at="${at:+$at }$words[i]"
    done
    if [[ $PREFIX == --*=* ]]; then
        option=${PREFIX%%=*}
        compset -P '*='
    elif [[ $words[CURRENT-1] == --* ]]; then
        option=$words[CURRENT-1]
    fi
    if [[ -n $option ]]; then
        _gradnic_values "$at $option"
        if (($#reply)); then compadd -a reply; else _files; fi
    elif [[ $PREFIX == -* ]]; then
        _gradnic_options "$at"
        _describe -o option reply
    else
        _gradnic_commands "$at"
        if ((i == CURRENT && $#reply)); then _describe command reply; else _files; fi
    fi
}
_gradnic "$@"
E
} >"$folder/_gradnic"

{
    cat <<'E'
# SPDX-License-Identifier: Apache-2.0
# Completion for fish. Made from --help by tools/completion/make.sh.
E
    awk -F'|' '
    BEGIN { printf "set -g __gradnic_paths" }
    $2 == "command" { printf " \047%s\047", ($1 ? $1 " " : "") $3 }
    END { print "" }' "$scratch/all"
    cat <<'E'
function __gradnic_at --argument-names wanted
    set -l at ''
    set -l words (commandline -opc)
    for word in $words[2..-1]
        set -l next (string trim "$at $word")
        contains -- "$next" $__gradnic_paths; or break
        set at $next
    end
    test "$at" = "$wanted"
end
E
    awk -F'|' '
    { printf "complete -c gradnic -n \"__gradnic_at \047%s\047\"", $1 }
    $2 == "command" { printf " -a %s", $3 }
    $2 == "option" { printf " -l %s", substr($3, 3) }
    $4 { printf " -s \047%s\047", $4 }
    $5 ~ /,/ { list = $5; gsub(/,/, " ", list); printf " -x -a \047%s\047", list }
    $5 == "?" { printf " -r" }
    { printf " -d \047%s\047\n", $6 }' "$scratch/all"
} >"$folder/gradnic.fish"
