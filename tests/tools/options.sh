#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# An option means the same in every command, shows its default as "(default ...)", and works under
# its old name for one release. Files are overwritten with --force only; -q is silent.
# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"

"$PYTHON" "$SOURCE/tests/tools/options.py" || fail "options"

# Old names do what the new ones do.
"$GRADNIC" bench codec --data zero --size packet --seconds 0 --repetitions 1 -p lattice -o old.json >old.txt 2>notes
"$GRADNIC" bench codec --made zero --layout packet --time 0s --rounds 1 -p lattice --json=new.json >new.txt
for name in old new; do
    jq -c '[.results[] | [.data, .size, .codec, .ratio, .repetitions]]' $name.json >$name.cases
    [ -s $name.txt ] || fail "no table with a file of results"
done
same old.cases new.cases
[ "$(wc -l <notes)" -eq 5 ] || fail "not one note for each old name: $(cat notes)"
rm notes ./*.cases

# --json prints JSON and no table; --json=FILE writes a file, which --force overwrites.
grads=$DATA/mlp-it1000-w0.npy.gz
captures=$SOURCE/tests/data/captures
json() { # NAME COMMAND...: the command's JSON is the same on standard output and in a file
    local name=$1
    shift
    "$GRADNIC" "$@" --json >"$name.printed" 2>err || fail "$* --json: $(cat err)"
    jq -e . "$name.printed" >/dev/null || fail "$* --json prints something else"
    "$GRADNIC" "$@" --json="$name.json" >"$name.text" 2>err || fail "$* --json=FILE: $(cat err)"
    jq -e . "$name.json" >/dev/null || fail "$* --json=FILE writes something else"
    [ "$(jq -c 'keys_unsorted' "$name.printed")" = "$(jq -c 'keys_unsorted' "$name.json")" ] ||
        fail "$*: other results in a file"
    ! jq -e . "$name.text" >/dev/null 2>&1 || [ ! -s "$name.text" ] || fail "$*: JSON is printed, too"
    echo before >"$name.json"
    expect 1 "$name.json: exists already; --force overwrites it" "$GRADNIC" "$@" --json="$name.json"
    [ "$(cat "$name.json")" = before ] || fail "$*: the file was overwritten"
    "$GRADNIC" "$@" --force --json="$name.json" >/dev/null 2>err || fail "$* --force: $(cat err)"
    jq -e . "$name.json" >/dev/null || fail "$* --force writes something else"
    "$GRADNIC" "$@" -q --json >"$name.quiet" 2>err || fail "$* -q: $(cat err)"
    [ ! -s err ] || fail "$* -q is not quiet: $(cat err)"
    jq -e . "$name.quiet" >/dev/null || fail "$* -q: what was asked for is missing"
}
json compress compress -o /dev/null "$grads"
json ratio ratio --against none "$grads"
json pcap pcap --direction tx "$captures/plain.pcap" /dev/null
json train train --data "$SOURCE/tests/data" -N 2 --hidden 16 --steps 2
json codec bench codec --made zero --layout packet --rounds 1 --time 0 -p dense
json switch bench switch --formats int32 --values 64 --layout cache --rounds 1
json allreduce bench allreduce -N 2 -b 4K -e 4K -n 1 -w 0

# A leading zero makes no number octal: not a type of service, nor a target.
"$GRADNIC" bench allreduce -N 1 -b 4K -e 4K -n 1 --tos 040 -p dense --scale auto \
    --scale-target 08 -q --json=decimal.json || fail "--tos 040 --scale-target 08"
[ "$(jq .exchange.tos decimal.json)" = 40 ] || fail "--tos 040 is not 40: $(jq -c .exchange decimal.json)"
expect 2 "--mark" "$GRADNIC" nic --mark 0x1g
if [ -x "$(dirname "$GRADNIC")/../sim/nic/gradnic-sim-nic" ]; then json sim sim nic -i "$grads" --size 8K; fi
host=127.$((RANDOM % 200 + 20)).$((RANDOM % 200)).3
"$GRADNIC" bench nic --serve --port 7850 -i "$grads" 2>err &
server=$!
trap 'kill $server 2>/dev/null || true; rm -rf "$work"' EXIT
for _ in $(seq 200); do
    ! "$GRADNIC" bench nic "$host" --port 7850 --round-trip 4 -n 1 >/dev/null 2>&1 || break
    sleep 0.05
done
json nic bench nic "$host" --port 7850 -i "$grads" -t 0.05
json trip bench nic "$host" --port 7850 --round-trip 64 -n 3
# One that takes the connection and goes is named, with what happened.
"$PYTHON" -c 'import socket, sys
with socket.create_server((sys.argv[1], 7853)) as one:
    print("ready", flush=True)
    one.settimeout(10)
    one.accept()[0].close()' "$host" >hangs_up &
until_holds "no far end" test -s hangs_up
! "$GRADNIC" bench nic "$host" --port 7852 --round-trip 64 -n 3 2>said || fail "a round trip to nobody"
grep -E 'closed the connection|reset by peer|Broken pipe' said >/dev/null || fail "$(cat said)"
"$GRADNIC" bench nic "$host" -p 7850 -f "$grads" -t 50ms >line 2>err # old names
grep -q '/s$' line || fail "nothing was sent: $(cat line err)"
[ "$(wc -l <err)" -eq 2 ] || fail "not one note for each old name: $(cat err)"

# A running switch answers the same in both ways.
"$GRADNIC" switch -q -l "$host:7860" -c "$PWD/switch.sock" -u "$(id -un)" --drop in:1% 2>err &
switch=$!
trap 'kill $server $switch 2>/dev/null || true; rm -rf "$work"' EXIT
for _ in $(seq 200); do
    ! "$GRADNIC" switch status -c "$PWD/switch.sock" >/dev/null 2>&1 || break
    sleep 0.05
done
[ "$(cat err)" = "gradnic switch: --drop is now --loss" ] || fail "the switch says: $(cat err)"
for what in status jobs stats; do json $what switch $what -c "$PWD/switch.sock"; done
"$GRADNIC" switch stats -c "$PWD/switch.sock" --prometheus >prometheus
grep -q '^gradnic_switch' prometheus || fail "no Prometheus text: $(head -n 3 prometheus)"
expect 1 "" "$GRADNIC" switch end -q -c "$PWD/switch.sock" no-such-job

# One file cannot be two things.
expect 1 "x.gn: another option writes this file, too" "$GRADNIC" compress --force -o x.gn --json=x.gn "$grads"
cp "$grads" copy.npy.gz
expect 1 "copy.npy.gz: is the input" "$GRADNIC" ratio --force --json=copy.npy.gz copy.npy.gz
expect 1 "copy.npy.gz: is the input" "$GRADNIC" bench allreduce -N 1 -i copy.npy.gz --force --json=copy.npy.gz
same copy.npy.gz "$grads"

# Captures of the NIC are files, too.
echo packets >there.pcap
# What is far too large is told the limit of the option.
expect 2 "--timeout: 99999999999h is outside 10ms to 24 days" "$GRADNIC" bench allreduce -N 2 --timeout 99999999999h
expect 2 "--end: 99999999999T is outside 0 to 1T" "$GRADNIC" bench allreduce -N 2 --end 99999999999T
expect 2 "--rate: 99999999999tbit is too large" "$GRADNIC" estimate --rate 99999999999tbit
expect 1 "there.pcap: exists already; --force overwrites it" \
    "$GRADNIC" nic -a 10.77.0.1/24 -P 10.77.0.2/32=192.0.2.1 --pcap-wire there.pcap
expect 1 "there.pcap: exists already; --force overwrites it" \
    "$GRADNIC" nic -a 10.77.0.1/24 -P 10.77.0.2/32=192.0.2.1 --pcap-host there.pcap
echo packets >%there.pcap
expect 1 "%there.pcap: exists already" "$GRADNIC" nic -a 10.77.0.1/24 -P 10.77.0.2/32=192.0.2.1 --pcap-host %%there.pcap
for name in host-%c.pcap host-%; do
    expect 2 "--pcap-host: a time in the name of a capture is %Y %m %d %H %M %S %j %F or %s, and %% is one %" \
        "$GRADNIC" nic -a 10.77.0.1/24 -P 10.77.0.2/32=192.0.2.1 --pcap-host "$name"
done
expect 2 "--pcap-wire: the name of a capture has over 4095 bytes" \
    "$GRADNIC" nic -a 10.77.0.1/24 -P 10.77.0.2/32=192.0.2.1 --pcap-wire "$(printf '%%F%.0s' {1..450})"
