#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A program marks its TCP and UDP traffic with ToS 0x28 and sends text, compressed files and a
# program. All of it arrives as it was, counted and logged once a flow. Gradients are still
# compressed. Without the guard the same bytes arrive changed.
# shellcheck source=tests/net/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

port=6100
transfer() { # transfer ADDRESS FILE HOW: sends a file with HOW ('' or as in marked.py) to $testbed_dir/arrived
    local address=$1 file=$2 how=${3-} i far
    port=$((port + 1))
    testbed_start 2 python3 "$here/marked.py" "receive$how" $port "$testbed_dir/arrived" "$(stat -Lc %s "$file")" "$(testbed_address 1 $version)"
    far=$testbed_pid
    for ((i = 0; i < 200; i++)); do
        testbed_run 2 ss -Hlnut "sport = :$port" | grep . >/dev/null && break
        sleep 0.05
    done
    testbed_run 1 python3 "$here/marked.py" "send$how" "$address" $port "$file" || fail "$file was not sent"
    wait "$far" || fail "$file did not arrive"
}
alone=0
untouched() { # untouched ADDRESS FILE HOW WHY
    local flows logged
    flows=$(stat_of 1 .tx.guard.other_flows) logged=$(grep -c 'is left alone' "$testbed_dir/nic1.log")
    alone=$((alone + 1))
    transfer "$@"
    cmp "$2" "$testbed_dir/arrived" || fail "$2 arrived changed"
    expect "flows left alone ($2)" "$(stat_of 1 .tx.guard.other_flows)" -eq $((flows + 1))
    expect "lines of the log ($2)" "$(grep -c 'is left alone' "$testbed_dir/nic1.log")" -eq $((logged + 1))
    grep "warning: gn0: .* to .*$1.*:$port is left alone: ${4-it looks like}" "$testbed_dir/nic1.log" >/dev/null ||
        fail "no log line names $1 and $port"
}

# shellcheck source=tests/net/ranks.sh
source "$here/ranks.sh"
begin 2
cat "$here"/../../docs/*.md "$here"/../../docs/*.md >"$testbed_dir/text"
gzip -c "$testbed_dir/text" >"$testbed_dir/text.gz"
head -c 300001 /dev/urandom >"$testbed_dir/random"
zcat "$grads" | tail -c 400000 >"$testbed_dir/values"
head -c 100000 "$testbed_dir/text" >"$testbed_dir/short"
for version in 4 6; do
    address=$(testbed_address 2 $version)
    for file in "$testbed_dir/text" "$testbed_dir/text.gz" "$gradnic" "$testbed_dir/random" "$grads"; do
        untouched "$address" "$file"
    done
    untouched "$address" "$testbed_dir/short" -datagrams
    # A rounded value would break the signature, or the checksum of MPTCP.
    if python3 "$here/marked.py" can signed; then untouched "$address" "$testbed_dir/values" -signed "its bytes are signed"; fi
    [ "$version" = 4 ] || continue # Linux lets no program mark MPTCP over IPv6
    if python3 "$here/marked.py" can mptcp; then untouched "$address" "$testbed_dir/values" -mptcp "it has a part of"; fi
done
version=4
expect "packets compressed so far" "$(stat_of 1 .tx.rules[0].compressed)" -eq 0
expect "segments left alone" "$(stat_of 1 .tx.guard.left)" -gt 100
expect "bytes left alone" "$(stat_of 1 .tx.guard.left_bytes)" -gt 1000000
"$gradnic" nic stats -c "$(testbed_control 1)" --prometheus |
    grep "^gradnic_tx_guard_other_flows_total{device=\"gn0\"} $alone\$" >/dev/null || fail "not in Prometheus' text"
expect "packets dropped by the receiver" "$(stat_of 2 .rx.engine.malformed)" -eq 0

# Gradients, and a flow of zeros, which proves nothing and is compressed exactly.
serve 2 -i "$grads" -k 10
stream 1 "$(testbed_address 2)" -i "$grads" --tos 0x28 -t 1
kill "$testbed_pid"
expect "packets compressed" "$(stat_of 1 .tx.rules[0].compressed)" -gt 100
expect "flows of gradients" "$(stat_of 1 .tx.guard.gradient_flows)" -eq 1
left=$(stat_of 1 .tx.guard.left) compressed=$(stat_of 1 .tx.rules[0].compressed)
head -c 1000000 /dev/zero >"$testbed_dir/zeros"
transfer "$(testbed_address 2)" "$testbed_dir/zeros"
cmp "$testbed_dir/zeros" "$testbed_dir/arrived" || fail "zeros arrived changed"
expect "packets of zeros compressed" "$(stat_of 1 .tx.rules[0].compressed)" -gt "$compressed"
expect "segments left alone meanwhile" "$(stat_of 1 .tx.guard.left)" -eq "$left"

# A training's flows begin with comparisons of options, and are gradients all the same.
flows=$(stat_of 1 .tx.guard.gradient_flows) other=$(stat_of 1 .tx.guard.other_flows)
for how in "-p dense --feedback --overlap" "-p lattice --scale auto" "-k 2 -p dense --evaluate-steps 1 --checkpoint $testbed_dir/saved"; do
    # shellcheck disable=SC2206 # words
    ranks_command=(train --data "$data" --layers 3 --hidden 64 --steps 4 -q --json="$testbed_dir/train.json" -f $how)
    # shellcheck disable=SC2119 # no arguments are meant
    ranks_start
    ranks_wait
    ranks_good "a training under the guard: $how"
    flows=$((flows + 1))
    expect "flows of gradients after $how" "$(stat_of 1 .tx.guard.gradient_flows)" -eq "$flows"
done
expect "flows of the training left alone" "$(stat_of 1 .tx.guard.other_flows)" -eq "$other"

# Marked traffic that no rule matches is looked at by the receiver all the same, and so is what
# passes a NIC in bypass. A file of shims arrives as it was, wherever packets begin in it.
python3 - "$testbed_dir/shims" <<'PY'
import struct, sys
shim = struct.pack(">HBBHB", 0x474E, 0x10, 0, 992, 0)
check = 0
for byte in shim:
    check ^= byte
    for _ in range(8):
        check = (check << 1 ^ 7) & 255 if check & 128 else check << 1
open(sys.argv[1], "wb").write((shim + bytes([check])) * 25000)
PY
for way in "--rule tos=0x28,port=5000-5010" "--bypass on"; do
    # shellcheck disable=SC2086 # words
    testbed_set 1 $way || fail "set $way"
    for version in 4 6; do
        for how in '' -datagrams; do
            shielded=$(stat_of 1 .tx.guard.shielded)
            transfer "$(testbed_address 2 $version)" "$testbed_dir/shims" $how
            cmp "$testbed_dir/shims" "$testbed_dir/arrived" || fail "shims arrived changed ($way, IPv$version, $how)"
            expect "packets shielded ($way, IPv$version, $how)" "$(stat_of 1 .tx.guard.shielded)" -gt "$shielded"
        done
    done
done
testbed_set 1 --rule tos=0x28 --bypass off || fail "set the rule of before"

# The option has an effect: the text does not survive without the guard.
for how in set start; do
    if [ $how = set ]; then
        testbed_set 1 --guard off || fail "set --guard off"
    else
        testbed_nic_stop 1
        testbed_nic_start 1 "--guard off" || fail "--guard off"
    fi
    "$gradnic" nic status -c "$(testbed_control 1)" --json | jq -e '.guard == false' >/dev/null ||
        fail "status does not say that the guard is off"
    transfer "$(testbed_address 2)" "$testbed_dir/text"
    cmp -s "$testbed_dir/text" "$testbed_dir/arrived" &&
        fail "without the guard ($how) text arrived as it was: the test proves nothing"
    testbed_set 1 --guard on || fail "set --guard on"
    untouched "$(testbed_address 2)" "$testbed_dir/text"
done
exit 0
