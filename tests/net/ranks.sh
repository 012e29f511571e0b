# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154  # variables that callers read, and those of scripts/testbed
# Allreduce or training with one rank per host of a testbed. To be sourced after the testbed is up.
ranks_command=(bench allreduce)

# The NICs of the testbed compress. Where there is a switch, it and the ranks do.
ranks_offload() {
    export GRADNIC_OFFLOAD=nic
    case " ${ranks_command[*]} $* " in *" --switch "*) GRADNIC_OFFLOAD=auto ;; esac
}

# ranks_start ARGS...   starts `gradnic $ranks_command ARGS`: as rank 0 on host 1, rank 1 on host 2,
# ...
ranks_start() {
    local i
    ranks_offload "$@"
    ranks_pid=()
    for ((i = 1; i <= testbed_count; i++)); do
        testbed_start "$i" "$testbed_gradnic" "${ranks_command[@]}" --rank $((i - 1)) --world-size "$testbed_count" \
            --rendezvous "tcp://$(testbed_address 1):5000" "$@" >"$testbed_dir/rank$((i - 1)).out" 2>"$testbed_dir/rank$((i - 1)).err"
        ranks_pid+=("$testbed_pid")
    done
}

# ranks_wait   waits for all; exit statuses in ${ranks_exit[@]}
ranks_wait() {
    local i
    ranks_exit=()
    for ((i = 0; i < testbed_count; i++)); do
        if wait "${ranks_pid[$i]}"; then ranks_exit+=(0); else ranks_exit+=($?); fi
    done
}

# ranks_good WHAT   fails unless all ranks ended well. Rank 0 also checks the sums, and that all
# hold the same bits.
ranks_good() {
    local i
    for ((i = 0; i < testbed_count; i++)); do
        [ "${ranks_exit[$i]}" -eq 0 ] && continue
        echo "FAIL: $1: rank $i ended with ${ranks_exit[$i]}" >&2
        cat "$testbed_dir"/rank*.err "$testbed_dir"/nic*.log >&2
        exit 1
    done
}
