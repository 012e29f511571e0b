#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `gradnic sim nic`: its report against arithmetic, its capture against `gradnic pcap`, loss and
# damage, errors. The simulator itself compares every frame and every counter with the C model.
# MODEL: behavioural or rtl.
# shellcheck disable=SC2016 # $d is jq's
# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"
: "${MODEL:=behavioural}"
captures=$SOURCE/tests/data/captures
gradients=$DATA/cnn-it100-w0.npy.gz

sim() { "$GRADNIC" sim nic -q --model "$MODEL" "$@"; }
# holds REPORT CONDITION: over the JSON, with d the direction from a to b
holds() { jq -e ".directions[0] as \$d | $2" "$1" >/dev/null || fail "$2 does not hold: $(jq -c '.directions[0] | del(.fifo_to_mac, .fifo_from_mac)' "$1")"; }

# Huge values do not compress: they are stored, in 8 bytes more. 1472 bytes of payload take 14 +
# 28 + 8 + 1472 + 24 bytes of the link's time.
"$PYTHON" -c 'import numpy; (numpy.random.default_rng(1).integers(0, 2**32, 50000, "<u4") | 0x7F000000).tofile("random.f32")'
sim --json -i random.f32 >r.json
holds r.json '$d.goodput_bit_s | . < 10e9 * 1472 / 1546 and . > 10e9 * 1472 / 1546 * 0.975'
holds r.json '$d.bottleneck == "link" and $d.link.busy > 0.99 and $d.frames.delivered == 136 and $d.ratio < 1'
holds r.json '.nics[0].transmit.rule0_stored == 136 and .nics[1].receive.restored_stored == 136 and .nics[1].transmit.packets == 0'
holds r.json '$d.delivered_payload_bytes == 200000 and $d.fifo_to_mac.max_bytes <= 65536'

# Gradients do. The bottleneck is the host's bus, 48 beats for 1472 bytes; the link carries less.
sim --json -i "$gradients" --size 256K >r.json
holds r.json '$d.goodput_bit_s | . < 25.6e9 * 1472 / 1536 and . > 25.6e9 * 1472 / 1536 * 0.92'
holds r.json '$d.bottleneck == "compressor" and $d.ratio > 8 and $d.link_ratio > 5 and $d.link.bit_s < 5e9'
holds r.json '.nics[0].transmit.rule0_values == 65536 and .nics[1].receive.restored_dense == $d.frames.given'
holds r.json '$d.latency_ns | 1500 < .min and .min <= .median and .median <= .p99 and .p99 <= .max and .max < 6000'

# A host at the rate of the link's Ethernet: no engine ever stalls it.
sim --json -i "$gradients" --size 128K --pace 10gbit >r.json
holds r.json '$d.goodput_bit_s | . < 10e9 * 1472 / 1538 and . > 10e9 * 1472 / 1538 * 0.97'
holds r.json '$d.bottleneck == "host" and $d.compressor.stalled_cycles == 0 and $d.link.busy < 0.2 and $d.behind_pace < 0.002'
# A slower clock does: the delay is the missing time.
sim --json -i "$gradients" --size 128K --pace 10gbit --clock 30mhz >r.json
holds r.json '$d.behind_pace > 0.15 and ($d.goodput_bit_s / (10e9 * 1472 / 1538) + $d.behind_pace | . > 0.9 and . < 1.01)'

# Without compression the link is the bottleneck; with a faster link the bus; with a slower NIC
# behind the link that NIC.
sim --json -i "$gradients" --size 128K -p none >r.json
holds r.json '$d.bottleneck == "link" and $d.ratio == 1 and .nics[0].transmit.pass_bypass == $d.frames.given'
sim --json -i random.f32 --rate 100gbit >r.json
holds r.json '$d.bottleneck == "compressor" and $d.goodput_bit_s < 25.6e9 and $d.goodput_bit_s > 20e9'
sim --json -i "$gradients" --clock-b 60mhz >r.json
holds r.json '$d.bottleneck == "decompressor" and $d.goodput_bit_s < 0.6 * 25.6e9 and $d.decompressor.stalled > 0.1'
# ... and if the FIFO before it is full, frames are dropped and counted.
sim --json -i random.f32 --rate 100gbit --clock-b 10mhz --fifo 16K >r.json
holds r.json '$d.frames | .dropped_fifo > 10 and .delivered + .dropped_fifo == .given'
holds r.json '.nics[1].receive.packets == $d.frames.delivered and $d.fifo_from_mac.max_bytes <= 16384'

# Lanes side by side take as many cycles a frame as bench/lanes measured of the hardware
# (docs/hardware-100g.md); the first frame and the end of the last are counted. Its model is the
# behavioural one.
lanes_take() { # LANES FILE FRAME CYCLES
    sim --json --lanes "$1" --clock 250mhz --rate 400gbit --delay 0ms --fifo 1M --host-mtu $(($3 - 14)) \
        --size $((($3 - 42) * 2000)) -i "$2" >lanes.json
    holds lanes.json '$d.frames.delivered == $d.frames.given'
    holds lanes.json "\$d.seconds * 250e6 / \$d.frames.given / $4 - 1 | . > -0.02 and . < 0.02"
}
if [ "$MODEL" = behavioural ]; then
    head -c 400000 /dev/zero >zeros.f32
    lanes_take 2 random.f32 128 3.02
    lanes_take 2 random.f32 1514 24.78
    lanes_take 4 random.f32 128 2.99
    lanes_take 4 zeros.f32 128 2.02
    lanes_take 2 zeros.f32 512 9.05
    # Two of them hold at 100 Gbit/s what one does not.
    sim --json --lanes 2 --clock 250mhz --rate 100gbit --pace 100gbit -i "$gradients" --size 1M --transport tcp \
        --duplex >r.json
    holds r.json '$d.bottleneck == "host" and $d.behind_pace < 0.002 and $d.goodput_bit_s > 90e9'
    holds r.json '.nics[1].receive.restored_dense > 700'
    sim --json --clock 250mhz --rate 100gbit --pace 100gbit -i "$gradients" --size 1M >r.json
    holds r.json '$d.behind_pace > 0.3'
fi

# Loss and damage follow the seed and are counted. A frame with both is lost.
sim --json -i "$gradients" --size 512K --loss 20% --corrupt 0.1 --seed 7 >r.json
holds r.json '$d.frames | .given == 357 and (.lost | . > 40 and . < 105) and (.corrupted | . > 12 and . < 55)'
holds r.json '$d.frames | .dropped_fcs == .corrupted and .delivered == .given - .lost - .corrupted'
holds r.json '.nics[1].receive.dropped_bad == $d.frames.dropped_fcs'
sim --json -i "$gradients" --size 512K --loss 20% --corrupt 0.1 --seed 7 >again.json
sim --json -i "$gradients" --size 512K --loss 20% --corrupt 0.1 --seed 8 >other.json
for report in r again other; do jq 'del(.environment, .setup)' $report.json >$report.txt; done
cmp r.txt again.txt || fail "the same seed gives another report"
! cmp -s r.txt other.txt || fail "another seed gives the same report"

sim --json -i "$gradients" --size 8K --loss 100% >r.json
holds r.json '$d.frames.delivered == 0 and $d.goodput_bit_s == 0 and $d.seconds > 0 and $d.latency_ns.max == null'

# Both ways at once; segments that begin within values; two rules, of which the second matches.
sim --json -i "$gradients" --size 64K --duplex --transport tcp --host-mtu 1501 >r.json
holds r.json '[.directions[].goodput_bit_s] | length == 2 and min > 15e9'
holds r.json '.nics | map(.transmit.stored_no_syn == 0 and .transmit.rule0_compressed > 40 and .transmit.pass_empty == 1) | all'
sim --json -i "$gradients" --size 32K --rule tos=0x30 --rule tos=0x28,profile=lattice,k=8 >r.json
holds r.json '.nics[0].transmit | .rule0_compressed == 23 and .rule1_compressed == 0'
sim --json -i "$captures/plain.pcap" --rule tos=0x30 --rule tos=0x28,profile=lattice,k=8 >r.json
holds r.json '.nics[0].transmit | .rule0_compressed == 0 and .rule1_compressed > 20'
holds r.json '.nics[1].receive.restored_lattice > 20'

# The same from a pipe.
sim --json -i - --rule tos=0x30 --rule tos=0x28,profile=lattice,k=8 < <(cat "$captures/plain.pcap") >piped.json
for report in r piped; do jq 'del(.environment, .setup)' $report.json >$report.txt; done
cmp r.txt piped.txt || fail "a capture from a pipe gives another report"

# The wire's capture is the output of `gradnic pcap` for the host's capture, padded to Ethernet's
# minimum. `gradnic pcap` reads it and restores the gradients.
sim -i "$captures/plain.pcap" --pcap-wire wire.pcap >table
grep -q '^bottleneck' table || fail "no table"
"$GRADNIC" pcap -q --direction tx "$captures/plain.pcap" want.pcap
sim -i "$gradients" --size 100K --pcap-wire gradients.pcap >table
"$GRADNIC" pcap --json --direction rx gradients.pcap back.pcap >rx.json
jq -e '.malformed == 0 and .foreign == 0 and .restored_dense == 70 and .payload_bytes == 102400' rx.json >/dev/null || fail "$(cat rx.json)"
"$PYTHON" - "$SOURCE" "$gradients" <<'P'
import gzip, io, pathlib, struct, sys
import numpy

def frames(path):
    data, at = pathlib.Path(path).read_bytes(), 24
    assert struct.unpack_from("<I", data)[0] == 0xA1B23C4D
    while at < len(data):
        seconds, fraction, captured, length = struct.unpack_from("<IIII", data, at)
        assert captured == length
        yield seconds * 10**9 + fraction, data[at + 16:at + 16 + captured]
        at += 16 + captured

wire, want = list(frames("wire.pcap")), list(frames("want.pcap"))
assert [f for _, f in wire] == [f.ljust(60, b"\0") for _, f in want]
for (before, frame), (after, _) in zip(wire, wire[1:]):  # one behind the other on a link of 10 Gbit/s; stamps are whole ns
    assert after - before >= (len(frame) + 24) * 8 / 10 - 1, (before, after, len(frame))
values = numpy.load(io.BytesIO(gzip.open(sys.argv[2]).read())).ravel()[:25600]
got = numpy.frombuffer(b"".join(f[42:14 + struct.unpack_from(">H", f, 16)[0]] for _, f in frames("back.pcap")), "<f4")
assert got.shape == values.shape and numpy.abs(got - values).max() <= 2.0**-10 and numpy.count_nonzero(got) > 1000
P

# With its own time stamps a capture takes as long as it took, and pauses cost nothing.
sim --json -i "$captures/plain.pcap" --pace stamps >r.json
holds r.json '$d.seconds > 2 and $d.seconds < 3 and $d.bottleneck == "host" and $d.frames.delivered == $d.frames.given'

# Errors are named, and leave no file.
expect 2 "--input FILE is needed" sim
expect 2 "unexpected argument" sim "$gradients"
expect 2 "is not a rate" sim -i x --rate fast
expect 2 "--rate: 1tbit is outside" sim -i x --rate 1tbit
expect 2 "--clock: '100' is not a frequency" sim -i x --clock 100
expect 2 "--host-mtu: 60 is outside" sim -i x --host-mtu 60
expect 2 "'gates' is neither behavioural nor rtl" sim -i x --model gates
expect 2 "3 is not 1, 2 or 4" sim -i x --lanes 3
expect 2 "the hardware there has one lane" sim -i x --model rtl --lanes 2
expect 2 "is not a probability" sim -i x --loss 2
expect 2 "--fifo: 1K is outside" sim -i x --fifo 1K
expect 2 "outside" sim -i x -p lattice -k 99
expect 2 "--rule port=9-1" sim -i x --rule port=9-1
expect 2 "more than 4 rules" sim -i x --rule k=1 --rule k=2 --rule k=3 --rule k=4 --rule k=5
expect 1 "nothing.npy: No such file" sim -i nothing.npy
expect 1 "is not a capture, so it has no time stamps" sim -i random.f32 --pace stamps
expect 1 "is a capture; --size is for gradients" sim -i "$captures/plain.pcap" --size 4K
expect 1 "frame 18 has 7306 bytes, more than --host-mtu 1500 allows" sim -i "$captures/offload.pcap" --pcap-wire x.pcap
mkfifo pipe
expect 1 "pipe: a pipe can be read only once" sim -i pipe
expect 1 "wire.pcap: exists" sim -i random.f32 --pcap-wire wire.pcap
expect 1 "wire.pcap: is the input" sim -f -i wire.pcap --pcap-wire wire.pcap
for output in --pcap-wire=wire.pcap --json=wire.pcap; do
    expect 1 "wire.pcap: is the input" sim -f -i - "$output" <wire.pcap
done
expect 1 "random.f32: is the input" sim -f -i - --json=random.f32 <random.f32
head -c 1000 "$captures/plain.pcap" >short.pcap
expect 1 "short.pcap: truncated" sim -i short.pcap --pcap-wire x.pcap
: >empty.f32
expect 1 "empty.f32: no values" sim -i empty.f32
[ ! -e x.pcap ] || fail "a file is left behind"

# The program without the simulator says what is missing, and still checks its options.
mkdir alone && cp "$GRADNIC" alone/gradnic
expect 1 "libsystemc-dev" alone/gradnic sim nic -i random.f32
expect 1 "gradnic-sim-nic-512" alone/gradnic sim nic -i random.f32 --lanes 2
expect 2 "is not a rate" alone/gradnic sim nic -i x --rate fast
