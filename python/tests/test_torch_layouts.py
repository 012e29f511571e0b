# SPDX-License-Identifier: Apache-2.0
"""Tensors that are not contiguous, in every operation of the backend."""

import time
from datetime import timedelta

import pytest
from ranks import run
from torch_ranks import begin

torch = pytest.importorskip("torch")
dist = torch.distributed

# The calls of the backend that C++ makes. Each has to come in operations().
CALLS = {"allreduce", "allreduce_coalesced", "allgather", "allgather_coalesced", "all_gather_single",
         "all_gather_single_coalesced", "broadcast", "reduce", "reduce_scatter", "reduce_scatter_single",
         "reduce_scatter_single_coalesced", "gather", "scatter", "alltoall", "all_to_all_single", "send", "recv",
         "recv_anysource"}


def operations(group, rank, size):
    """Name, how many tensors of (3, 2) or a multiple results and inputs have, and the call."""
    def several(call):
        def calls(outs, ins):
            with dist._coalescing_manager():
                for out, given in zip(outs, ins or outs):
                    call(out, given)
        return calls

    def passed_on(source):
        def call(outs, ins):
            if rank == 0:
                dist.send(ins[0], 1)
            elif rank == 1:
                dist.recv(outs[0], source)
        return call

    one, all_of_them, receives = [1], [1] * size, [1] * (rank == 1)
    at_root = all_of_them if rank == 1 else []
    largest, product = dist.ReduceOp.MAX, dist.ReduceOp.PRODUCT
    return [
        ("all_reduce", one, [], lambda outs, ins: dist.all_reduce(outs[0])),
        ("all_reduce", one, [], lambda outs, ins: dist.all_reduce(outs[0], op=largest)),
        ("all_reduce", one, [], lambda outs, ins: dist.all_reduce(outs[0], op=product)),
        ("all_reduce_coalesced", [1, 2], [], several(lambda out, _: dist.all_reduce(out))),
        ("all_reduce_coalesced", [1, 2], [], several(lambda out, _: dist.all_reduce(out, op=product))),
        ("reduce", one, [], lambda outs, ins: dist.reduce(outs[0], 1)),
        ("broadcast", one, [], lambda outs, ins: dist.broadcast(outs[0], 2)),
        ("all_gather", all_of_them, one, lambda outs, ins: dist.all_gather(outs, ins[0])),
        ("all_gather_coalesced", all_of_them, one,
         lambda outs, ins: group.allgather_coalesced([[out] for out in outs], ins).wait()),
        ("all_gather_into_tensor", [size], one, lambda outs, ins: dist.all_gather_into_tensor(outs[0], ins[0])),
        ("all_gather_into_tensor, several", [size, 2 * size], [1, 2], several(dist.all_gather_into_tensor)),
        ("reduce_scatter", one, all_of_them, lambda outs, ins: dist.reduce_scatter(outs[0], ins)),
        ("reduce_scatter", one, all_of_them, lambda outs, ins: dist.reduce_scatter(outs[0], ins, op=product)),
        ("reduce_scatter_tensor", one, [size], lambda outs, ins: dist.reduce_scatter_tensor(outs[0], ins[0])),
        ("reduce_scatter_tensor", one, [size],
         lambda outs, ins: dist.reduce_scatter_tensor(outs[0], ins[0], op=product)),
        ("reduce_scatter_tensor, several", [1, 2], [size, 2 * size], several(dist.reduce_scatter_tensor)),
        ("gather", at_root, one, lambda outs, ins: dist.gather(ins[0], outs or None, 1)),
        ("scatter", one, at_root, lambda outs, ins: dist.scatter(outs[0], ins or None, 1)),
        ("all_to_all", all_of_them, all_of_them, dist.all_to_all),
        ("all_to_all_single", one, one, lambda outs, ins: dist.all_to_all_single(outs[0], ins[0])),
        ("recv", receives, [1] * (rank == 0), passed_on(0)),
        ("recv of any", receives, [1] * (rank == 0), passed_on(None)),
    ]


def tensors(counts, rank, dtype, first):
    return [torch.arange(first + i, first + i + 6 * n).reshape(3 * n, 2).add(rank).to(dtype) % 5 + 1
            for i, n in enumerate(counts)]


def laid(layout, values):
    """The same values in another layout, and the memory in which they lie."""
    rows, columns = values.shape
    if layout == "transposed":
        memory = torch.full((columns, rows), 99, dtype=values.dtype)
        tensor = memory.t()
    elif layout == "gaps":
        memory = torch.full((rows, columns, 2), 99, dtype=values.dtype)
        tensor = memory[:, :, 0]
    else:
        memory = tensor = torch.empty_like(values)
    return tensor.copy_(values), memory


def same_values(rank, size, where, dtype, layouts, profile):
    import gradnic.torch
    from gradnic._backend import GradnicBackend

    seen = set()

    def noted(name):
        there = getattr(GradnicBackend, name)

        def call(*arguments, **named):
            seen.add(name)
            return there(*arguments, **named)
        setattr(GradnicBackend, name, call)

    for name in CALLS:
        noted(name)
    group = begin(rank, size, where, pg_options=gradnic.torch.Options(profile))
    layout = layouts[rank]
    for name, outs, ins, call in operations(group, rank, size):
        plain = tensors(outs, rank, dtype, 1), tensors(ins, rank, dtype, 2)
        results, given = [[laid(layout, t) for t in each] for each in plain]
        call(*plain)
        call([t for t, _ in results], [t for t, _ in given])
        if name != "reduce" or rank == 1:
            for want, (got, _) in zip(plain[0], results):
                assert got.tolist() == want.tolist(), name
        if layout == "gaps":
            assert all((memory[:, :, 1] == 99).all() for _, memory in results), f"{name} wrote into gaps"
        for want, (got, _) in zip(plain[1], given):
            assert torch.equal(got, want), f"{name} changed its input"
    assert rank != 1 or seen == CALLS - {"send"}, CALLS - seen
    dist.destroy_process_group()


@pytest.mark.parametrize("dtype, profile", [(torch.float32, "dense"), (torch.float32, "none"), (torch.int8, "dense")])
@pytest.mark.parametrize("layouts", [("transposed",) * 3, ("gaps",) * 3, ("transposed", "contiguous", "gaps"),
                                     ("contiguous", "transposed", "contiguous")])
def test_values_do_not_depend_on_the_layout(dtype, profile, layouts):
    run(3, same_values, dtype, layouts, profile)


def one_place(rank, size, where, dtype):
    group = begin(rank, size, where)
    for name, outs, ins, call in operations(group, rank, size):
        shapes = [t.shape for t in tensors(outs, rank, dtype, 1)]
        expanded = [torch.zeros(1, dtype=dtype).expand(shape) for shape in shapes]
        shifted = [torch.zeros(shape[0] + 1, dtype=dtype).as_strided(shape, (1, 1)) for shape in shapes]
        for results in (expanded, shifted) if shapes else ():
            with pytest.raises(ValueError, match=r"lie in one place \(expand\(\)\?\): clone it"):
                call(results, tensors(ins, rank, dtype, 2))
    t = torch.ones(3, dtype=dtype)
    dist.all_reduce(t)
    assert t.tolist() == [3] * 3, "the group lives"
    dist.destroy_process_group()


@pytest.mark.parametrize("dtype", [torch.float32, torch.int8])
def test_results_that_would_lie_in_one_place_are_refused_at_once(dtype):
    run(3, one_place, dtype)


def later(rank, size, where):
    """What Gloo does with copies, without waiting at once."""
    begin(rank, size, where)

    def begun():
        t = torch.full((4, 6), rank + 1, dtype=torch.int8).t()
        return t, dist.all_reduce(t, async_op=True)

    t, work = begun()
    assert work.wait(timedelta(seconds=60)) and (t == 6).all() and work.exception() is None
    t, work = begun()
    deadline = time.monotonic() + 60
    while not work.is_completed():
        assert time.monotonic() < deadline
        time.sleep(0.001)
    assert (t == 6).all() and work.is_success()
    t, work = begun()
    assert work.get_future().then(lambda future: future.value()[0] is t and int(t.min()) == 6).wait()
    t = torch.zeros(4, 6).t()
    if rank == 0:
        work = dist.irecv(t)
        with pytest.raises(RuntimeError):
            work.result()  # Gloo's receives have none, and nothing has come yet
        assert work.wait() and work.source_rank() == 2 and (t == 7).all()
    elif rank == 2:
        dist.send(torch.full((6, 4), 7.0), 0)
    dist.barrier()
    dist.destroy_process_group()


def test_results_come_to_their_places_when_somebody_asks():
    run(3, later)
