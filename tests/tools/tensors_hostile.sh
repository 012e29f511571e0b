#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Damaged and hostile archives, headers and pickles: each is refused with status 1 and a reason, and
# nothing is written. Bombs unpack as a stream, or are refused (memory.sh measures memory).
# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"

"$PYTHON" - <<'PY'
import io, json, os, random, re, struct, subprocess, zipfile, zlib
import numpy as np

GRADNIC = os.environ["GRADNIC"]
random.seed(4)
faults = []

def refuse(name, data, text, status=1):
    open(name, "wb").write(data)
    for command in (
        ["compress", "-o", "out.gn", name],
        ["ratio", "-q", "--against", "none", "-p", "dense", name],
        ["ratio", "--list", name],
    ):
        p = subprocess.run([GRADNIC] + command, capture_output=True, text=True, timeout=60)
        listed = command[1] == "--list" and p.returncode == 0  # some faults are found where values are read
        good = listed or (p.returncode == status and re.search(text, p.stderr))
        if not good or not all(32 <= ord(c) < 127 or c == "\n" for c in p.stderr + p.stdout):
            faults.append((name, command[0], text, p.returncode, p.stderr))
        assert not os.path.exists("out.gn") and not [f for f in os.listdir(".") if f.startswith(".gradnic")], name

def archive(members, method=zipfile.ZIP_STORED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as z:
        for name, data in members:
            z.writestr(name, data)
    return out.getvalue()

def npy(array):
    out = io.BytesIO()
    np.lib.format.write_array(out, np.asarray(array), allow_pickle=True)
    return out.getvalue()

a = npy(np.arange(1000, dtype="<f4") / 512)
for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
    good = archive([("a.npy", a), ("b.npy", a)], method)
    for cut in [0, 3, 4, 100, len(good) // 2, len(good) - 23, len(good) - 22, len(good) - 10]:
        refuse("cut.npz", good[:cut], r"cut\.npz: (not a zip archive|the file is empty|the zip's directory is damaged|member)")
    bad = bytearray(good)
    bad[200] ^= 0x10
    refuse(
        "flipped.npz",
        bytes(bad),
        r"flipped\.npz: member 'a\.npy': (its CRC-32 is wrong|its packed bytes are damaged|it ends too early)",
    )

# What members may be
refuse(
    "twice.npz",
    archive([("a.npy", a)])[:0] + archive([("a.npy", a), ("b.npy", a)]).replace(b"b.npy", b"a.npy"),
    "another member has this name",
)
refuse("lzma.npz", archive([("a.npy", a)], zipfile.ZIP_LZMA), "packed with method 14; only stored and deflated")
refuse("text.npz", archive([("readme.txt", b"hello")]), "holds no tensors")
refuse("escape.npz", archive([("\x1b[31mred\x07.npy", b"\x93NUMPY\1\0")]), r"\\x1b\[31mred\\x07")
refuse("long.npz", archive([("x" * 2000 + ".npy", a)]), "name has more than 1100 bytes")
encrypted = bytearray(archive([("a.npy", a)]))
encrypted[6] |= 1
encrypted[encrypted.index(b"PK\1\2") + 8] |= 1
refuse("locked.npz", bytes(encrypted), "it is encrypted")
refuse("short.npz", archive([("a.npy", a[:-4])]), "ends after 999 of 1000 values")
refuse("extra.npz", archive([("a.npy", a + b"\0")]), "the file goes on after its 1000 values")
refuse("object.npz", archive([("o.npy", npy(np.array([{}], dtype=object)))]), r"'o' holds object; only float16, bfloat16, float32 and float64 are read")
refuse("nul.npz", archive([("aXnpy", a)]).replace(b"aXnpy", b"a\0npy"), "zero byte")

# Members that share bytes: two entries of the directory for one member
one = archive([("a.npy", a)])
at = one.index(b"PK\1\2")
entry, end = one[at:-22], bytearray(one[-22:])
header = bytearray(one[:at])
second = bytearray(entry.replace(b"a.npy", b"b.npy"))
struct.pack_into("<HHI", end, 8, 2, 2, 2 * len(entry))
shared = bytes(header) + entry + bytes(second) + bytes(end)
refuse("shared.npz", shared, "two members share these bytes|header is damaged")

# Sizes that are not true
claims = bytearray(one)
struct.pack_into("<I", claims, at + 24, 1 << 31)  # unpacked size in the directory alone
refuse("claims.npz", bytes(claims), "header is damaged|ends too early|damaged")
huge = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1073741824, 1073741824), }"
refuse(
    "huge.npz",
    archive([("a.npy", b"\x93NUMPY\1\0" + struct.pack("<H", len(huge)) + huge)]),
    "ends after 0 of 1152921504606846976 values|needs",
)

# safetensors
def safetensors(header, data=b"", length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data
def one_of(**changes):
    return {"a": dict({"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}, **changes)}
f = "x.safetensors"
refuse(f, b"1234567", "ends within its first 8 bytes")
refuse(f, safetensors(one_of(), bytes(8), 1 << 63), "byte 0: a header of 9223372036854775808 bytes")
refuse(f, safetensors(one_of(), bytes(8), 1000), "a header of 1000 bytes; the file has")
refuse(f, safetensors(b"{"), "the header is not JSON")
refuse(f, safetensors(b"[" * 100000), "the header is not JSON")
refuse(f, safetensors(b"[]"), "the header is not a JSON object")
refuse(f, safetensors(b'{"a":{},"a":{}}'), "the header is not JSON: duplicate")
refuse(f, safetensors(b"{}"), "holds no tensors")
refuse(f, safetensors({"a": 3}), "tensor 'a': has no dtype")
refuse(f, safetensors(one_of(shape=[-2]), bytes(8)), "has no shape")
refuse(f, safetensors(one_of(shape=[1] * 65), bytes(8)), "has no shape of at most 64 dimensions")
refuse(f, safetensors(one_of(shape=[1 << 31, 1 << 31]), bytes(8)), "shape is impossibly large")
refuse(f, safetensors(one_of(shape=[3]), bytes(8)), "its bytes are not as many as its shape needs")
refuse(f, safetensors(one_of(data_offsets=[0]), bytes(8)), "has no data_offsets")
refuse(f, safetensors(one_of(data_offsets=[8, 0]), bytes(8)), "bytes 8 to 0 are not within the file's 8")
refuse(f, safetensors(one_of(), bytes(7)), "bytes 0 to 8 are not within the file's 7")
refuse(f, safetensors(one_of(), bytes(9)), "the file goes on after its last tensor")
refuse(f, safetensors(one_of(more=1), bytes(8)), "has other members than")
refuse(f, safetensors(one_of(data_offsets=[4, 12]), bytes(12)), "bytes before it belong to no tensor")
refuse(f, safetensors(dict(one_of(), b=one_of()["a"]), bytes(8)), "shares bytes with another tensor")
refuse(f, safetensors({"\x1b[1m": one_of(dtype="I8")["a"]}, bytes(8)), r"\\x1b\[1m")

# Pickles. None of them is run: "touch run" would leave a file.
def pt(pickle, storages=(("0", bytes(64)),), order=b"little"):
    return archive([("m/data.pkl", pickle), ("m/byteorder", order)] + [("m/data/" + k, v) for k, v in storages])
def text(s):
    return b"X" + struct.pack("<I", len(s)) + s.encode()
def storage(kind="FloatStorage", key="0", count=16):
    name = text("storage") + f"ctorch\n{kind}\n".encode() + text(key) + text("cpu")
    return b"(" + name + b"J" + struct.pack("<i", count) + b"tQ"
def integers(*numbers):
    return b"(" + b"".join(b"J" + struct.pack("<i", n) for n in numbers) + b"t"
def tensor(shape=(4,), stride=(1,), offset=0, metadata=b"", **of):
    place = b"J" + struct.pack("<i", offset) + integers(*shape) + integers(*stride)
    return b"ctorch._utils\n_rebuild_tensor_v2\n(" + storage(**of) + place + b"\x89}" + metadata + b"tR"
def state(**tensors):
    return b"\x80\x02}(" + b"".join(text(n) + t for n, t in tensors.items()) + b"u."
f = "x.pt"
for call in (
    "posix\nsystem", "os\nsystem", "builtins\neval", "torch\nload", "torch._utils\n_rebuild_tensor",
    "collections\nOrderedDict2",
):
    refuse(
        f,
        pt(b"\x80\x02c" + call.encode() + b"\n" + text("touch run") + b"\x85R."),
        "asks for '" + re.escape(call.replace("\n", ".")) + "'; gradnic runs no code",
    )
refuse(
    f, pt(b"\x80\x04" + b"\x8c\x05posix\x8c\x06system\x93" + text("touch run") + b"\x85R."), "asks for 'posix.system'"
)
refuse(f, pt(b"cposix\n\x1b[2J\n."), r"asks for 'posix\.\\x1b\[2J'")
for opcode in b"iopPFILVSTUgdl0" + bytes([0x81, 0x82, 0x90, 0x92, 0x96, 0xff]):  # INST, OBJ, PUT, NEWOBJ, EXT1, ...
    refuse(
        f,
        pt(b"\x80\x02" + bytes([opcode]) + b"posix\nsystem\n."),
        f"instruction 0x{opcode:02x} is none that saves tensors",
    )
assert not os.path.exists("run")
for pickle, reason in (
    (b"", "ends too early"),
    (b"\x80\x02", "ends too early"),
    (b"\x80\x01N.", "protocol is not 2 to 5"),
    (b".", "does not end with one object"),
    (b"NN.", "does not end with one object"),
    (b"(.", "does not end with one object"),
    (b"t.", "there is no mark"),
    (b"}Nh\x01s.", "nothing has this number"),
    (b"j\xff\xff\xff\xff.", "nothing has this number"),
    (b"]r\xff\xff\xff\xff.", "too many objects"),
    (b"X\xff\xff\xff\xff.", "ends too early"),
    (b"R.", "not of the kind"),
    (b")R.", "not of the kind"),
    (b"}NNb.", "not of the kind"),
    (b"]Ns.", "not of the kind"),
    (b"}(Nu.", "a key has no value"),
    (b"](a.", "a mark is where"),
    (b"(\x85.", "a mark is where"),
    (b"\x8a\x09123456789.", "more than 64 bits"),
    (b"q\x00.", "the stack is empty"),
    (b"NQ.", "not a storage of torch"),
    (b"ctorch\nFloatStorage\n)R.", "called as a function"),
    (b"ccollections\nOrderedDict\nN\x85R.", "OrderedDict has arguments"),
    (b"ctorch._utils\n_rebuild_tensor_v2\n)R.", "not made of a storage"),
    (b"ctorch._utils\n_rebuild_parameter\n)R.", "not made of a tensor"),
    (b"cnoend", "ends too early"),
):
    refuse(f, pt(pickle), reason)
good = state(w=tensor())
open("good.pt", "wb").write(pt(good))
assert subprocess.run([GRADNIC, "ratio", "-q", "--list", "good.pt"]).returncode == 0
# Damage of a storage, wherever it is, and however little of the storage the tensors take.
sound = (np.arange(1000, dtype="<f4") / 512).tobytes()
parts = (dict(), dict(offset=500), dict(offset=996), dict(shape=(0,)), dict(shape=(1000,)))
views = [state(w=tensor(count=1000, **part)) for part in parts]
views.append(state(**{"v%d" % i: tensor(count=1000, offset=4 * i) for i in range(100)}))
for view in views:
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        members = [("m/data.pkl", view), ("m/byteorder", b"little"), ("m/data/0", sound)]
        whole = archive(members, method)
        open("view.pt", "wb").write(whole)
        assert subprocess.run([GRADNIC, "ratio", "-q", "--against", "none", "view.pt"], stdout=subprocess.DEVNULL).returncode == 0
        entry = whole.rindex(b"PK\1\2")
        begin = struct.unpack_from("<I", whole, entry + 42)[0] + 30 + len("m/data/0")
        packed = struct.unpack_from("<I", whole, entry + 20)[0]
        for at in (8, packed // 2, packed - 2):
            bad = bytearray(whole)
            bad[begin + at] ^= 0x02
            refuse(f, bytes(bad), r"m/data/0': (its CRC-32 is wrong|its packed bytes are damaged|it ends too early)")
for cut in range(len(good) - 1):
    refuse(f, pt(good[:cut]), "of the pickle") if cut % 7 == 0 else None
negated = b"}(" + text("neg") + b"\x88u"  # as torch saves a view with torch's bit "neg"
refuse(f, pt(state(w=tensor(metadata=negated))), "tensor 'w': its sign is in a note beside its values")
for metadata in (b"}", b"N"):
    open("plain.pt", "wb").write(pt(state(w=tensor(metadata=metadata), i=tensor(metadata=negated, kind="LongStorage"))))
    assert subprocess.run([GRADNIC, "ratio", "-q", "--list", "plain.pt"], stdout=subprocess.DEVNULL).returncode == 0
refuse(f, pt(state(w=tensor(offset=13))), "it reaches beyond its storage")
refuse(f, pt(state(w=tensor(offset=-1))), "it reaches beyond its storage")
refuse(f, pt(state(w=tensor(count=-1))), "it reaches beyond its storage")
refuse(f, pt(state(w=tensor(count=1 << 30, shape=(1 << 20,)))), "reaches beyond its storage '0'")
refuse(f, pt(state(w=tensor(key="7"))), "the archive has no storage '7'")
refuse(f, pt(state(w=tensor(key="../../x"))), "the archive has no storage")
refuse(f, pt(state(w=tensor(key="k" * 64))), "its storage has an impossible key")
refuse(f, pt(state(w=tensor(shape=(-4,)))), "its size or its strides are impossible")
refuse(f, pt(state(w=tensor(shape=(2, 2)))), "its size or its strides are impossible")
refuse(f, pt(state(w=tensor(shape=(1 << 30,) * 3, stride=(1,) * 3))), "its shape is impossibly large")
refuse(f, pt(state(w=tensor(shape=(2, 3), stride=(4, 1)))), "do not lie one behind the other")
refuse(f, pt(state(w=tensor(shape=(4,), stride=(0,)))), "do not lie one behind the other")
refuse(f, pt(b"\x80\x02}(" + text("a") + tensor() + text("a") + tensor() + b"u."), "two tensors have the name 'a'")
refuse(f, pt(b"\x80\x02}(" + text("a\0b") + tensor() + b"u."), "holds a zero byte")
refuse(f, pt(b"\x80\x02}(" + text("n" * 2000) + tensor() + b"u."), "path to it is too long")
refuse(f, pt(good, order=b"middle"), "byte order is neither little nor big")
refuse(f, pt(b"\x80\x02" + b"]" * 40 + b"a" * 39 + b"."), "too deep")
refuse(f, pt(b"\x80\x02]q\x00h\x00a."), "too deep")  # a list within itself
laughs = b"\x80\x02]q\x00" + b"".join(
    b"](" + b"h" + bytes([i]) + (b"h" + bytes([i])) * 9 + b"eq" + bytes([i + 1]) for i in range(20)
)
refuse(f, pt(laughs + (b"\x86" * 20) + b"."), "too many objects|too deep|not end with one object|kind|empty")
refuse(f, pt(b"\x80\x02" + b"N" * (3 << 20) + b"."), "too many objects")
refuse(f, archive([("a/data.pkl", good), ("b/data.pkl", good)]), "2 members FOLDER/data.pkl, not one")

# Good ones of unusual kinds: big-endian storages, and so many members that it is zip64
def largest(name):
    p = subprocess.run(
        [GRADNIC, "ratio", "-q", "--json", "--against", "none", "-p", "dense", name], capture_output=True, check=True
    )
    return json.loads(p.stdout)["files"][0]["largest"]
open("big.pt", "wb").write(pt(good, (("0", (np.arange(16) / 512).astype(">f4").tobytes()),), b"big"))
assert largest("big.pt") == 3 / 512
open("many.npz", "wb").write(archive([("%d" % i, b"") for i in range(65600)] + [("a.npy", a)]))
assert largest("many.npz") == 999 / 512

# Members beyond 4 GiB have their sizes and their place in an extra field, as these small ones do.
def zip64(data, deflated=False, field=None, place=None, packed=None, crc=None, bytes=None):
    whole = zlib.compress(data, 9)[2:-4] if deflated else data
    first, method = archive([("a.npy", a)]), 8 if deflated else 0
    own = first[: first.index(b"PK\1\2")]  # the member, without the directory
    entry = first[len(own) : first.index(b"PK\5\6")]
    sizes = struct.pack("<QQ", len(data) if bytes is None else bytes, len(whole) if packed is None else packed)
    known = struct.pack("<HHHII", method, 0, 0, zlib.crc32(data) if crc is None else crc, 0xFFFFFFFF) + b"\xff" * 4
    field = sizes + struct.pack("<Q", len(own) if place is None else place) if field is None else field
    extra = struct.pack("<HHHH", 7, 0, 1, len(field)) + field  # behind one of another kind
    local = b"PK\3\4" + struct.pack("<HH", 45, 0) + known + struct.pack("<HH", 5, 20) + b"w.npy"
    local += struct.pack("<HH", 1, 16) + sizes + whole
    entry += b"PK\1\2" + struct.pack("<HHH", 45, 45, 0) + known + struct.pack("<HHHHHI", 5, len(extra), 0, 0, 0, 0)
    entry += b"\xff" * 4 + b"w.npy" + extra
    end = b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, 2, 2, len(entry), len(own) + len(local), 0)
    return own + local + entry + end
w = npy(np.arange(5000, dtype="<f4") / 512)
for deflated in (False, True):
    wide = zip64(w, deflated)
    assert zipfile.ZipFile(io.BytesIO(wide)).read("w.npy") == w  # Python's reader agrees
    open("wide.npz", "wb").write(wide)
    assert largest("wide.npz") == 4999 / 512
    refuse("crc.npz", zip64(w, deflated, crc=7), r"member 'w\.npy': its CRC-32 is wrong")
    refuse("short.npz", zip64(w, deflated, packed=50), r"member 'w\.npy': it ends too early")
    refuse("share.npz", zip64(w, deflated, place=0), "two members share these bytes")
    for wrong in (dict(field=bytes(8)), dict(field=b""), dict(place=2**63), dict(place=2**64 - 1), dict(place=9)):
        refuse("place.npz", zip64(w, deflated, **wrong), r"member 'w\.npy': its header is damaged")
    refuse("claims.npz", zip64(w, deflated, packed=2**64 - 9), r"member 'w\.npy': its size is impossible")
    too_long = r"member 'w\.npy': (it ends too early|its CRC-32 is wrong|.* values)"
    refuse("long.npz", zip64(w, deflated, bytes=2**40), too_long)
bad = bytearray(zip64(w, True))
bad[bad.index(b"w.npy") + 25 : bad.index(b"w.npy") + 45] = b"\xff" * 20
refuse("packed.npz", bytes(bad), r"member 'w\.npy': its packed bytes are damaged")

# Random damage: never a crash, and where it is accepted the values are still as many as the shapes
# say.
files = {
    "r.npz": archive(
        [("a.npy", a[:400] and npy(np.arange(50, dtype="<f4"))), ("b.npy", npy(np.arange(6, dtype="<f2")))],
        zipfile.ZIP_DEFLATED,
    ),
    "r.pt": pt(good),
    "r.safetensors": safetensors(one_of(), bytes(8)),
}
for name, data in files.items():
    for _ in range(60):
        bad = bytearray(data)
        for _ in range(random.randrange(1, 4)):
            bad[random.randrange(len(bad))] = random.randrange(256)
        open(name, "wb").write(bad)
        p = subprocess.run(
            [GRADNIC, "ratio", "-q", "--against", "none", "-p", "dense", name], capture_output=True, timeout=60
        )
        assert p.returncode in (0, 1), (name, p.returncode, p.stderr)
for fault in faults:
    print(*fault)
assert not faults
PY
