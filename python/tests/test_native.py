# SPDX-License-Identifier: Apache-2.0
"""Declarations of the package are those of the headers. A library that differs is refused."""

import ctypes
import re
import subprocess
import sys

import pytest
from conftest import TREE

from gradnic import _native as native

HEADERS = {path.stem: path.read_text() for folder in ("cmodel", "ring")
           for path in (TREE / folder / "include/gradnic").glob("*.h")}


def fields_in(name):
    text = next(t for t in HEADERS.values() if f"}} {name};" in t)
    body = re.search(r"typedef struct %s \{(.*?)\n\} %s;" % (name, name), text, re.S).group(1)
    body = re.sub(r"//.*", "", body)
    body = re.sub(r"union \{(.*?)\};", r"\1", body, flags=re.S)
    found = []
    for declaration in filter(None, map(str.strip, body.split(";"))):
        function = re.match(r".*\(\*(\w+)\)\(", declaration)
        found += [function.group(1)] if function else re.findall(r"(\w+)(?:\[\d+\])?\s*(?=,|$)", declaration)
    return found


@pytest.mark.parametrize("name", native.STRUCTURES)
def test_fields_are_those_of_the_header(name):
    assert list(native.fields_of(native.STRUCTURES[name])) == fields_in(name)
    told = [field for structure, field, _, _ in native.library_rows() if structure == name]
    assert told == ["", *fields_in(name)]


@pytest.mark.parametrize("prefix, numbers", [
    ("GN_", {"OK": native.OK, "INVALID": native.INVALID, "NO_SPACE": native.NO_SPACE, "NO_MEMORY": native.NO_MEMORY,
             "CORRUPT": native.CORRUPT, "TRUNCATED": native.TRUNCATED, "UNSUPPORTED": native.UNSUPPORTED,
             "IO": native.IO, "TIMEOUT": native.TIMEOUT, "PEER_LOST": native.PEER_LOST, "MISMATCH": native.MISMATCH,
             "ABORTED": native.ABORTED, "DEAD": native.DEAD}),
    ("GN_SCALE_", {name.upper(): number for name, number in native.SCALES.items()}),
    ("GN_LOG_", {"ERROR": native.LOG_ERROR, "WARNING": native.LOG_WARNING, "INFO": native.LOG_INFO,
                 "DEBUG": native.LOG_DEBUG}),
    ("GN_", {name.upper(): number for name, number in native.DTYPES.items()}),
])
def test_numbers_are_those_of_the_header(prefix, numbers):
    for body in [b for t in HEADERS.values() for b in re.findall(r"typedef enum \w+ \{(.*?)\n\}", t, re.S)]:
        names = re.findall(r"^\s*(GN_\w+)", re.sub(r"//.*", "", body), re.M)
        if names[0] == prefix + min(numbers, key=numbers.get):
            assert {n[len(prefix):]: i for i, n in enumerate(names) if i < len(numbers)} == numbers
            return
    raise AssertionError("no such enumeration in the headers")


def test_constants_are_those_of_the_header():
    given = dict(re.findall(r"enum \{ (GN_\w+) = (-?\d+) \};", "".join(HEADERS.values())))
    assert int(given["GN_SCALE_UNSEEN"]) == native.SCALE_UNSEEN


def test_another_layout_is_refused_by_name():
    class Codec(ctypes.Structure):
        _fields_ = [("profile", ctypes.c_int), ("kernel", ctypes.c_void_p), ("bound_exp", ctypes.c_int)]

    with pytest.raises(native.LibraryMismatch, match=r"gn_codec.* in the Python package.* in the library in .*lib"):
        native.check_layout(native.library_rows(), {"gn_codec": Codec})
    rows = [r for r in native.library_rows() if r[1] != "bound_exp"]
    with pytest.raises(native.LibraryMismatch, match=r"gn_codec\.bound_exp is at 4 with 4 bytes .* missing"):
        native.check_layout(rows, {"gn_codec": native.Codec})
    rows = native.library_rows() + [("gn_codec", "level", 16, 4)]
    with pytest.raises(native.LibraryMismatch, match=r"gn_codec\.level is missing in the Python package"):
        native.check_layout(rows, {"gn_codec": native.Codec})
    with pytest.raises(native.LibraryMismatch, match="does not describe gn_other"):
        native.check_layout(native.library_rows(), {"gn_other": native.Codec})


def test_a_library_of_another_version_is_refused_at_import(tmp_path):
    """A package with a field that its library does not have."""
    import pathlib
    import shutil

    import gradnic

    folder = tmp_path / "gradnic"
    carried = pathlib.Path(gradnic.__path__[0] + ".libs")  # of others; auditwheel puts them there
    if carried.exists():
        (tmp_path / carried.name).symlink_to(carried)
    shutil.copytree(gradnic.__path__[0], folder, ignore=shutil.ignore_patterns("__pycache__", "bin"))
    text = (folder / "_native.py").read_text()
    (folder / "_native.py").write_text(text.replace('("layers", U16)]', '("layers", U16), ("colour", U16)]'))
    done = subprocess.run([sys.executable, "-c", "import gradnic"], env={"PYTHONPATH": str(tmp_path)},
                          capture_output=True, text=True)
    assert done.returncode and "gn_call" in done.stderr and "install gradnic again" in done.stderr, done.stderr
    (folder / "lib/libgradnic-comm.so.0").unlink()
    done = subprocess.run([sys.executable, "-c", "import gradnic"], env={"PYTHONPATH": str(tmp_path)},
                          capture_output=True, text=True)
    assert done.returncode and "pip install --force-reinstall" in done.stderr, done.stderr
