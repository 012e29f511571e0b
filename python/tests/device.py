# SPDX-License-Identifier: Apache-2.0
"""Where tests of a GPU's kernels run: on one, or without one in Triton's interpreter.

Import it ahead of everything that imports Triton.
"""

import os

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: scripts/setup --torch")
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
if DEVICE == "cpu":
    os.environ["TRITON_INTERPRET"] = "1"
pytest.importorskip("triton", reason="Triton is not installed: PyTorch's builds for CUDA bring it along")
