# SPDX-License-Identifier: Apache-2.0
import pathlib

import pytest

TREE = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture
def gradients():
    """Dumps of real gradients, as arrays."""
    numpy = pytest.importorskip("numpy")
    import gzip
    import io

    return [numpy.load(io.BytesIO(gzip.open(path).read())) for path in
            sorted((TREE / "tests/data/gradients").glob("*.npy.gz"))[:4]]
