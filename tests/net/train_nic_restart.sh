#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A NIC is killed and started again in the middle of a training. The training goes on. It ends with
# the same bits as one without an interruption.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/testbed
source "$here/../../scripts/testbed"
# shellcheck source=tests/net/ranks.sh
source "$here/ranks.sh"
# shellcheck source=tests/net/possible.sh
source "$here/possible.sh"
need_namespaces
fail() { echo "FAIL: $*" >&2; exit 1; }
data=${GN_TEST_DATA:-$here/../data}
training=(--data "$data" --augment 4 --steps 120 --evaluate-steps 20 --feedback --timeout 20s)

testbed_up 4 --rate 500mbit || exit 1
"$testbed_gradnic" train "${training[@]}" -N 4 -q --json="$testbed_dir/undisturbed.json"
ranks_command=(train)
ranks_start "${training[@]}" --json="$testbed_dir/disturbed.json"
for ((i = 0; i < 400; i++)); do
    ! grep -Eq '^ +1 +20 ' "$testbed_dir/rank0.out" || break
    sleep 0.05
done
kill -0 "${ranks_pid[1]}" || fail "it was over before the NIC was killed"
testbed_nic_stop 2 KILL
sleep 0.5
! grep -Eq '^ +[12] +120 ' "$testbed_dir/rank0.out" || fail "it was over before the NIC was gone"
testbed_nic_start 2
ranks_wait
ranks_good "training while a NIC was killed and restarted"
grep -q '^replicas identical: yes' "$testbed_dir/rank0.out" || fail "$(cat "$testbed_dir/rank0.out")"
[ "$(jq -r .weights "$testbed_dir/undisturbed.json")" = "$(jq -r .weights "$testbed_dir/disturbed.json")" ] || fail "other weights than without the restart"
[ "$(testbed_stats 2 | jq '.tx.engine.stored_no_syn')" -gt 0 ] || fail "the new NIC saw no flow that had begun before it: it was not restarted in mid-flow"
