# SPDX-License-Identifier: Apache-2.0
"""torchft's own tests, which its wheel carries, with groups of gradnic where they make Gloo's.

    torchft_suite.py                    all of them that make groups on a CPU
    torchft_suite.py --backend gloo     the same with Gloo itself, to compare
    torchft_suite.py --list             their names

It needs `pip install torchft parameterized` beside PyTorch and gradnic.

torchft makes a new group whenever the ranks change. Its ranks are threads here, of one process.
"""

import argparse
import importlib
import logging
import sys
import unittest
from datetime import timedelta

import gradnic.torch
import torch
from torchft import process_group

MODULES = ("process_group_test", "ddp_test", "manager_integ_test", "local_sgd_integ_test", "parameter_server_test")


class ProcessGroupGradnic(process_group.ProcessGroupWrapper):
    """What a user of torchft writes."""

    def _create_pg(self, store, rank, world_size):
        return gradnic.torch.process_group(store, rank, world_size, gradnic.torch.Options(timeout=self._timeout))

    def getBackendName(self):
        return "torchft-gradnic"


class ProcessGroupBabyGradnic(process_group.ProcessGroupBabyGloo):
    """The same in a process of its own."""

    def __init__(self, timeout=timedelta(minutes=1)):
        # Their tests give the process 10 s to import PyTorch, and 10 ms where it is to be late.
        super().__init__(timeout if timeout < timedelta(seconds=1) else timedelta(minutes=5))

    @classmethod
    def _create_pg(cls, store, rank, world_size):
        return gradnic.torch.process_group(store, rank, world_size)

    def getBackendName(self):
        return "torchft-baby-gradnic"


def _with_our_words(case, error, regex, *arguments, **named):
    """torchft's tests list what Gloo and NCCL say of a rank that is gone. gradnic names it."""
    if "Connection closed by peer" in regex:
        regex = rf"{regex}|gradnic: .*rank \d+ \("
    return unittest.TestCase.assertRaisesRegex(case, error, regex, *arguments, **named)


def tests(backend):
    """All tests that make groups of Gloo's."""
    found = unittest.TestSuite()
    for name in MODULES:
        module = importlib.import_module(f"torchft.{name}")
        if backend == "gradnic":
            for theirs, ours in (("ProcessGroupGloo", ProcessGroupGradnic), ("ProcessGroupBabyGloo", ProcessGroupBabyGradnic)):
                if hasattr(module, theirs):
                    setattr(module, theirs, ours)
            if hasattr(module, "MultiPgBaseTest"):
                module.MultiPgBaseTest.assertRaisesRegex = _with_our_words
        found.addTests(unittest.defaultTestLoader.loadTestsFromModule(module))
    return found


def each(suite):
    for entry in suite:
        if isinstance(entry, unittest.TestSuite):
            yield from each(entry)
        else:
            yield entry


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", default="gradnic", choices=("gradnic", "gloo"))
    parser.add_argument("--list", action="store_true")
    parser.add_argument("tests", nargs="*", metavar="PART", help="of names of tests")
    options = parser.parse_args()
    torch.set_num_threads(1)
    logging.disable(logging.INFO)
    chosen = [test for test in each(tests(options.backend))
              if not options.tests or any(part in test.id() for part in options.tests)]
    if options.list:
        print("\n".join(test.id() for test in chosen))
        return 0
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(unittest.TestSuite(chosen))
    bad = [test.id() for test, _ in result.failures + result.errors]
    print(f"{options.backend}: {result.testsRun - len(bad) - len(result.skipped)} passed, {len(bad)} failed, "
          f"{len(result.skipped)} skipped by torchft")
    for name in bad:
        print(f"FAILED {name}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
