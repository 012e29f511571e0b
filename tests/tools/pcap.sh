#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Real captures through `gradnic pcap`, tx and then rx. Passed packets are untouched, floats are
# within the bound, headers come back, and every checksum is right. tcpdump checks them as well.
# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"
captures=$SOURCE/tests/data/captures

witness() { # CAPTURE: tcpdump finds nothing wrong with it
    tcpdump -nvvr "$1" >dump 2>/dev/null || fail "tcpdump cannot read $1"
    [ -s dump ] || fail "tcpdump sees nothing in $1"
    ! grep -E 'incorrect|bad (udp )?cksum|wrong' dump || fail "tcpdump finds wrong checksums in $1"
}

# The profile's kind is its number and 1; the default is dense.
for how in '3 10' '3 6' '3 10 -p dense' '2 10 -p lattice' '1 6 -p paper'; do
    read -r kind k profile <<<"$how"
    # shellcheck disable=SC2086 # words are wanted
    "$GRADNIC" pcap --direction tx -k $k $profile -q "$captures/plain.pcap" wire.pcap
    "$GRADNIC" pcap --direction rx -q wire.pcap back.pcap
    "$PYTHON" "$SOURCE/tests/tools/pcap.py" "$captures/plain.pcap" wire.pcap back.pcap "$k" "$kind"
    witness wire.pcap
    witness back.pcap
    rm wire.pcap back.pcap
done

for cut in mtu fill; do
    "$GRADNIC" pcap --direction tx --cut $cut --json "$captures/offload.pcap" wire.pcap >tx.json
    "$GRADNIC" pcap --direction rx --json wire.pcap back.pcap >rx.json
    "$PYTHON" "$SOURCE/tests/tools/pcap.py" "$captures/offload.pcap" wire.pcap back.pcap 10 3 --cut 1508
    witness wire.pcap
    witness back.pcap
    "$PYTHON" -c '
import json
tx, rx = json.load(open("tx.json")), json.load(open("rx.json"))
rule = tx["rules"][0]
assert tx["cut"] > 10 and rule["compressed"] > 20 and rx["malformed"] == 0 and rx["foreign"] == 0
assert rx["restored_dense"] == rule["compressed"] and rx["restored_stored"] == rule["stored"]
assert rx["payload_bytes"] == rule["payload_bytes"] and rx["wire_bytes"] == rule["wire_bytes"]
assert rule["ratio"] > 4'
    mv wire.pcap wire-$cut.pcap
    rm back.pcap
done
[ "$(stat -c %s wire-fill.pcap)" -lt "$(stat -c %s wire-mtu.pcap)" ] || fail "fill is not smaller than mtu"

# The same bytes again, and through pipes. A rule without matches changes only the resolution of
# timestamps.
"$GRADNIC" pcap --direction tx --cut fill -q - - <"$captures/offload.pcap" | cmp - wire-fill.pcap
"$GRADNIC" pcap --direction tx --rule tos=0x30 -q "$captures/plain.pcap" same.pcap
tcpdump -nXXttr "$captures/plain.pcap" >one 2>/dev/null
tcpdump -nXXttr same.pcap >other 2>/dev/null
cmp one other
# A VLAN tag adds four bytes and changes nothing else.
"$PYTHON" -c '
import struct, sys
data = open(sys.argv[1], "rb").read()
out, at = data[:24], 24
while at < len(data):
    head, n = data[at:at + 8], struct.unpack_from("<I", data, at + 8)[0]
    frame = data[at + 16:at + 16 + n]
    out += head + struct.pack("<II", n + 4, n + 4) + frame[:12] + b"\x81\0\0\5" + frame[12:]
    at += 16 + n
open("vlan.pcap", "wb").write(out)' "$captures/plain.pcap"
"$GRADNIC" pcap --direction tx -q vlan.pcap vlan-wire.pcap
"$GRADNIC" pcap --direction tx -q "$captures/plain.pcap" wire.pcap
"$PYTHON" -c '
import struct
def frames(path):
    data, at = open(path, "rb").read(), 24
    while at < len(data):
        n = struct.unpack_from("<I", data, at + 8)[0]
        yield data[at + 16:at + 16 + n]
        at += 16 + n
a, b = list(frames("wire.pcap")), list(frames("vlan-wire.pcap"))
assert [f[:12] + b"\x81\0\0\5" + f[12:] for f in a] == b'

# What has no IP, and what the capture has cut, is counted. It passes as it is.
"$PYTHON" -c '
import struct, sys
data = open(sys.argv[1], "rb").read()
out, at, n = data[:24], 24, struct.unpack_from("<I", data, 32)[0]
whole = data[40:40 + n]
for frame, length in (b"\xff" * 12 + b"\x08\x06" + bytes(28), 42), (whole, n), (whole[:40], n), (b"\xff" * 12 + b"\x86\xdd", 14), (b"", 0):
    out += struct.pack("<IIII", 1, 2, len(frame), length) + frame
open("odd.pcap", "wb").write(out)' "$captures/plain.pcap"
for direction in tx rx; do
    "$GRADNIC" pcap --direction $direction --json odd.pcap odd-$direction.pcap >odd.json
    jq -e '.written == 5 and .no_ip == 3 and .truncated == 1' odd.json >/dev/null || fail "$(cat odd.json)"
    cmp <(tcpdump -nXXttr odd.pcap 2>/dev/null) <(tcpdump -nXXttr odd-$direction.pcap 2>/dev/null)
done

# The largest packet that libpcap takes, and as many rules as a NIC may have.
"$PYTHON" -c '
import struct, sys
head = bytearray(open(sys.argv[1], "rb").read(24))
struct.pack_into("<I", head, 16, 1 << 18)
frame = b"\xff" * 12 + b"\x08\x06" + bytes((1 << 18) - 14)
open("largest.pcap", "wb").write(head + struct.pack("<IIII", 1, 2, len(frame), len(frame)) + frame)' "$captures/plain.pcap"
rules=()
for tos in {1..16}; do rules+=(--rule "tos=$((tos * 4))"); done
for direction in tx rx; do
    "$GRADNIC" pcap --direction $direction "${rules[@]}" --json largest.pcap largest-$direction.pcap >largest.json
    jq -e '.written == 1 and .no_ip == 1' largest.json >/dev/null || fail "$(cat largest.json)"
done

# Packets may become longer than the input's limit. It must not be theirs: readers would cut them.
limit() { "$PYTHON" -c 'import struct, sys; print(struct.unpack_from("<I", open(sys.argv[1], "rb").read(), 16)[0])' "$1"; }
"$PYTHON" -c '
import struct, sys
data = bytearray(open(sys.argv[1], "rb").read())
at, longest = 24, 0
while at < len(data):
    length = struct.unpack_from("<I", data, at + 8)[0]
    at, longest = at + 16 + length, max(longest, length)
struct.pack_into("<I", data, 16, longest)
open("tight.pcap", "wb").write(data)' "$captures/offload.pcap"
"$GRADNIC" pcap --direction tx --cut fill -q tight.pcap tight-wire.pcap
"$GRADNIC" pcap --direction rx -q tight-wire.pcap tight-back.pcap
for written in tight-wire.pcap tight-back.pcap; do
    [ "$(limit $written)" -ge 262144 ] || fail "$written has a limit of $(limit $written) bytes"
done
cmp tight-wire.pcap wire-fill.pcap

# Errors are named, and leave no file.
expect 2 "direction" "$GRADNIC" pcap "$captures/plain.pcap" x.pcap
expect 2 "--direction: 'up' is neither tx nor rx" "$GRADNIC" pcap --direction up "$captures/plain.pcap" x.pcap
expect 2 "two files" "$GRADNIC" pcap --direction tx "$captures/plain.pcap"
expect 2 "-k" "$GRADNIC" pcap --direction rx -k 10 "$captures/plain.pcap" x.pcap
expect 2 "port=9-1" "$GRADNIC" pcap --direction tx --rule port=9-1 "$captures/plain.pcap" x.pcap
expect 2 "outside" "$GRADNIC" pcap --direction tx -k 99 "$captures/plain.pcap" x.pcap
expect 1 "No such" "$GRADNIC" pcap --direction tx nothing.pcap x.pcap
expect 1 "exists" "$GRADNIC" pcap --direction tx "$captures/plain.pcap" wire.pcap
cp wire.pcap own.pcap
ln own.pcap other.pcap
expect 1 "own.pcap: is the input" "$GRADNIC" pcap -f --direction rx own.pcap own.pcap
expect 1 "other.pcap: is the input" "$GRADNIC" pcap -f --direction rx own.pcap other.pcap
expect 1 "other.pcap: is the input" "$GRADNIC" pcap -f --direction rx - other.pcap <own.pcap
same own.pcap wire.pcap
head -c 1000 "$captures/plain.pcap" >short.pcap
expect 1 "short.pcap: the capture ends within packet" "$GRADNIC" pcap --direction tx short.pcap x.pcap
expect 1 "--truncated takes the whole packets before it" "$GRADNIC" pcap --direction tx short.pcap x.pcap
expect 0 "note: short.pcap: ends within a packet" "$GRADNIC" pcap --direction tx --truncated short.pcap whole.pcap
whole=$( (tcpdump -nr short.pcap 2>/dev/null || true) | wc -l)
[ "$whole" -gt 1 ] || fail "short.pcap has $whole whole packets"
[ "$(tcpdump -nr whole.pcap 2>/dev/null | wc -l)" -eq "$whole" ] || fail "not the $whole whole packets"
echo "not a capture at all, but long enough to look at" >text.pcap
expect 1 "text.pcap" "$GRADNIC" pcap --direction tx text.pcap x.pcap
"$PYTHON" -c '
data = bytearray(open("wire.pcap", "rb").read())
data[20] = 113
open("cooked.pcap", "wb").write(data)'
expect 1 "link type" "$GRADNIC" pcap --direction tx cooked.pcap x.pcap
[ ! -e x.pcap ] || fail "a file is left behind"
expect 1 "/dev/full: No space left on device" "$GRADNIC" pcap -f --direction tx "$captures/plain.pcap" /dev/full
# Also when the file is larger than libpcap's buffer.
"$PYTHON" -c '
import os, sys
data = open(sys.argv[1], "rb").read()
open("large.pcap", "wb").write(data[:24] + data[24:] * 200)' "$captures/plain.pcap"
expect 1 "/dev/full: No space left on device" "$GRADNIC" pcap -f --direction tx large.pcap /dev/full
rm large.pcap

# The kernel's own routing tables, and a path that no socket can have.
for table in 253 254 255; do
    expect 2 "--table: $table is a table of the kernel's own" "$GRADNIC" nic -P 10.77.0.2/32=192.0.2.2 --steer mark --table $table
done

# What the NIC sends has ToS 0. Steered by that, it would come back without end.
printf 'peer = 192.0.2.2/32=192.0.2.2\nsteer = dscp\nrule = tos=0x28\n' >steer.conf
expect 0 "" "$GRADNIC" nic --config steer.conf --check-config
echo 'rule = tos=0,port=5000' >>steer.conf
expect 2 "--steer dscp: a rule with ToS 0 takes the NIC's own datagrams" "$GRADNIC" nic --config steer.conf --check-config
expect 0 "" "$GRADNIC" nic --config steer.conf --check-config --steer mark

# A NIC does not write its captures over each other, or over its table of peers.
echo "10.77.0.2/32=192.0.2.2" >peers
expect 2 "--pcap-host: peers: is the input" "$GRADNIC" nic -a 10.77.0.1/24 --peers peers --pcap-host peers
expect 2 "--pcap-wire: ./peers: is the input" "$GRADNIC" nic -a 10.77.0.1/24 --pcap-wire ./peers --peers peers
printf 'address = 10.77.0.1/24\npeer = 10.77.0.2/32=192.0.2.1\n' >nic.conf
cp nic.conf nic.kept
for option in --pcap-host --pcap-wire; do
    expect 2 "${option#--}: ./nic.conf: is read by this command" timeout 10 \
        "$GRADNIC" nic --config nic.conf --force "$option" ./nic.conf
    same nic.conf nic.kept
done
expect 2 "--pcap-wire both.pcap: --pcap-host writes this file" "$GRADNIC" nic -a 10.77.0.1/24 --peers peers --pcap-host both.pcap --pcap-wire both.pcap
[ "$(cat peers)" = "10.77.0.2/32=192.0.2.2" ] || fail "the table of peers was overwritten"
