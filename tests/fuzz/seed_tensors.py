#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the seeds of fuzz_tensors and fuzz_pickle.

The files of tests/data/tensors, small archives, and damaged ones.

usage: seed_tensors.py FOLDER (with the folders tensors and pickle)
"""
import io
import json
import pathlib
import struct
import sys
import zipfile

import numpy as np

DATA = pathlib.Path(__file__).parent.parent / "data" / "tensors"
folder = pathlib.Path(sys.argv[1])
NPZ, PT, SAFETENSORS = range(3)


def seed(kind, name, data):
    path = folder / "tensors" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(bytes([kind]) + data)


def npz(save, **arrays):
    out = io.BytesIO()
    save(out, **arrays)
    return out.getvalue()


def safetensors(header, data, length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


small = {"w": np.arange(6, dtype="<f4").reshape(2, 3), "h": np.arange(3).astype(">f2"), "i": np.int64(3)}
for name, save in (("stored", np.savez), ("packed", np.savez_compressed)):
    data = npz(save, **small)
    seed(NPZ, f"npz-{name}", data)
    seed(NPZ, f"npz-{name}-cut", data[:-30])
    seed(NPZ, f"npz-{name}-crc", data.replace(b"\x00\x00\x80\x3f", b"\x00\x00\x80\x3e"))
f4 = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}
seed(SAFETENSORS, "safetensors", (DATA / "model.safetensors").read_bytes())
seed(SAFETENSORS, "safetensors-one", safetensors({"a": f4, "__metadata__": {"x": "y"}}, bytes(8)))
seed(SAFETENSORS, "safetensors-overlap", safetensors({"a": f4, "b": f4}, bytes(8)))
seed(SAFETENSORS, "safetensors-gap", safetensors({"a": dict(f4, data_offsets=[4, 12])}, bytes(12)))
seed(SAFETENSORS, "safetensors-beyond", safetensors({"a": f4}, bytes(7)))
seed(SAFETENSORS, "safetensors-long", safetensors(b"{}", b"", 1 << 62))
seed(SAFETENSORS, "safetensors-twice", safetensors(b'{"a":1,"a":2}', b""))
(folder / "pickle").mkdir(parents=True, exist_ok=True)
for path in sorted(DATA.glob("*.pt")):
    if not zipfile.is_zipfile(path):
        continue
    seed(PT, path.stem, path.read_bytes())
    archive = zipfile.ZipFile(path)
    (pickle,) = [n for n in archive.namelist() if n.endswith("/data.pkl")]
    (folder / "pickle" / path.stem).write_bytes(archive.read(pickle))
(folder / "pickle" / "system").write_bytes(b"\x80\x02cposix\nsystem\nX\x04\x00\x00\x00true\x85R.")
(folder / "pickle" / "laughs").write_bytes(
    b"\x80\x02]q\x00" + b"".join(b"](" + b"h%c" % i * 10 + b"eq%c" % (i + 1) for i in range(20)) + b"\x87."
)
(folder / "pickle" / "itself").write_bytes(b"\x80\x02]q\x00h\x00h\x00\x86h\x00a.")
