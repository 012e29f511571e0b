#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A NIC is killed and started again in the middle of an allreduce: it goes on.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/testbed
source "$here/../../scripts/testbed"
# shellcheck source=tests/net/ranks.sh
source "$here/ranks.sh"
# shellcheck source=tests/net/possible.sh
source "$here/possible.sh"
need_namespaces
gradients=${GN_TEST_DATA:-$here/../data}/gradients/cnn-it100-w%r.npy.gz

testbed_up 4 --rate 100mbit --nic "-p lattice -k 10" || exit 1
ranks_start -b 64M -e 64M -n 1 -w 0 -p lattice -k 10 --input "$gradients" --timeout 20s
sleep 1.5
kill -0 "${ranks_pid[1]}" || { echo "FAIL: it was over before the NIC was killed" >&2; exit 1; }
testbed_nic_stop 2 KILL
sleep 0.5
testbed_nic_start 2
ranks_wait
ranks_good "allreduce while a NIC was killed and restarted"
