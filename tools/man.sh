#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# man.sh PROGRAM FOLDER VERSION: makes a man page of the program and of every subcommand from their --help, with help2man:
# gradnic.1, gradnic-ratio.1, gradnic-bench-codec.1, ... Commands are found in --help itself, so none can be forgotten.
set -euo pipefail
program=$1 folder=$2 version=$3

# page NAME SUMMARY [COMMAND...]
page() {
    local name=$1 summary=$2
    shift 2
    help2man --no-info --section=1 --source="gradnic $version" --version-string="$version" --name="$summary" "$program $*" |
        sed -e "s/^\.TH [^ ]*/.TH ${name^^}/" -e "/^\.SH NAME/{n;s/^.* \\\\- /$name \\\\- /}" >"$folder/$name.1"
}

# commands COMMAND...: "name summary" lines of a table of subcommands, if there is one
commands() {
    "$program" "$@" --help | sed -n '/^Commands:$/,/^$/s/^  \([a-z][a-z0-9-]*\)  */\1 /p'
}

# Pages of the command and of everything below it.
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

# Commands that ask a running NIC are not in a table.
page gradnic-nic-status "what a running NIC is and how it is set" nic status
page gradnic-nic-stats "counters of a running NIC" nic stats
page gradnic-nic-set "change a running NIC" nic set
