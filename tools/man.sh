#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# man.sh PROGRAM FOLDER VERSION: makes man pages of the program and of every command from their
# --help, with help2man: gradnic.1, gradnic-ratio.1, gradnic-bench-codec.1, ... It finds the
# commands in --help, so none is missing.
set -euo pipefail
program=$1 folder=$2 version=$3
scratch=$(mktemp -d "${TMPDIR:-/tmp}/gradnic-man-XXXXXX")
trap 'rm -rf "$scratch"' EXIT

# roff: makes a section to include from the text behind the options in --help. Indented lines
# (examples, columns) stay lines; help2man would fill them.
roff() {
    awk '
    function escape(text) {
        gsub(/\\/, "\\e", text); gsub(/-/, "\\-", text); gsub(/\047/, "\\(aq", text)
        gsub(/`/, "\\(ga", text); gsub(/\^/, "\\(ha", text); gsub(/~/, "\\(ti", text)
        return text ~ /^\./ ? "\\&" text : text
    }
    function verbatim(on) {
        if (on != inside) print on ? ".RS 4\n.EX" : ".EE\n.RE"
        inside = on
    }
    BEGIN { print "[>DESCRIPTION]"; fresh = 1 }
    /^$/ { verbatim(0); fresh = 1; next }
    /^  / { if (fresh) print ".PP"; verbatim(1); print escape(substr($0, 3)); fresh = 0; next }
    { verbatim(0) }
    /^Examples?:$/ { print "\n[EXAMPLES]"; fresh = 0; next }
    { if (fresh) print ".PP"; fresh = 0; print escape($0) }
    END { verbatim(0) }'
}

# page NAME SUMMARY [COMMAND...]
page() {
    local name=$1 summary=$2 options='for any corresponding short options.'
    shift 2
    "$program" "$@" --help | awk -v last="$options" '!past; $0 == last {past = 1}' >"$scratch/help"
    "$program" "$@" --help | sed "1,/^$options\$/d" | roff >"$scratch/include"
    printf '#!/bin/sh\ncat "%s"\n' "$scratch/help" >"$scratch/gradnic"
    chmod +x "$scratch/gradnic"
    help2man --no-info --section=1 --source="gradnic $version" --version-string="$version" --name="$summary" \
        --include="$scratch/include" "$scratch/gradnic" |
        sed -e "s/^\.TH [^ ]*\(.*\)/.TH ${name^^}\1\n.ad l/" -e "/^\.SH NAME/{n;s/^.* \\\\- /$name \\\\- /}" >"$folder/$name.1"
}

# commands COMMAND...: prints the table of subcommands, if there is one, as "name summary" lines
commands() {
    "$program" "$@" --help | sed -n '/^Commands:$/,/^$/s/^  \([a-z][a-z0-9-]*\)  */\1 /p'
}

# Makes the pages of a command and of all commands below it.
walk() {
    local name=$1 summary=$2 below
    shift 2
    page "$name" "$summary" "$@"
    commands "$@" | while read -r below summary; do
        walk "$name-$below" "$summary" "$@" "$below"
    done
}

rm -rf "$folder"
mkdir -p "$folder"
walk gradnic "gradient compression and exchange over compressing NICs"

# Commands that ask a running NIC or switch are in no table.
page gradnic-nic-status "what a running NIC is and how it is set" nic status
page gradnic-nic-stats "counters of a running NIC" nic stats
page gradnic-nic-set "change a running NIC" nic set
page gradnic-switch-status "what a running switch waits for" switch status
page gradnic-switch-jobs "the jobs of a running switch" switch jobs
page gradnic-switch-stats "counters of a running switch" switch stats
page gradnic-switch-end "end a job of a running switch" switch end
