# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Completion for bash: commands and long options as --help lists them, otherwise file names.

# Prints the commands below those given. What a running NIC or switch is asked is in no table.
_gradnic_below() {
    case "${*:2}" in
    nic) printf '%s\n' status stats set ;;
    switch) printf '%s\n' status jobs stats end ;;
    *) "$@" --help 2>/dev/null | sed -n '/^Commands:$/,/^$/s/^  \([a-z][a-z0-9-]*\) .*/\1/p' ;;
    esac
}
_gradnic() {
    local word=${COMP_WORDS[COMP_CWORD]} i commands=() below
    for ((i = 1; i < COMP_CWORD; i++)); do
        below=$(_gradnic_below "${COMP_WORDS[0]}" "${commands[@]}")
        grep -qxF -- "${COMP_WORDS[i]}" <<<"$below" || break
        commands+=("${COMP_WORDS[i]}")
    done
    if [[ $word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$("${COMP_WORDS[0]}" "${commands[@]}" --help 2>/dev/null | grep -oE -- '--[a-z][a-z-]*' | sort -u)" -- "$word")
        return
    fi
    if ((i == COMP_CWORD)); then
        below=$(_gradnic_below "${COMP_WORDS[0]}" "${commands[@]}")
        mapfile -t COMPREPLY < <(compgen -W "$below" -- "$word")
    fi
}
complete -o default -F _gradnic gradnic
