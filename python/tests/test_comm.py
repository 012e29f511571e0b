# SPDX-License-Identifier: Apache-2.0
import array
import copy
import os
import pickle
import signal
import sys
import threading
import time

import pytest
from ranks import die, run

import gradnic

np = pytest.importorskip("numpy")


def make(rank, size, rendezvous, **options):
    return gradnic.Communicator(rank, size, rendezvous=rendezvous, interface="lo", **{"timeout": 20, **options})


def values_of(rank, count=10_000):
    return np.random.default_rng(rank).normal(0, 0.01, count).astype(np.float32)


def sums(rank, size, rendezvous, options):
    with make(rank, size, rendezvous, **options) as comm:
        mine = values_of(rank)
        before = mine.copy()
        out = np.empty_like(mine)
        assert comm.allreduce(mine, out) is out
        assert np.array_equal(mine, before)
        assert comm.allreduce(mine, op="average") is mine
        return out.tobytes(), mine.tobytes(), comm.stats["sent_wire_bytes"]


@pytest.mark.parametrize("algorithm", ["ring", "direct", "auto", "worker-aggregator"])
def test_allreduce(algorithm):
    exact = sum(values_of(rank).astype(np.float64) for rank in range(3))
    plain = run(3, sums, {"algorithm": algorithm})
    coded = run(3, sums, {"algorithm": algorithm, "compress": "dense", "k": 8, "shared_memory": False})
    for results, bound in ((plain, 1e-6), (coded, 3 * 2**-8)):
        assert len({r[0] for r in results}) == 1 and len({r[1] for r in results}) == 1
        assert np.abs(np.frombuffer(results[0][0], np.float32) - exact).max() <= bound
        assert np.abs(np.frombuffer(results[0][1], np.float32) - exact / 3).max() <= bound
    codec = gradnic.Codec("dense", 8)  # quantise once, add exactly
    by_hand = sum(codec.quantise(values_of(rank)) for rank in range(3))
    assert np.array_equal(np.frombuffer(coded[0][0], np.float32), by_hand)


def others(rank, size, rendezvous):
    with make(rank, size, rendezvous) as comm:
        assert (comm.rank, comm.size) == (rank, size)
        block = comm.reduce_scatter(np.arange(6, dtype=np.float32) + rank)
        assert block.tolist() == [3 * (2 * rank) + 3, 3 * (2 * rank + 1) + 3]
        assert comm.all_gather(np.array([rank, -rank], np.int64)).tolist() == [[0, 0], [1, -1], [2, -2]]
        flags = comm.all_gather(np.array([rank == 1]))  # any type travels as bytes
        assert flags.dtype == bool and flags.ravel().tolist() == [False, True, False]
        text = bytearray(b"rank %d" % rank)
        assert comm.broadcast(text, root=2) == b"rank 2"
        for kind in (np.float16, np.float64, np.int32, np.int64, np.uint8):
            assert comm.allreduce(np.full(5, rank + 1, kind)).tolist() == [6] * 5
        assert comm.allreduce(np.full(5, rank, np.float32), op="maximum").tolist() == [2] * 5
        assert comm.allreduce(array.array("f", [rank])).tolist() == [3]
        comm.barrier()
        requests = [comm.iallreduce(np.full(1000, i + rank, np.float32)) for i in range(8)]
        requests += [comm.ireduce_scatter(np.ones(3, np.float32)), comm.iall_gather(np.ones(1, np.float32)),
                     comm.ibroadcast(np.full(2, rank)), comm.ibarrier()]
        while not requests[-1].done():
            time.sleep(0.001)
        assert [int(r.wait()[0]) for r in requests[:8]] == [3 * i + 3 for i in range(8)]
        assert requests[8].wait().tolist() == [3] and requests[8].wait().tolist() == [3]
        assert requests[9].wait().tolist() == [[1], [1], [1]]
        assert requests[10].wait().tolist() == [0, 0]
        sub = comm.split(rank % 2, key=-rank)
        assert (sub.size, sub.rank) == ((2, 1 - rank // 2) if rank != 1 else (1, 0))
        assert int(sub.allreduce(np.full(1, rank + 1, np.int32))[0]) == (4 if rank != 1 else 2)
        assert comm.split(-1) is None
        comm.iallreduce(np.ones(10, np.float32))  # nobody waits for it: close() does


def test_other_collectives():
    run(3, others)


def feedback(rank, size, rendezvous):
    with make(rank, size, rendezvous, compress="dense", k=4) as comm:
        residual, total = np.zeros(100, np.float32), np.zeros(100, np.float32)
        for _ in range(64):
            total += comm.allreduce(np.full(100, 0.003, np.float32), residual=residual)
        return float(total[0])


def messages(rank, size, rendezvous):
    with make(rank, size, rendezvous) as comm:
        after, before = (rank + 1) % size, (rank - 1) % size
        room = np.zeros(100_000, np.float32)
        got = comm.irecv(room, before, 3)
        short = comm.irecv(bytearray(100), before, 4)
        given = values_of(rank, 90_000)
        sent = [comm.isend(given, after, 3), comm.isend(b"short", after, 4)]
        assert got.wait() == 360_000 and short.wait() == 5 and got.done()
        for request in sent:
            request.wait()
        assert np.array_equal(room[:90_000], values_of(before, 90_000)) and not room[90_000:].any()
        with pytest.raises(gradnic.InvalidError):
            comm.isend(given, size, 0)
        comm.barrier()
    return True


def test_messages():
    assert run(3, messages) == [True] * 3


def test_error_feedback_delays_and_loses_nothing():
    total = run(2, feedback)[0]
    assert abs(total - 64 * 2 * 0.003) <= 2 * 2**-4


def scaled(rank, size, rendezvous, bucket):
    errors = []
    with make(rank, size, rendezvous, compress="dense", k=6, scale="auto", algorithm="direct") as comm:
        for magnitude in (1e-6, 1.0, 1e-3, 1e-6):
            values = [magnitude * np.random.default_rng(r).normal(0, 1, 5000).astype(np.float32) for r in range(size)]
            error = comm.allreduce(values[rank].copy(), bucket=bucket) - sum(values)
            errors.append(float(np.abs(error).max()) / magnitude)
            block = comm.reduce_scatter(values[rank][:4998], bucket=bucket)
            errors.append(float(np.abs(block - sum(values)[:4998].reshape(size, -1)[rank]).max()) / magnitude)
    return errors


def worst(rank, size, rendezvous):
    """Errors, in units of 2^-k of the RMS. Mantissas are small, and some exponents larger."""
    with make(rank, size, rendezvous, compress="dense", k=6, scale="auto", algorithm="direct") as comm:
        values = np.linspace(1, 1.06, 100000, dtype=np.float32)
        values[::4] = 2
        error = comm.allreduce(values.copy(), op="average", bucket=None) - values
        return float(np.abs(error).max() / np.sqrt(np.mean(values.astype(float)**2)) * 2**6)


def test_the_relative_bound_is_at_most_1_53_times_what_k_says():
    assert all(1.4 < error <= 1.53 for error in run(2, worst))


def test_a_bucket_without_a_name_has_its_own_scale_in_each_call():
    assert max(max(errors) for errors in run(3, scaled, None)) <= 3 * 2**-5
    assert max(max(errors) for errors in run(3, scaled, 7)) > 1  # the scale of the call before


def kept(rank, size, rendezvous):
    with make(rank, size, rendezvous, compress="dense", k=6, scale="auto", algorithm="direct") as comm:
        assert comm.scale(7) is None
        comm.allreduce(values_of(rank).copy(), bucket=7)
        assert comm.scale(7) == -7, "floor(log2(0.01))"
        comm.set_scale(8, comm.scale(7))
        comm.set_scale(7, None)
        assert (comm.scale(7), comm.scale(8)) == (None, -7)
        for bucket, exponent in ((8, 999), (70_000, 0)):
            with pytest.raises(gradnic.InvalidError, match=str(bucket)):
                comm.set_scale(bucket, exponent)


def test_scales_can_be_kept():
    run(2, kept)


def wrong(rank, size, rendezvous):
    with make(rank, size, rendezvous) as comm:
        for call, text in [
            (lambda: comm.allreduce(np.zeros(3, np.float32), op="product"), "no op 'product': sum, average"),
            (lambda: comm.allreduce(np.zeros(3, np.complex64)), "complex64"),
            (lambda: comm.allreduce(np.zeros(3, np.float32), np.zeros(4, np.float32)), "out has 4 elements"),
            (lambda: comm.allreduce(b"abc"), "read-only"),
            (lambda: comm.reduce_scatter(np.zeros(3, np.float32)), "2 ranks cannot share"),
            (lambda: comm.broadcast(np.zeros(3), root=2), "root 2"),
            (lambda: comm.allreduce(np.zeros(3, np.int32), op="average"), "average"),
            (lambda: comm.allreduce(np.zeros(3, np.float32), residual=np.zeros(3, np.float32)), "residual"),
        ]:
            with pytest.raises(gradnic.InvalidError, match=text):
                call()
        assert comm.allreduce(np.ones(1, np.float32)).tolist() == [2]  # it lives
    with pytest.raises(gradnic.InvalidError, match="closed"):
        comm.barrier()


def test_wrong_arguments_do_no_harm():
    run(2, wrong)


def alone():
    return gradnic.Communicator(0, 1, rendezvous="tcp://127.0.0.1:0")


OBJECTS = np.array(["text", None], object)


# ctypes drops bits that find no room: rank 2**32 would be rank 0.
@pytest.mark.parametrize("call, text", [
    (lambda c: c.allreduce(np.float32(1.5)), "is a scalar, and would be written"),
    (lambda c: c.all_gather(OBJECTS), "Python's objects"),
    (lambda c: c.broadcast(OBJECTS), "Python's objects"),
    (lambda c: c.isend(OBJECTS, 0), "Python's objects"),
    (lambda c: c.irecv(OBJECTS, 0), "Python's objects"),
    (lambda c: c.isend(np.zeros(1), 2**32), "to = 4294967296 is not"),
    (lambda c: c.isend(np.zeros(1), 0, 2**32), "tag = 4294967296 is not"),
    (lambda c: c.irecv(np.zeros(1), 2**32), "source = 4294967296 is not"),
    (lambda c: c.split(2**32), "colour = 4294967296 is not"),
    (lambda c: c.split(0, 0.5), "key = 0.5 is not"),
    (lambda c: c.broadcast(np.zeros(1), 0.5), "root = 0.5 is not"),
    (lambda c: c.allreduce(np.zeros(1), bucket=2**32), "bucket = 4294967296 is not"),
    (lambda c: c.scale(-1), "bucket = -1 is not"),
    (lambda c: c.set_scale(0, 2**32), "exponent = 4294967296 is not"),
    (lambda c: gradnic.Communicator(2**32, 2**32 + 1), "rank = 4294967296 is not"),
    (lambda c: gradnic.Communicator(0, 2**32 + 1), "size = 4294967297 is not"),
    (lambda c: gradnic.Communicator(0, 1, segment_bytes=-1), "segment_bytes = -1 is not"),
    (lambda c: gradnic.Communicator(0, 1, switch_channels=-1), "switch_channels = -1 is not"),
    (lambda c: gradnic.Communicator(0, 1, scale_target=300), "scale_target = 300 is not an integer from -128 to 127"),
    (lambda c: gradnic.Communicator(0, 1, rendezvous="file:///tmp/a\0b"), "has a zero byte"),
])
def test_what_c_would_take_for_something_else_is_refused(call, text):
    with alone() as comm, pytest.raises(gradnic.InvalidError, match=text):
        call(comm)


def test_a_communicator_is_not_copied():
    with alone() as comm:
        request = comm.ibarrier()
        for thing in (comm, request):
            for make in (copy.copy, copy.deepcopy, pickle.dumps):
                with pytest.raises(TypeError, match="cannot be copied or pickled"):
                    make(thing)
        request.wait()
        comm.barrier()


def mismatch(rank, size, rendezvous):
    comm = make(rank, size, rendezvous)
    with pytest.raises(gradnic.MismatchError, match="rank"):
        comm.allreduce(np.zeros(3 + rank, np.float32))
    with pytest.raises(gradnic.DeadError):
        comm.barrier()
    return True


def test_different_calls_are_told():
    assert run(2, mismatch) == [True, True]


def lost(rank, size, rendezvous, started):
    comm = make(rank, size, rendezvous, timeout=10)
    if rank == 1:
        comm.barrier()
        die()
    begin = time.monotonic()
    with pytest.raises(gradnic.PeerLostError) as caught:
        comm.barrier()  # rank 1 may be through before the others, and dead before they are
        if started:
            comm.iallreduce(np.zeros(1000, np.float32)).wait()
        else:
            comm.allreduce(np.zeros(1000, np.float32))
    error = caught.value
    assert error.rank == 1 and error.address.startswith("127.0.0.1") and error.status == "peer lost", str(error)
    assert time.monotonic() - begin < 10
    return str(error)


@pytest.mark.parametrize("started", [False, True])
def test_a_dead_rank_is_named(started):
    assert all(text for text in run(3, lost, started, killed=(1,))[::2])


def aborts(rank, size, rendezvous):
    with pytest.raises(gradnic.AbortedError if rank else ValueError, match="broke"):
        with make(rank, size, rendezvous) as comm:
            comm.barrier()
            if rank == 0:
                raise ValueError("it broke")
            comm.allreduce(np.zeros(3, np.float32))


def test_an_exception_ends_all():
    run(2, aborts)


def forks(rank, size, rendezvous):
    comm = make(rank, size, rendezvous)
    request = comm.irecv(np.empty(3, np.float32), 1 - rank)
    child = os.fork()
    if not child:
        signal.alarm(20)  # nothing of it waits
        for call in (comm.barrier, request.wait, request.done):
            try:
                call()
            except gradnic.InvalidError as error:
                if "forked" in str(error):
                    continue
            os._exit(1)
        comm.close()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    comm.isend(np.ones(3, np.float32), 1 - rank).wait()
    assert request.wait() == 12
    assert comm.allreduce(np.ones(3, np.float32)).tolist() == [2] * 3
    comm.close()


def test_a_forked_child_is_refused_and_its_parent_goes_on():
    run(2, forks)


def test_setting_up_has_a_deadline(tmp_path):
    begin = time.monotonic()
    with pytest.raises(gradnic.Error) as caught:
        gradnic.Communicator(0, 2, rendezvous=f"file://{tmp_path}/alone", interface="lo", timeout=0.5)
    assert time.monotonic() - begin < 10 and "1" in str(caught.value)
    with pytest.raises(gradnic.InvalidError, match="timeout"):
        gradnic.Communicator(0, 1, timeout=0)
    with pytest.raises(gradnic.InvalidError, match="no algorithm 'star'"):
        gradnic.Communicator(0, 1, algorithm="star")


def test_log(tmp_path, caplog):
    with caplog.at_level("DEBUG", "gradnic"):
        with gradnic.Communicator(0, 1, rendezvous=f"file://{tmp_path}/m", interface="lo") as comm:
            comm.abort("enough")
            with pytest.raises(gradnic.DeadError, match="enough"):
                comm.barrier()
    assert any("enough" in record.message for record in caplog.records)


def closes_from_outside(rank, size, rendezvous):
    comm, found = make(rank, size, rendezvous), []
    comm.barrier()
    if rank:
        time.sleep(0.7)
        found.append(comm.allreduce(np.ones(3, np.float32)).tolist())
    else:
        thread = threading.Thread(target=lambda: found.append(comm.allreduce(np.ones(3, np.float32)).tolist()))
        thread.start()
        time.sleep(0.2)
        comm.close()  # waits for the thread
        thread.join()
        with pytest.raises(gradnic.InvalidError, match="closed"):
            comm.barrier()
        with pytest.raises(gradnic.InvalidError, match="closed"):
            comm.abort()
    comm.close()
    return found


def test_a_communicator_is_closed_when_nobody_is_inside():
    assert run(2, closes_from_outside) == [[[2] * 3]] * 2


def waits_twice(rank, size, rendezvous):
    with make(rank, size, rendezvous) as comm:
        for _ in range(50):
            request, found = comm.iallreduce(np.ones(1000, np.float32)), []

            def look(wait, request=request, found=found):
                while not wait and not request.done():
                    pass
                found.append(request.wait()[0])

            threads = [threading.Thread(target=look, args=(wait,)) for wait in (True, False, True)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert found == [2] * 3


def test_threads_may_share_a_request():
    run(2, waits_twice)


def interrupted(rank, size, rendezvous, where):
    begin = time.monotonic()
    comm = make(rank, size, rendezvous, timeout=60) if where != "setup" else None
    if rank:
        if comm is None:  # it never comes
            return "never came"
        with pytest.raises(gradnic.AbortedError, match="rank 0 .* aborted: interrupted") as caught:
            time.sleep(1)
            comm.allreduce(np.zeros(3, np.float32))
        assert time.monotonic() - begin < 30
        comm.close()
        return caught.value.rank
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
    timer = threading.Timer(0.4, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    request = None
    with pytest.raises(KeyboardInterrupt):
        if where == "setup":
            make(rank, size, rendezvous, timeout=60)
        elif where == "now":
            comm.allreduce(np.zeros(3, np.float32))
        elif where == "message":
            comm.irecv(np.zeros(3, np.float32), 1).wait()
        else:
            request = comm.iallreduce(np.zeros(3, np.float32))
            request.wait()
    assert time.monotonic() - begin < 5
    if request is not None:
        with pytest.raises(gradnic.AbortedError, match="interrupted"):
            request.wait()
    if comm is not None:
        with pytest.raises(gradnic.DeadError):
            comm.barrier()
        comm.close()
    return 0


@pytest.mark.parametrize("where", ["now", "started", "message", "setup"])
def test_ctrl_c_ends_the_wait_and_the_group(where):
    assert run(2, interrupted, where) == [0, "never came" if where == "setup" else 0]


def test_a_request_that_was_freed_is_not_freed_again():
    with gradnic.Communicator(0, 1, interface="lo") as comm:
        request = comm.ibarrier()
        request._handle, request._freed.value = type(request._handle)(1), True  # as behind an interrupted wait
        with pytest.raises(gradnic.AbortedError, match="interrupted"):
            request.wait()
        assert request.done()


def test_a_log_may_ask_the_library(tmp_path):
    import logging

    class Ask(logging.Handler):
        def emit(self, record):
            asked.append((record.getMessage(), comm.stats["sent_bytes"]))
            with pytest.raises(gradnic.InvalidError, match="handler"):
                comm.close()

    asked, handler = [], Ask()
    logging.getLogger("gradnic").addHandler(handler)
    try:
        comm = gradnic.Communicator(0, 1, rendezvous=f"file://{tmp_path}/m", interface="lo")
        comm.abort("enough")
        assert any("enough" in text for text, _ in asked)
    finally:
        logging.getLogger("gradnic").removeHandler(handler)
        comm.close()


class Interrupt(Exception):
    """What a signal's handler raises."""


def interrupt(step, function):
    """Calls a function. Raises Interrupt before one of the bytecodes of the package that run."""
    left = step

    def trace(frame, event, _argument):
        nonlocal left
        if not frame.f_code.co_filename.endswith(("gradnic/comm.py", "gradnic/_entry.py")):
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            left -= 1
            if left < 0:
                sys.settrace(None)
                raise Interrupt
        return trace

    sys.settrace(trace)
    try:
        function()
    finally:
        sys.settrace(None)


def closes_once(comm, freed):
    """close() ends soon, and the library is told once."""
    begin = time.monotonic()
    comm.close()
    assert time.monotonic() - begin < 2 and len(freed) == 1
    comm.close()
    assert len(freed) == 1


@pytest.fixture
def freed(monkeypatch):
    from gradnic import _native

    handles, free = [], _native.comm.gn_comm_free
    monkeypatch.setattr(_native.comm, "gn_comm_free", lambda handle: (handles.append(handle.value), free(handle)))
    return handles


@pytest.mark.parametrize("what", ["stats", "sum", "done", "wait", "close"])
def test_what_is_interrupted_anywhere_can_be_closed(what, freed):
    array = np.zeros(3, np.float32)
    for step in range(10_000):
        freed.clear()
        comm = gradnic.Communicator(0, 1, interface="lo")
        request = comm.iallreduce(array) if what in ("done", "wait", "close") else None
        functions = {"stats": lambda: comm.stats, "sum": lambda: comm.allreduce(array), "close": comm.close,
                     "done": request and request.done, "wait": request and request.wait}
        came = True
        try:
            interrupt(step, functions[what])
            came = False
        except Interrupt:
            pass
        if request is not None:  # whoever shares it need not wait for who was interrupted
            try:
                request.wait()
            except gradnic.AbortedError:
                pass
        if what != "close":
            comm.stats  # another call
        closes_once(comm, freed)
        if not came:
            break
    assert 20 < step < 9_999


def test_an_interrupt_stays_the_error_when_the_block_is_left(freed):
    for step in range(10_000):
        freed.clear()
        try:
            with gradnic.Communicator(0, 1, interface="lo") as comm:
                interrupt(step, lambda: comm.stats)
            break
        except Interrupt:
            assert len(freed) == 1
    assert 20 < step < 9_999


def test_a_thread_waits_for_a_close_that_goes_on(freed):
    comm, entered, go = gradnic.Communicator(0, 1, interface="lo"), threading.Event(), threading.Event()

    def stay():
        with comm._gate:
            entered.set()
            go.wait(10)

    threads = [threading.Thread(target=stay), threading.Thread(target=comm.close), threading.Thread(target=comm.close)]
    threads[0].start()
    entered.wait(10)
    for thread in threads[1:]:
        thread.start()
    time.sleep(0.2)
    assert not freed and all(thread.is_alive() for thread in threads)
    go.set()
    for thread in threads:
        thread.join(10)
    assert len(freed) == 1
