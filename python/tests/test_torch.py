# SPDX-License-Identifier: Apache-2.0
"""The backend of torch.distributed. Skipped where PyTorch is not installed."""

import logging
import os
import re
import signal
import subprocess
import sys
import threading
import time
from datetime import timedelta

import pytest
from ranks import die, run
from torch_ranks import begin, digest, model, options, train, values

torch = pytest.importorskip("torch")
dist = torch.distributed


# Sums.

def sums(rank, size, rendezvous, profile, dtype):
    begin(rank, size, rendezvous, pg_options=options(profile, 6))
    ours = [values(r, dtype=dtype) for r in range(size)]
    exact = sum(v.double() for v in ours)
    rms = float(ours[0].double().square().mean().sqrt())
    found = []
    total = ours[rank].clone()
    dist.all_reduce(total)
    mean = ours[rank].clone()
    dist.all_reduce(mean, op=dist.ReduceOp.AVG)
    block = torch.empty(20_000 // size, dtype=dtype)
    dist.reduce_scatter_tensor(block, ours[rank][:block.numel() * size].clone(), op=dist.ReduceOp.SUM)
    part = exact[:block.numel() * size].view(size, -1)[rank]
    for got, want in ((total, exact), (mean, exact / size), (block, part)):
        found.append(float((got.double() - want).abs().max()) / rms)
    small = ours[rank][:100].clone()
    dist.all_reduce(small)
    want = exact[:100].to(dtype)
    assert torch.equal(small, want) if profile == "dense" else torch.allclose(small, want, 2**-7, 1e-6)
    for op, want in ((dist.ReduceOp.MAX, torch.stack(ours).amax(0)), (dist.ReduceOp.MIN, torch.stack(ours).amin(0))):
        extreme = ours[rank].clone()
        dist.all_reduce(extreme, op=op)
        assert torch.equal(extreme, want), "minima and maxima are exact"
    dist.destroy_process_group()
    return found, digest(total, mean)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("profile", ["dense", "none"])
def test_sums(profile, dtype):
    rounding = {torch.float32: 1e-5, torch.bfloat16: 2**-5, torch.float16: 2**-8}[dtype]
    results = run(3, sums, profile, dtype)
    assert len({bits for _, bits in results}) == 1, "all ranks have the same bits"
    for errors, _ in results:
        assert max(errors) <= rounding + (3 * 2**-5 if profile == "dense" else 0)
        assert profile == "none" or errors[0] > 2**-8, "nothing was compressed"


def small_sums(rank, size, rendezvous):
    begin(rank, size, rendezvous)
    for dtype, ulp in ((torch.float16, 2**-10), (torch.bfloat16, 2**-7)):
        for sign in (1, -1):
            parts = [1, ulp / 2, 2.0**-24]  # a tie, and a little more, which float32 would drop
            for count in (1, 100):
                t = torch.full((count,), sign * parts[rank], dtype=dtype)
                dist.all_reduce(t)
                assert t.tolist() == [sign * (1 + ulp)] * count, dtype
                block = torch.empty(count, dtype=dtype)
                dist.reduce_scatter_tensor(block, torch.full((3 * count,), sign * parts[rank], dtype=dtype))
                assert block.tolist() == [sign * (1 + ulp)] * count, dtype
    dist.destroy_process_group()


def test_small_sums_are_rounded_once():
    run(3, small_sums)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_rounding_of_float64_at_every_tie(dtype):
    from gradnic._backend import _copy

    above = torch.arange(1, 2**15, dtype=torch.int16).view(dtype).double()
    there = torch.cat([torch.zeros(1, dtype=torch.float64), above[above.isfinite()]])
    limit = there[-1] * 2 - there[-2]  # the next one, if there were room
    low, high = there, torch.cat([there[1:], limit.view(1)])
    tie = (low + high) / 2
    even = torch.where(torch.arange(len(low)) % 2 == 0, low, high)
    infinity = torch.tensor(torch.inf, dtype=torch.float64)
    for values, wanted in ((tie, even), (torch.nextafter(tie, infinity), high), (torch.nextafter(tie, -infinity), low),
                           (low, low)):
        wanted = torch.where(wanted == limit, infinity, wanted)
        for sign in (1, -1):
            got = torch.empty(len(values), dtype=dtype)
            _copy(got, sign * values)
            assert torch.equal(got.double(), sign * wanted)
    got = torch.empty(4, dtype=dtype)
    _copy(got, torch.tensor([torch.inf, -torch.inf, torch.nan, 1e300], dtype=torch.float64))
    assert got[:2].tolist() == [torch.inf, -torch.inf] and got[2].isnan() and got[3] == torch.inf


def everything(rank, size, rendezvous):
    begin(rank, size, rendezvous)
    # what gradnic has itself, in shapes and types that are not the usual ones
    for dtype in (torch.int32, torch.int64, torch.uint8, torch.float64, torch.int8):
        t = torch.full((5,), rank + 1, dtype=dtype)
        dist.all_reduce(t)
        assert t.tolist() == [6] * 5, dtype
    t = torch.full((4, 6), rank + 1.0).t()
    dist.all_reduce(t)
    assert t.stride() == (1, 6) and (t == 6).all()
    t = torch.ones(10)[::2] * 1
    view = torch.zeros(10)[::2]
    view.copy_(t * rank)
    dist.all_reduce(view)
    assert view.tolist() == [3] * 5
    t = torch.full((3,), rank + 1)
    dist.all_reduce(t, op=dist.ReduceOp.PRODUCT)
    assert t.tolist() == [6] * 3
    for dtype in (torch.int32, torch.int64):
        with pytest.raises(ValueError, match="no average"):
            dist.all_reduce(torch.ones(3, dtype=dtype), op=dist.ReduceOp.AVG)
    t = torch.empty(0)
    dist.all_reduce(t)
    gathered = [torch.empty(2, 2) for _ in range(size)]
    dist.all_gather(gathered, torch.full((2, 2), float(rank)))
    assert [int(g[0, 0]) for g in gathered] == [0, 1, 2]
    whole = torch.empty(6, dtype=torch.bool)
    dist.all_gather_into_tensor(whole, torch.tensor([rank == 1, True]))
    assert whole.tolist() == [False, True, True, True, False, True]
    out = torch.empty(2)
    dist.reduce_scatter(out, [torch.full((2,), float(i)) for i in range(size)])
    assert out.tolist() == [rank * 3.0] * 2
    t = torch.full((3, 3), rank, dtype=torch.complex64)
    dist.broadcast(t, src=2)
    assert (t == 2).all()
    t = torch.full((4,), rank).expand(2, 4).t().contiguous().t()
    dist.broadcast(t, src=1)
    assert (t == 1).all()
    # coalesced
    with dist._coalescing_manager():
        pair = [torch.full((n,), rank + 1.0) for n in (3, 5000)]
        for t in pair:
            dist.all_reduce(t)
    assert [round(float(t[0]), 1) for t in pair] == [6, 6]
    with dist._coalescing_manager():
        outs = [torch.empty(6), torch.empty(3)]
        for out, n in zip(outs, (2, 1)):
            dist.all_gather_into_tensor(out, torch.full((n,), float(rank)))
    assert outs[0].tolist() == [0, 0, 1, 1, 2, 2] and outs[1].tolist() == [0, 1, 2]
    # by Gloo
    objects = [None] * size
    dist.all_gather_object(objects, {"rank": rank})
    assert [o["rank"] for o in objects] == [0, 1, 2]
    t = torch.full((2,), float(rank))
    if rank == 0:
        dist.isend(t, 1).wait()
    elif rank == 1:
        work = dist.irecv(t, 0)
        work.wait()
        assert work.is_completed() and t.tolist() == [0, 0]
    elif rank == 2:
        pass
    got = torch.empty(1)
    if rank == 0:
        assert dist.recv(got) == 2 and got.item() == 7
    elif rank == 2:
        dist.send(torch.tensor([7.0]), 0)
    dist.reduce(t, 0)
    dist.monitored_barrier()
    outs = list(torch.empty(3).split(1))
    dist.all_to_all_single(torch.empty(3), torch.arange(3.0))
    dist.barrier()
    # asynchronous
    works = [(dist.all_reduce(t, async_op=True), t) for t in [torch.full((3000,), float(i)) for i in range(1, 9)]]
    for i, (work, t) in enumerate(works, 1):
        assert work.wait() and work.is_completed() and work.exception() is None
        assert abs(float(t[0]) - 3 * i) < 0.2 * i
    t = torch.full((3000,), 1.0)
    future = dist.all_reduce(t, async_op=True).get_future().then(lambda f: f.value()[0] * 2)
    assert abs(float(future.wait()[0]) - 6) < 0.2
    work = dist.barrier(async_op=True)
    while not work.is_completed():
        time.sleep(0.001)
    dist.destroy_process_group()


def test_everything_else():
    run(3, everything)


def groups(rank, size, rendezvous):
    begin(rank, size, rendezvous)
    rows = [dist.new_group([0, 1]), dist.new_group([2, 3])]
    column = dist.new_group([rank % 2, rank % 2 + 2], use_local_synchronization=True)
    t = torch.full((2000,), rank + 1.0)
    dist.all_reduce(t, group=rows[rank // 2])
    assert abs(float(t[0]) - (3 if rank < 2 else 7)) < 0.1
    t = torch.full((4,), rank + 1.0)
    dist.all_reduce(t, group=column)
    assert float(t[0]) == (4 if rank % 2 == 0 else 6)
    assert dist.get_backend(column) == "gradnic"
    dist.destroy_process_group()


def memory_given_away(rank, size, rendezvous):
    import gradnic

    with gradnic.Communicator(rank=rank, size=size, rendezvous=rendezvous, interface="lo") as comm:
        tensor = torch.full((4_000_000,), float(rank + 1))  # so large that free() gives it back to the system
        request = comm.iallreduce(tensor)
        tensor.data = torch.zeros(3)
        others = torch.full((4_000_000,), 7.0)
        request.wait()
        return bool((others == 7).all()), tensor.tolist()


def test_memory_of_a_tensor_stays_while_a_sum_runs():
    assert run(2, memory_given_away) == [(True, [0, 0, 0])] * 2


def test_groups_of_some_ranks():
    run(4, groups)


# Failures.

def lost(rank, size, rendezvous, how):
    begin(rank, size, rendezvous, timeout=timedelta(seconds=20))
    dist.barrier()
    if rank == 1:
        time.sleep(3)  # until the others have left the call before
        die()
    started = time.monotonic()
    t = torch.ones(5000)
    with pytest.raises(RuntimeError) as caught:
        if how == "wait":
            dist.all_reduce(t)
        elif how == "async":
            dist.all_reduce(t, async_op=True).wait()
        elif how == "future":
            dist.all_reduce(t, async_op=True).get_future().then(lambda f: f.value()).wait()
        else:
            train(torch.nn.parallel.DistributedDataParallel(model()), rank)
    assert "rank 1 (127.0.0.1)" in str(caught.value), str(caught.value)
    assert time.monotonic() - started < 20
    with pytest.raises(RuntimeError):
        dist.all_reduce(t)
    dist.destroy_process_group()
    return True


@pytest.mark.parametrize("how", ["wait", "async", "future"])
def test_a_dead_rank_is_named(how):
    assert run(3, lost, how, killed=(1,)) == [True, None, True]


def dies_in_ddp(rank, size, rendezvous):
    begin(rank, size, rendezvous, timeout=timedelta(seconds=20))
    wrapped = torch.nn.parallel.DistributedDataParallel(model())
    train(wrapped, rank, 2)
    if rank == 1:
        time.sleep(3)  # until the others have left the call before
        die()
    with pytest.raises(RuntimeError, match=r"rank 1 \(127\.0\.0\.1\)"):
        train(wrapped, rank, 2)
    return True


def test_a_dead_rank_is_named_in_ddp():
    assert run(3, dies_in_ddp, killed=(1,)) == [True, None, True]


def late(rank, size, rendezvous):
    begin(rank, size, rendezvous)
    if rank == 0:
        work = dist.all_reduce(torch.ones(5000), async_op=True)
        started = time.monotonic()
        with pytest.raises(RuntimeError, match="not done after 0.5 s"):
            work.wait(timedelta(seconds=0.5))
        assert time.monotonic() - started < 5
    else:
        time.sleep(2)
        with pytest.raises(RuntimeError, match="not done after 0.5 s"):
            dist.all_reduce(torch.ones(5000))
    return True


def test_a_timeout_ends_the_group_and_says_so():
    assert run(2, late) == [True, True]


def aborted(rank, size, rendezvous):
    group = begin(rank, size, rendezvous)
    if rank == 0:
        time.sleep(0.5)
        group.abort()
    else:
        with pytest.raises(RuntimeError, match="abort"):
            dist.all_reduce(torch.ones(5000))
    return True


def test_abort():
    assert run(2, aborted) == [True, True]


def forked(rank, size, rendezvous):
    begin(rank, size, rendezvous)
    dist.all_reduce(torch.ones(5000), async_op=True).wait()
    child = os.fork()
    if not child:
        try:
            dist.all_reduce(torch.ones(5000))
        except (RuntimeError, ValueError) as error:
            if "forked" not in str(error):
                os._exit(1)
            signal.alarm(20)  # it must not wait for its parent's threads
            dist.destroy_process_group()
            os._exit(0)
        os._exit(2)
    assert os.waitpid(child, 0)[1] == 0
    t = torch.ones(5000)
    dist.all_reduce(t)
    assert abs(float(t[0]) - 2) < 0.1
    dist.destroy_process_group()


def test_a_forked_child_is_refused_and_its_parent_goes_on():
    run(2, forked)


def told(rank, size, rendezvous):
    lines = []

    class Keep(logging.Handler):
        def emit(self, record):
            lines.append(record.getMessage())

    logging.getLogger("gradnic").addHandler(Keep())
    logging.getLogger("gradnic").setLevel(logging.INFO)
    begin(rank, size, rendezvous)
    for _ in range(3):
        dist.all_reduce(torch.ones(5000))
    dist.destroy_process_group()
    return [line for line in lines if "GRADNIC_PROFILE=none" in line]


def test_the_log_says_once_what_is_compressed():
    for lines in run(2, told):
        assert len(lines) == 1 and "dense" in lines[0] and "2^-" in lines[0]


@pytest.mark.parametrize("make, text", [
    (lambda: options("fine"), "no profile 'fine'"), (lambda: options(bound=99), "k = 99"),
    (lambda: options(algorithm="star"), "GRADNIC_ALGORITHM"), (lambda: options(scale="big"), "GRADNIC_SCALE"),
])
def test_options_that_are_wrong_are_refused(make, text):
    with pytest.raises(ValueError, match=text):
        make()


def test_options_come_from_the_environment(monkeypatch):
    monkeypatch.setenv("GRADNIC_PROFILE", "lattice")
    monkeypatch.setenv("GRADNIC_BOUND", "2^-9")
    given = options()
    assert (given.profile, given.bound) == ("lattice", 9)
    assert options("dense", 3).bound == 3
    monkeypatch.setenv("GRADNIC_BOUND", "nine")
    with pytest.raises(ValueError, match="GRADNIC_BOUND=nine"):
        options()


def _nobody_waits(rank, size, where):
    begin(rank, size, where, pg_options=options(profile="none"))
    tensors = [torch.full((5000,), float(rank + 1)) for _ in range(100)]
    works = [dist.all_reduce(tensor, async_op=True) for tensor in tensors]
    deadline = time.monotonic() + 60
    while not works[50].is_completed():  # asking is enough
        assert time.monotonic() < deadline
        time.sleep(0.001)
    assert works[50].is_success() and works[0].is_completed()
    dist.destroy_process_group()  # the rest is done then
    assert all(bool((tensor == 3).all()) for tensor in tensors)


def test_sums_that_nobody_waits_for():
    run(2, _nobody_waits)


def _takes(rank, size, where):
    from gradnic._options import Options

    group = begin(rank, size, where)
    assert group.backend.options.arguments(4, True)["algorithm"] == "direct"
    found = [Options(profile).arguments(size, one_host)["algorithm"]
             for profile, size, one_host in (("dense", 16, False), ("dense", 17, True), ("none", 4, False),
                                             ("none", 4, True))]
    assert found == ["direct", "ring", "ring", "direct"], found
    dist.destroy_process_group()


def test_uncompressed_sums_between_hosts_take_a_ring():
    run(1, _takes)


def anew(rank, size, where):
    for turn in range(3):  # in one store, which keeps what was
        if turn:
            time.sleep(0.3 * rank)
        begin(rank, size, where)
        t = torch.full((3000,), float(turn + 1))
        dist.all_reduce(t)
        assert abs(float(t[0]) - size * (turn + 1)) < 0.2
        dist.destroy_process_group()
    # Another process was started more often than this one.
    store = dist.PrefixStore("more", dist.FileStore(where.replace("file://", "") + "-store", size))
    for _ in range(rank):
        store.set(f"joins/{rank}", "old")
        store.set(f"seen/{rank}", "old")
    store.set("round", "older than old")
    from gradnic._meeting import fresh

    found = fresh(store, rank, size, timedelta(seconds=20), "a test")
    found.set(f"here/{rank}", "x")
    found.wait([f"here/{r}" for r in range(size)], timedelta(seconds=20))


def test_ranks_that_are_started_anew_meet_in_the_same_store():
    run(3, anew)


def late_in_store(rank, size, where):
    from gradnic._meeting import fresh

    store = dist.FileStore(where.replace("file://", "") + "-store", 3)
    if rank == 0:
        with pytest.raises(RuntimeError, match="Timed out in setting up a test: after 2 s rank 2 has not come"):
            fresh(store, 0, 3, timedelta(seconds=2), "a test")
        store.set("over", "yes")
    else:
        store.set("joins/1", "it")
        with pytest.raises(RuntimeError, match="rank 0 has not come"):
            fresh(dist.PrefixStore("other", store), 1, 3, timedelta(seconds=0.5), "a test")
        while not store.check(["round"]):
            time.sleep(0.01)
        store.set("seen/1", store.get("round").decode().split()[0])
        store.wait(["over"], timedelta(seconds=20))


def test_who_has_not_come_to_the_store_is_named():
    run(2, late_in_store)


def several(rank, size, where):
    shared = options("lattice", 7)
    begin(rank, size, where, pg_options=shared, timeout=timedelta(seconds=20))
    group = dist.new_group([0, 1], pg_options=shared, timeout=timedelta(seconds=10))
    first = dist.distributed_c10d._get_default_group().backend.options
    second = group.backend.options
    assert (first.group_name, first._timeout.seconds) != (second.group_name, second._timeout.seconds)
    assert first._timeout.seconds == 20 and second._timeout.seconds == 10
    assert (first.profile, second.bound) == ("lattice", 7)
    dist.destroy_process_group()


def test_one_object_of_options_serves_several_groups():
    run(2, several)


def test_a_misspelled_variable_is_told(monkeypatch):
    monkeypatch.setenv("GRADNIC_PROFIL", "none")
    monkeypatch.setenv("GRADNIC_SOMETHING_ELSE", "1")
    with pytest.warns(RuntimeWarning) as caught:
        options()
        options()
    told = [str(warning.message) for warning in caught if "GRADNIC_" in str(warning.message)]
    assert len(told) == 2 and "GRADNIC_PROFIL is set" in told[0] and told[0].endswith("is it GRADNIC_PROFILE?")


def test_all_variables_are_known():
    import gradnic
    from gradnic._options import _VARIABLES

    folder, read = os.path.dirname(gradnic.__file__), set()
    for name in ["lib/libgradnic-comm.so.0", *(name for name in os.listdir(folder) if name.endswith(".py"))]:
        with open(os.path.join(folder, name), "rb") as file:
            read |= {text.decode() for text in re.findall(rb"\bGRADNIC_[A-Z]+(?:_[A-Z]+)*\b", file.read())}
    assert {name for name in read if name != "GRADNIC_0"} == set(_VARIABLES)


_LEAVES = """
import sys, torch, torch.distributed as dist
rank, where = int(sys.argv[1]), sys.argv[2]
dist.init_process_group("gradnic", rank=rank, world_size=2, store=dist.FileStore(where, 2))
tensors = [torch.ones(100_000) for _ in range(8)]
for tensor in tensors:
    dist.all_reduce(tensor, async_op=True).get_future().then(lambda future: print("called back", flush=True))
"""


def test_callbacks_run_before_the_program_ends(tmp_path):
    ranks = [subprocess.Popen([sys.executable, "-c", _LEAVES, str(rank), str(tmp_path / "store")],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for rank in range(2)]
    for rank in ranks:
        out, errors = rank.communicate(timeout=600)
        assert rank.returncode == 0 and out.count("called back") == 8, errors


def ctrl_c(rank, size, where):
    begin(rank, size, where, timeout=timedelta(seconds=60))
    started = time.monotonic()
    if rank == 0:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            dist.all_reduce(torch.ones(5000))
    else:
        time.sleep(1)
        with pytest.raises(RuntimeError, match="rank 0 .* aborted: interrupted"):
            dist.all_reduce(torch.ones(5000))
    assert time.monotonic() - started < 10
    dist.destroy_process_group()


def test_ctrl_c_ends_a_collective():
    run(2, ctrl_c)
