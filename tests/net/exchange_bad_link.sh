#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Allreduce over four NICs whose links lose, duplicate and reorder: the same sums, and an end.
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

testbed_up 4 --nic "-k 10 --loss 1% --duplicate 1% --reorder 2%" || exit 1
ranks_start -b 4 -e 4M -f 64 -n 2 -w 0 -k 10 --input "$gradients" --timeout 20s
ranks_wait
ranks_good "ring over bad links"
ranks_start -b 1M -e 1M -n 2 -w 0 -p dense -k 10 --input "$gradients" --timeout 20s --algorithm worker-aggregator
ranks_wait
ranks_good "worker-aggregator over bad links"
[ "$(testbed_stats 1 | jq '[.. | .lost? // empty] | add')" -gt 0 ] || { echo "FAIL: the NIC lost nothing, so nothing was tested" >&2; exit 1; }
[ "$(testbed_stats 1 | jq '[.. | .compressed? // empty] | add')" -gt 0 ] || { echo "FAIL: the NIC compressed nothing" >&2; exit 1; }

testbed_set 1 -p paper -k 10 && testbed_set 2 -p paper -k 10 && testbed_set 3 -p paper -k 10 && testbed_set 4 -p paper -k 10
ranks_start -b 1M -e 1M -n 2 -w 0 -p paper -k 10 --input "$gradients" --timeout 20s
ranks_wait
ranks_good "ring with the paper's codec over bad links"
