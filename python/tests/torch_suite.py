# SPDX-License-Identifier: Apache-2.0
"""PyTorch's own tests of torch.distributed, which its wheel carries, with the backend "gradnic".

    torch_suite.py                      all tests that PyTorch has for Gloo on a CPU: 4 ranks, and
                                        8 for those that want more
    torch_suite.py test_reduce_sum ...  these
    torch_suite.py --backend gloo       the same with Gloo itself, to compare

The tests are chosen as for Gloo: what a test skips or asks for, it skips or asks for as there. Only
the group that it makes is gradnic's. Ranks are forked from a process that has imported PyTorch.
"""

import argparse
import os
import sys
import time
import unittest

EXCEPTIONS = {}
"""Tests that fail, and why."""

os.environ["BACKEND"] = "gloo"  # when the module is imported, which is when tests choose themselves
os.environ.setdefault("WORLD_SIZE", "4")
os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch  # noqa: E402
from torch.testing._internal import common_distributed  # noqa: E402
from torch.testing._internal.distributed import distributed_test  # noqa: E402



class Backend(str):
    """A name that is "gloo" wherever a test chooses by it, and its own elsewhere."""

    __hash__ = str.__hash__

    def __eq__(self, other):
        return str.__eq__(self, other) or other == "gloo"

    def __ne__(self, other):
        return not self == other


distributed_test.BACKEND = Backend(os.environ.get("SUITE_BACKEND", "gradnic"))  # and now, when they run
common_distributed.TIMEOUT_DEFAULT = 120


def _rank(environment, function, *arguments, **named):
    os.environ.update(environment)  # each test has folders of its own
    function(*arguments, **named)


class TestSuite(distributed_test.TestDistBackend, distributed_test.DistributedTest._DistTestBase):
    def setUp(self):
        super().setUp()
        context = torch.multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["torch.testing._internal.distributed.distributed_test", "gradnic"])
        self._start_processes(lambda target, args, **more: context.Process(
            target=_rank, args=(dict(os.environ), target, *args), **more))


class Result(unittest.TextTestResult):
    """A line for each test, and its seconds."""

    def startTest(self, test):
        self.began = time.monotonic()
        super().startTest(test)

    def getDescription(self, test):
        return test.id().split(".")[-1]

    def addSuccess(self, test):
        unittest.TestResult.addSuccess(self, test)
        self.stream.writeln(f"ok, {time.monotonic() - self.began:.1f} s")


def run(names):
    """Returns how many have passed, names of those that failed, and names and reasons of others."""
    suite = unittest.TestSuite(TestSuite(name) for name in names)
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2, resultclass=Result).run(suite)
    failed = [test.id().split(".")[-1] for test, _ in result.failures + result.errors]
    skipped = [(test.id().split(".")[-1], why) for test, why in result.skipped]
    return result.testsRun - len(skipped) - len(failed), failed, skipped


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", default="gradnic")
    parser.add_argument("--list", action="store_true", help="names of all tests")
    parser.add_argument("tests", nargs="*", metavar="TEST")
    options = parser.parse_args()
    os.environ["SUITE_BACKEND"] = options.backend  # for the ranks
    names = unittest.TestLoader().getTestCaseNames(TestSuite)
    if options.list:
        print("\n".join(names))
        return 0
    passed, failed, skipped = run(options.tests or names)
    small = [name for name, why in skipped if "small world size" in why]
    if small:
        os.environ["WORLD_SIZE"] = "8"
        more_passed, more_failed, more_skipped = run(small)
        passed, failed = passed + more_passed, failed + more_failed
        skipped = [entry for entry in skipped if entry[0] not in small] + more_skipped
    print(f"{options.backend}: {passed} passed, {len(failed)} failed, {len(skipped)} skipped by PyTorch, as with Gloo")
    for name in failed:
        print(f"FAILED {name}: {EXCEPTIONS.get(name, 'it passes with Gloo, or nobody has looked yet')}")
    gone = [name for name in EXCEPTIONS if name in (options.tests or names) and name not in failed]
    for name in gone:
        print(f"{name} passes, and is named as an exception")
    return 1 if gone or set(failed) - set(EXCEPTIONS) else 0


if __name__ == "__main__":
    sys.exit(main())
