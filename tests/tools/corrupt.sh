#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Corrupt .gn files: every byte of the header is flipped, and a byte in every part of every block.
# Files are truncated at many places, and made longer. Each is refused with status 1. The error
# names the byte, and the block if there is one. No output appears.
# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"

"$PYTHON" -c '
import numpy as np
rng = np.random.default_rng(5)
(rng.standard_normal(600000) * 0.01).astype("<f4").tofile("a.f32")'
for profile in dense lattice; do
    "$GRADNIC" compress -q -f -p $profile a.f32
    "$PYTHON" - <<'PY'
import os, random, re, struct, subprocess
good = open("a.f32.gn", "rb").read()
random.seed(6)
blocks, at = [], 40
while at < len(good):
    length = struct.unpack_from("<I", good, at)[0]
    blocks.append((at, length))
    at += 8 + length
assert len(blocks) == 3 and at == len(good)

def refuse(data, what, block=None):
    open("bad.gn", "wb").write(data)
    p = subprocess.run([os.environ["GRADNIC"], "decompress", "-o", "out.f32", "bad.gn"], capture_output=True, text=True)
    assert p.returncode == 1, (what, p.returncode, p.stderr)
    pattern = r"^gradnic decompress: bad\.gn: (block (\d+), )?byte (\d+): .+\n$"
    m = re.match(pattern, p.stderr)
    assert m, (what, p.stderr)
    if block is not None:
        assert m[2] == str(block), (what, p.stderr)
        begin, length = blocks[block]
        assert begin <= int(m[3]) <= begin + 8 + length, (what, p.stderr)
    assert not os.path.exists("out.f32"), what
    assert not [f for f in os.listdir(".") if f.startswith(".gradnic")], what

def flipped(i):
    data = bytearray(good)
    data[i] ^= 1 << random.randrange(8)
    return bytes(data)

for i in range(40):
    refuse(flipped(i), f"header byte {i}")
for n, (begin, length) in enumerate(blocks):
    for i in list(range(begin + 4, begin + 8)) + [begin + 8, begin + 8 + length // 2, begin + 8 + length - 1] + random.sample(range(begin + 8, begin + 8 + length), 5):
        refuse(flipped(i), f"byte {i}", n)
    for i in range(begin, begin + 4):  # a wrong length is found in this block
        refuse(flipped(i), f"length byte {i}", n)
    for cut in (begin, begin + 3, begin + 8, begin + 8 + length // 3, begin + 7 + length):
        refuse(good[:cut], f"cut at {cut}", n)
for cut in (0, 7, 8, 39):
    refuse(good[:cut], f"cut at {cut}")
refuse(good + b"\0", "one byte more")
refuse(good + good, "twice")
PY
done
expect 1 "ratio: bad.gn: byte" "$GRADNIC" ratio --against none bad.gn

# dense: streams that no encoder makes, in containers with right checksums. The codec finds and
# names the fault.
"$PYTHON" - <<'PY'
import os, struct, subprocess, zlib
def container(stream, count):
    head = struct.pack("<8sBbHIQQ", b"GRADNIC1", 2, 10, 0, 262144, count, 1)
    return head + struct.pack("<II", zlib.crc32(head), 0) + struct.pack("<II", len(stream), zlib.crc32(stream)) + stream

def run(stream, count):
    open("bad.gn", "wb").write(container(bytes.fromhex(stream), count))
    return subprocess.run([os.environ["GRADNIC"], "decompress", "-q", "--to", "f32", "-o", "-", "bad.gn"], capture_output=True)

for stream, count, offset in (
    ("000001", 32, 0),             # a run of two quads where there is one
    ("0a000080 000000", 40, None), # good: a quad, then zeros
    ("0a000080 000001", 40, 3 + 1),
    ("0a000080", 40, 4),           # a quad is missing
    ("0a0000", 8, 0),              # and half of one
    ("0a000080", 7, 0),            # lane 7 stands for no value
    ("a0000080", 8, 0),            # nor does group 1
    ("0a000080 00", 8, 4),         # one byte more
    ("0f00" + 32 * "00" + "80", 7, 0),  # a raw lane that stands for no value
    ("0100 00", 8, None),          # good: a class that is larger than it need be
):
    p = run(stream, count)
    if offset is None:
        assert p.returncode == 0 and len(p.stdout) == 4 * count, (stream, p.stderr)
    else:
        assert p.returncode == 1 and f"bad.gn: block 0, byte {48 + offset}: ".encode() in p.stderr, (stream, p.stderr)
PY
