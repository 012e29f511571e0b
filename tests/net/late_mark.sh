#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Steering, and a connection that is marked after it was made: its SYN goes past the NIC. The
# connection before had the same ports, was marked from the start, and its peer died. What the NIC
# knows of that one is not true of this one.
# shellcheck source=tests/net/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

begin 2 --steer dscp
connections=16
cat >"$testbed_dir/late.py" <<'P'
import random, socket, struct, sys

rounds, address = int(sys.argv[1]), sys.argv[2]
noise = random.Random(5)
# bfloat16 in binary32: begun at another byte, its zeros make numbers that round to zero.
values = b"".join(b"\0\0" + struct.pack("<f", noise.gauss(0, 0.1))[2:] for _ in range(20000))


def die(connection):
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def receive():
    with socket.create_server(("", 9100)) as door:
        print("ready", flush=True)
        for i in range(rounds):
            first = door.accept()[0]
            first.recv(1)
            die(first)
            second = door.accept()[0]
            got = second.recv(len(values), socket.MSG_WAITALL)
            pairs = zip(struct.unpack("<20000f", values), struct.unpack("<20000f", got))
            wrong = sum(not abs(sent - came) <= 2**-10 for sent, came in pairs)
            die(second)
            if wrong:
                sys.exit(f"connection {i}: {wrong} values are beyond the bound")


def send(i, marked):
    with socket.socket() as out:
        out.settimeout(20)
        out.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        out.bind(("", 20000 + i))
        if marked:
            out.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 0x28)
        out.connect((address, 9100))
        out.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 0x28)
        try:
            out.sendall(values)
            out.recv(1)
        except ConnectionError:
            pass


if address == "receive":
    receive()
else:
    for number in range(rounds):
        send(number, True)
        send(number, False)
P
testbed_run 2 python3 "$testbed_dir/late.py" $connections receive >"$testbed_dir/ready" &
receiver=$!
for ((i = 0; i < 200; i++)); do
    [ ! -s "$testbed_dir/ready" ] || break
    sleep 0.05
done
testbed_run 1 python3 "$testbed_dir/late.py" $connections "$(testbed_link_address 2)" || fail "the sender"
wait $receiver || fail "what the late ones sent"
expect "packets compressed" "$(stat_of 1 .tx.rules[0].compressed)" -gt 0
