# SPDX-License-Identifier: Apache-2.0
"""Runs a function as several ranks: processes of this machine that meet in a file.

The processes are forked from one that has imported PyTorch, where it is installed. Importing takes
seconds, and the ranks need not wait for it.
"""

import multiprocessing
import os
import queue
import tempfile
import traceback


def _rank(function, rank, size, folder, arguments, results):
    try:
        results.put((rank, "ok", function(rank, size, f"file://{folder}/meeting", *arguments)))
    except BaseException:
        results.put((rank, "failed", traceback.format_exc()))


def run(size, function, *arguments, deadline=240, killed=()):
    """Calls function(rank, size, rendezvous, *arguments) in `size` processes. Returns the results.

    A rank in `killed` gives no result. A rank that raises, or is late, fails the test.
    """
    context = multiprocessing.get_context("forkserver")
    # torch._dynamo: an optimizer's first step imports it, which takes longer than most tests.
    context.set_forkserver_preload(["numpy", "torch", "torch.distributed", "torch._dynamo", "gradnic"])
    results, expected, given = context.Queue(), size - len(killed), {}
    with tempfile.TemporaryDirectory() as folder:
        processes = [context.Process(target=_rank, args=(function, r, size, folder, arguments, results), daemon=True)
                     for r in range(size)]
        for process in processes:
            process.start()
        try:
            while len(given) < expected:
                rank, verdict, value = results.get(timeout=deadline)
                assert verdict == "ok", f"rank {rank}:\n{value}"
                given[rank] = value
        except queue.Empty:
            raise AssertionError(f"only ranks {sorted(given)} of {size} were done after {deadline} s") from None
        finally:
            for process in processes:
                process.join(10 if len(given) == expected else 0.1)
                if process.is_alive():
                    process.kill()
                    process.join()
    for process in processes:
        assert process.exitcode == 0 or processes.index(process) in killed, f"exit code {process.exitcode}"
    return [given.get(r) for r in range(size)]


def die():
    """Ends this process as a crash would."""
    os._exit(9)
