#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Steps of DistributedDataParallel over four hosts (network namespaces) on links of limited speed:
# Gloo, its fp16 and PowerSGD hooks, the backend gradnic with and without compression, and
# gradnic.hook over Gloo. All take turns in the same processes.
#
#   bench/python/links.sh RESULT.json      needs root and PyTorch; about 1.5 minutes a round
#       ROUNDS=5                           each has one step and one exchange of every case and task
#       RATES="200mbit 1gbit"              of the links
#       PYTHON=path                        default: build/python/tools/bin/python
#       ARGUMENTS=""                       further ones of bench/python/steps.py
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
[ $# -eq 1 ] || { sed -n '3,11s/^# \{0,1\}//p' "$0" >&2; exit 2; }
result=$1
python=${PYTHON:-$root/build/python/tools/bin/python}
read -ra rates <<<"${RATES:-200mbit 1gbit}"
"$python" -c 'import torch, gradnic' 2>/dev/null ||
    { echo "links.sh: $python has no torch or no gradnic: run scripts/setup --torch and scripts/python, or set PYTHON" >&2; exit 1; }
# shellcheck source=scripts/testbed
source "$root/scripts/testbed"
testbed_possible || exit 1
scratch=$(mktemp -d)
trap 'testbed_down; rm -rf "$scratch"' EXIT

for rate in "${rates[@]}"; do
    testbed_up 4 --prefix "${PREFIX:-gnpyt}" --rate "$rate" --no-nic
    pids=()
    for host in 1 2 3 4; do
        # shellcheck disable=SC2086  # the arguments are words
        RANK=$((host - 1)) WORLD_SIZE=4 MASTER_ADDR=$(testbed_link_address 1) MASTER_PORT=29500 GLOO_SOCKET_IFNAME=wire0 \
            testbed_start "$host" "$python" "$root/bench/python/steps.py" "$scratch/$rate.json" --rounds "${ROUNDS:-5}" ${ARGUMENTS:-} \
            2>"$scratch/errors$host"
        pids+=("$testbed_pid")
    done
    for pid in "${pids[@]}"; do
        wait "$pid" || { grep -hv 'hostname of the client socket' "$scratch"/errors* | tail -n 20 >&2; exit 1; }
    done
    testbed_down
done
"$python" "$root/bench/python/overhead.py" "$scratch/overhead.json"
"$python" "$root/bench/python/summary.py" "$scratch" "${rates[@]}" >"$result.part"
mv "$result.part" "$result"
