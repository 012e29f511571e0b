# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154  # variables of scripts/testbed, and of who sources this
# Real ranks, switches and parameter servers on emulated links, for benchmarks that the simulator
# repeats; to be sourced with $root and $rows set. $sizes: options of the vectors, $window: chunks.
# shellcheck source=bench/switch_testbed.sh
source "$root/bench/switch_testbed.sh"
daemons=() pids=() before=$(busy)

# daemon HOST NAME ARGS...   a switch or parameter server there, until all end
daemon() {
    local host=$1 name=$2 i
    shift 2
    testbed_start "$host" "$testbed_gradnic" switch -q -c "$testbed_dir/$name.sock" "$@" >"$testbed_dir/$name.log" 2>&1
    daemons+=("$testbed_pid")
    for ((i = 0; i < 100; i++)); do
        "$testbed_gradnic" switch status -c "$testbed_dir/$name.sock" >/dev/null 2>&1 && return 0
        sleep 0.05
    done
    echo "$name did not start: $(tail -n 1 "$testbed_dir/$name.log")" >&2
    return 1
}

# ranks FIRST COUNT SWITCHES ARGS...   starts ranks on hosts from FIRST on. SWITCHES: addresses, for
# equal shares of the ranks, or none
ranks() {
    local first=$1 count=$2 switches i at
    read -ra switches <<<"$3"
    shift 3
    for ((i = 0; i < count; i++)); do
        at=()
        [ "${#switches[@]}" -eq 0 ] || at=(--algorithm switch --switch "${switches[i * ${#switches[@]} / count]}:7777" --switch-values 360 --switch-slots "${window:-256}")
        testbed_start $((first + i)) "$testbed_gradnic" bench allreduce --rank "$i" --world-size "$count" -p none \
            --rendezvous "tcp://$(testbed_address "$first"):5000" "${sizes[@]}" -n "$iterations" -w 1 --timeout 60s --json \
            "${at[@]}" "$@" >"$testbed_dir/rank$first-$i.out" 2>"$testbed_dir/rank$first-$i.err"
        pids+=("$testbed_pid")
    done
}

# done_with NAME   waits for all ranks, ends the daemons, and keeps what rank 0 of each job says
done_with() {
    local pid after out
    for pid in "${pids[@]}"; do
        wait "$pid" || { echo "$1: a rank failed" >&2; cat "$testbed_dir"/*.err "$testbed_dir"/*.log >&2; exit 1; }
    done
    after=$(busy)
    [ ! -S "$testbed_dir/switch.sock" ] || switch_stats | jq -c '.total.core | {packets, collisions, to_ps}' >&2
    [ "${#daemons[@]}" -eq 0 ] || { kill "${daemons[@]}"; wait "${daemons[@]}" || true; }
    for out in "$testbed_dir"/rank*-0.out; do
        jq -c --arg name "$1" --arg before "$before" --arg after "$after" '.results[] | def n: split(" ") | map(tonumber);
            {name: $name, size, ms: (.time_us / 1000), min_ms: (.time_min_us / 1000), max_ms: (.time_max_us / 1000), wrong,
             busy: ((($after | n) as $a | ($before | n) as $b | ($a[0] - $b[0]) / (($a[0] - $b[0]) + ($a[1] - $b[1]))) * 100 | round / 100)}' \
            "$out" >>"$rows"
        tail -n 1 "$rows" >&2
    done
    rm -f "$testbed_dir"/rank*
    daemons=() pids=() before=$(busy)
}
