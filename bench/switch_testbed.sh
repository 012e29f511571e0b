# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154  # variables of scripts/testbed
# Four workers around a gradnic switch, for benchmarks; to be sourced with $root set. The switch is
# where the links meet, in the namespace of the testbed's bridge, as a real one would be. So every
# worker has its whole link to it, in both directions.
# shellcheck source=scripts/testbed
source "$root/scripts/testbed"
# shellcheck source=tests/net/ranks.sh
source "$root/tests/net/ranks.sh"
switch_address=10.78.0.254:7777

# switch_up ARGS...   starts the switch; its process id is in $switch_pid
switch_up() {
    local i
    ip -n "$(testbed_netns 0)" addr replace "${switch_address%:*}/24" dev br0 && ip -n "$(testbed_netns 0)" link set lo up || return 1
    testbed_start 0 "$testbed_gradnic" switch -q -l "$switch_address" -c "$testbed_dir/switch.sock" "$@" >"$testbed_dir/switch.log" 2>&1
    switch_pid=$testbed_pid
    for ((i = 0; i < 100; i++)); do
        "$testbed_gradnic" switch status -c "$testbed_dir/switch.sock" >/dev/null 2>&1 && return 0
        kill -0 "$switch_pid" 2>/dev/null || break
        sleep 0.05
    done
    echo "the switch did not start: $(tail -n 1 "$testbed_dir/switch.log")" >&2
    return 1
}

switch_stats() { "$testbed_gradnic" switch stats --json -c "$testbed_dir/switch.sock"; }

# Processor time of a process so far, in ticks of 10 ms.
switch_ticks() { sed 's/.*) //' "/proc/$switch_pid/stat" | awk '{print $12 + $13}'; }

busy() { awk '/^cpu /{print $2 + $3 + $4 + $6 + $7 + $8, $5}' /proc/stat; } # user nice system irq softirq steal; idle
