#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A host forwards datagrams, some of which were damaged before they came to it. Their checksum is
# wrong, and stays so: the receiver drops them. A NIC that wrote a new one would hide the damage.
# shellcheck source=tests/net/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

begin 2
port=6200 damaged=0
for way in "" "--guard off" "--bypass on"; do
    # shellcheck disable=SC2086 # words
    [ -z "$way" ] || testbed_set 1 $way || fail "set $way"
    for tos in 0x28 0; do
        port=$((port + 1)) damaged=$((damaged + 40))
        testbed_start 2 python3 "$here/damaged.py" receive "$(testbed_address 2)" $port >"$testbed_dir/came"
        far=$testbed_pid
        for ((i = 0; i < 200; i++)); do testbed_run 2 ss -Hlun "sport = :$port" | grep -q . && break; sleep 0.05; done
        testbed_run 1 python3 "$here/damaged.py" send "$(testbed_address 1)" "$(testbed_address 2)" $port $tos || fail "sending with ToS $tos"
        wait "$far" || fail "the receiver failed"
        [ "$(cat "$testbed_dir/came")" = "40 0" ] || fail "ToS $tos, '$way': good and damaged ones that arrived: $(cat "$testbed_dir/came")"
        expect "damaged ones that were seen (ToS $tos, '$way')" "$(stat_of 1 .tx.host.bad_checksum)" -eq $damaged
    done
done
expect "datagrams compressed" "$(stat_of 1 .tx.rules[0].compressed)" -gt 60
