#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Ranks in two containers of one host, which share a network and no memory: two ranks in each. They
# share memory where they can, take TCP elsewhere, and say so. The sums are right.
source "$(dirname "$0")/lib.sh"
need_namespaces
if [ -z "${CONTAINERS_NETWORK-}" ]; then CONTAINERS_NETWORK=own exec unshare --net bash "$0"; fi
ip link set lo up
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
gradients=$data/gradients/cnn-it100-w%r.npy.gz

# rank R ARGS...   in the background
rank() {
    local r=$1
    shift
    "$gradnic" bench allreduce --rank "$r" --world-size 4 --rendezvous "tcp://127.0.0.1:5000" --interface lo -b 1M -e 1M \
        -n 3 -w 1 --timeout 30s --json "$@" >"$dir/$r.out" 2>"$dir/$r.err" &
    pids+=($!)
}
# container R S ARGS...   two ranks with their own processes and their own /dev/shm
container() {
    export gradnic dir
    # shellcheck disable=SC2016 # the inner shell expands them
    unshare --pid --fork --mount --mount-proc bash -c '
        mount -t tmpfs none /dev/shm
        pids=() wrong=0
        '"$(declare -f rank)"'
        rank "$1" "${@:3}"
        rank "$2" "${@:3}"
        for pid in "${pids[@]}"; do wait "$pid" || wrong=1; done
        exit $wrong' - "$@" &
    containers+=($!)
}

# try WHAT RANKS ARGS...   rank 0 has to say of RANKS that they share no memory with it
try() {
    local what=$1 ranks=$2 c r containers=()
    shift 2
    container 0 1 "$@"
    container 2 3 "$@"
    for c in "${containers[@]}"; do wait "$c" || { cat "$dir"/*.err >&2; fail "$what: a rank failed"; }; done
    expect "$what: wrong sums" "$(jq '.results[0].wrong' "$dir/0.out")" -eq 0
    for r in $ranks; do
        grep -q "rank $r at 127.0.0.1.* shares no memory with this rank .*: TCP carries the values" "$dir/0.err" ||
            { cat "$dir/0.err" >&2; fail "$what: rank 0 did not say that rank $r shares no memory with it"; }
    done
    ! grep -q "rank 1 at .* shares no memory" "$dir/0.err" || fail "$what: ranks 0 and 1 share no memory"
}

compressed=(-p dense --offload library --input "$gradients")
for algorithm in direct auto; do
    try "$algorithm" "2 3" --algorithm "$algorithm"
    try "$algorithm, compressed" "2 3" --algorithm "$algorithm" "${compressed[@]}"
done
try "ring, compressed" 3 "${compressed[@]}"  # rank 0 has ranks 1 and 3 beside it

# Without containers nobody says so.
pids=()
for r in 0 1 2 3; do rank "$r" --algorithm direct; done
for pid in "${pids[@]}"; do wait "$pid" || fail "one host: a rank failed"; done
! grep -q "shares no memory" "$dir"/*.err || fail "one host: ranks share no memory"
echo "containers: well"
