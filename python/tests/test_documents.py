# SPDX-License-Identifier: Apache-2.0
"""The programs in docs/python.md and python/README.md run as they stand there."""

import os
import re
import socket
import subprocess
import sys

import pytest
from conftest import TREE

pytest.importorskip("numpy")


def blocks(page):
    return re.findall(r"```python\n(.*?)```", (TREE / page).read_text(), re.S)


def run_as_ranks(code, size, folder):
    """Runs a program as torchrun's ranks would be started."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (folder / "program.py").write_text(code)
    ranks = [subprocess.Popen([sys.executable, "program.py"], cwd=folder, text=True, stdout=subprocess.PIPE,
                              env={**os.environ, "RANK": str(r), "WORLD_SIZE": str(size), "MASTER_ADDR": "127.0.0.1",
                                   "MASTER_PORT": str(port)}) for r in range(size)]
    printed = [rank.communicate(timeout=60)[0] for rank in ranks]
    assert [rank.returncode for rank in ranks] == [0] * size
    return printed


def test_the_page(tmp_path):
    alone, together = blocks("docs/python.md")
    subprocess.run([sys.executable, "-c", alone], check=True)
    assert [text.split()[:2] for text in run_as_ranks(together, 3, tmp_path)] == [[str(r), "1.0"] for r in range(3)]


def test_the_readme_of_the_package(tmp_path):
    (code,) = blocks("python/README.md")
    run_as_ranks("import numpy; gradient = numpy.ones(8, numpy.float32)\n" + code, 2, tmp_path)


def test_everything_public_has_a_description():
    """The API reference is made of descriptions (scripts/python)."""
    import inspect

    import gradnic

    modules = [gradnic]
    try:
        import gradnic.hooks
        import gradnic.torch

        modules += [gradnic.hooks, gradnic.torch]
    except ImportError:
        pass  # no PyTorch
    for module in modules:
        for name in getattr(module, "__all__", None) or [n for n in vars(module) if getattr(
                vars(module)[n], "__module__", "") == module.__name__ and not n.startswith("_")]:
            value = getattr(module, name)
            assert inspect.getdoc(value), f"{module.__name__}.{name}"
            for member, what in vars(value).items() if inspect.isclass(value) else ():
                if not member.startswith("_") and (inspect.isfunction(what) or isinstance(what, property)):
                    assert inspect.getdoc(what), f"{module.__name__}.{name}.{member}"
