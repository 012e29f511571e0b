# SPDX-License-Identifier: Apache-2.0
import pathlib

import pytest


def pytest_configure(config):
    config.addinivalue_line("markers", "long: takes long, and runs in `scripts/python --long` only")


TREE = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture
def gradients():
    """Dumps of real gradients, as arrays."""
    numpy = pytest.importorskip("numpy")
    import gzip
    import io

    return [numpy.load(io.BytesIO(gzip.open(path).read())) for path in
            sorted((TREE / "tests/data/gradients").glob("*.npy.gz"))[:4]]
