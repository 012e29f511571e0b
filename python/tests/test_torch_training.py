# SPDX-License-Identifier: Apache-2.0
"""DDP, its hooks and what else trains over the backend. Skipped where PyTorch is not installed."""

import os
import re
import subprocess
import sys

import pytest
from ranks import run
from torch_ranks import begin, digest, model, options, train

torch = pytest.importorskip("torch")
dist = torch.distributed


def ddp(rank, size, rendezvous, backend, profile, hook):
    if backend == "gradnic":
        begin(rank, size, rendezvous, pg_options=options(profile))
    else:
        store = dist.FileStore(rendezvous.replace("file://", "") + "-store", size)
        dist.init_process_group(backend, rank=rank, world_size=size, store=store)
    import gradnic

    wrapped = torch.nn.parallel.DistributedDataParallel(model(), bucket_cap_mb=0.02)
    state = None
    if hook == "fp16":
        from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import fp16_compress_hook

        wrapped.register_comm_hook(None, fp16_compress_hook)
    elif hook == "powersgd":
        from torch.distributed.algorithms.ddp_comm_hooks import powerSGD_hook as power

        wrapped.register_comm_hook(power.PowerSGDState(None, 2, start_powerSGD_iter=2), power.powerSGD_hook)
    elif hook == "gradnic":
        state = gradnic.State(k=4)
        wrapped.register_comm_hook(state, gradnic.hook)
    elif hook == "ratio":
        state = gradnic.RatioState(every=3)
        wrapped.register_comm_hook(state, gradnic.ratio_hook)
    train(wrapped, rank)
    weights = torch.cat([p.detach().reshape(-1) for p in wrapped.parameters()])
    more = None
    if hook == "ratio":
        path = f"{rendezvous.replace('file://', '')}-table{rank}"
        state._write(path)
        more = state.table(), state.total(), open(path).read() if os.path.exists(path) else None
    if hook == "gradnic":
        again = gradnic.State(k=4)
        again.load_state_dict(state.state_dict())
        more = state.communicator.stats["sent_bytes"] / state.communicator.stats["sent_wire_bytes"], len(again._loaded)
        state.close()
    dist.barrier()
    dist.destroy_process_group()
    return weights.tolist(), more


def resumed(rank, size, rendezvous, whole):
    """Trains 4 steps and 4 more, as one run or with all that is kept in a checkpoint between."""
    import io

    import gradnic

    begin(rank, size, rendezvous)
    network, data = model(), torch.Generator().manual_seed(rank)
    state = gradnic.State(k=2)
    for part in range(2):
        if part == 0 or not whole:
            if part:
                kept = io.BytesIO()
                torch.save({"network": network.state_dict(), "hook": state.state_dict()}, kept)
                state.close()
                assert len(state.state_dict()["scales"]) > 1, "it has them when it is closed, too"
                saved = torch.load(io.BytesIO(kept.getvalue()))
                network, state = model(), gradnic.State(k=2)
                network.load_state_dict(saved["network"])
                state.load_state_dict(saved["hook"])
            # with unused parameters allowed, DDP leaves its buckets as they are
            wrapped = torch.nn.parallel.DistributedDataParallel(network, bucket_cap_mb=0.02, find_unused_parameters=True)
            wrapped.register_comm_hook(state, gradnic.hook)
        optimizer = torch.optim.SGD(wrapped.parameters(), 0.1)
        for _ in range(4):
            x, y = torch.randn(16, 64, generator=data), torch.randint(10, (16,), generator=data)
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(wrapped(x), y).backward()
            optimizer.step()
    with pytest.raises(gradnic.InvalidError, match="before the first step"):
        state.load_state_dict(state.state_dict())
    state.close()
    bits = digest(*network.parameters())
    dist.destroy_process_group()
    return bits


def test_a_checkpoint_of_the_hook_goes_on_with_the_same_bits():
    assert len({*run(2, resumed, True), *run(2, resumed, False)}) == 1


def shared_state(rank, size, rendezvous):
    """What a second model gets that has the same state: while the first lives, and then."""
    import gc

    import gradnic

    begin(rank, size, rendezvous)
    state, said = gradnic.State(k=4), []

    def step(network):
        wrapped = torch.nn.parallel.DistributedDataParallel(network)
        wrapped.register_comm_hook(state, gradnic.hook)
        for _ in range(3):  # DDP changes its buckets after the first
            wrapped(torch.ones(1, 64)).sum().backward()

    first = model()
    step(first)
    step(first)  # wrapped anew, it is the same model
    second = model()
    try:
        step(second)
    except Exception as error:
        said.append(str(error))
    del first
    gc.collect()
    step(second)
    state.close()
    dist.destroy_process_group()
    return said


def test_a_state_is_for_one_model():
    for said in run(2, shared_state):
        assert len(said) == 1 and "give each model a State of its own" in said[0]


def alike(rank, size, rendezvous):
    """Two parameters of one shape that are used in another order than they are registered."""
    import gradnic

    class Two(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = torch.nn.Parameter(torch.zeros(8)), torch.nn.Parameter(torch.zeros(8))

        def forward(self, a, b):  # they are the gradients
            used = (self.a * a).sum()
            return used + (self.b * b).sum()

    def steps(state, gradients):
        network = Two()
        wrapped = torch.nn.parallel.DistributedDataParallel(network)
        wrapped.register_comm_hook(state, gradnic.hook)
        for gradient in gradients:
            network.zero_grad()
            wrapped(torch.full((8,), gradient), torch.full((8,), 0.02)).backward()
            assert (network.b.grad == 0).all(), "b has what was left of a"
        return network  # its parameters tell the state that it is the same model

    begin(rank, size, rendezvous)
    state = gradnic.State(k=2, scale="none")
    network = steps(state, [0.24, 0, 0])  # a bound of 0.25: nothing is sent of 0.24 and 0.02
    saved = state.state_dict()
    assert any(residual.ne(0).any() for _, residual in saved["residuals"])
    state.close()
    del network
    again = gradnic.State(k=2, scale="none")
    again.load_state_dict(saved)
    steps(again, [0])
    again.close()
    dist.destroy_process_group()


def test_residuals_stay_with_their_parameters():
    run(2, alike)


@pytest.fixture(scope="module")
def by_gloo():
    return run(2, ddp, "gloo", "none", None)[0][0]


def distance(results, reference):
    assert results[0][0] == results[1][0], "both ranks have the same weights"
    return max(abs(a - b) for a, b in zip(results[0][0], reference))


def test_ddp_uncompressed_is_gloo(by_gloo):
    assert distance(run(2, ddp, "gradnic", "none", None), by_gloo) < 1e-5


@pytest.mark.parametrize("backend, hook", [("gradnic", None), ("gradnic", "fp16"), ("gradnic", "gradnic"),
                                           ("gloo", "gradnic")])
def test_ddp_compressed_is_near(by_gloo, backend, hook):
    results = run(2, ddp, backend, "dense", hook)
    assert 1e-6 < distance(results, by_gloo) < 0.02
    if hook == "gradnic":
        assert results[0][1][1] > 0, "no residuals in state_dict"


def test_powersgd_which_waits_in_callbacks():
    results = run(2, ddp, "gradnic", "none", "powersgd")
    assert results[0][0] == results[1][0]


def test_ratio_hook_changes_nothing(by_gloo):
    results = run(2, ddp, "gradnic", "none", "ratio")
    assert distance(results, by_gloo) < 1e-5
    table, total, written = results[0][1]
    assert "2^-4" in table and table.count("\n") >= 3
    assert written == table and results[1][1][2] is None  # one rank writes it
    assert total[2] > total[4] > total[10] > 1


def sharded(rank, size, rendezvous):
    begin(rank, size, rendezvous)
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("replicate", "shard"),
                            backend_override={"replicate": "gradnic", "shard": "gloo"})
    assert dist.get_backend(mesh.get_group("replicate")) == "gradnic"
    whole = model()
    fully_shard(whole, mesh=mesh)
    train(whole, rank, 4)
    plain = model()
    fully_shard(plain)
    train(plain, rank, 4)
    bits = digest(*[p.full_tensor() for p in whole.parameters()], *[p.full_tensor() for p in plain.parameters()])
    dist.destroy_process_group()
    return bits


def example(*command, deadline=900):
    """Runs a program. Returns its accuracy in percent, and what it prints."""
    from conftest import TREE

    done = subprocess.run(command, capture_output=True, text=True, timeout=deadline, cwd=TREE,
                          env={**os.environ, "PYTHON": sys.executable, "OMP_NUM_THREADS": "1"})
    assert done.returncode == 0, done.stdout + done.stderr
    return float(re.search(r"accuracy ([0-9.]+) %", done.stdout).group(1)), done.stdout


@pytest.mark.parametrize("ranks, program, arguments", [
    (2, "digits", ("--epochs", "10")),
    pytest.param(4, "digits", ("--epochs", "10", "--hook", "4"), marks=pytest.mark.long),
    pytest.param(4, "diloco", ("--epochs", "15"), marks=pytest.mark.long),
    pytest.param(2, "accelerated", (), marks=pytest.mark.long),
])
def test_the_examples_learn_the_digits(ranks, program, arguments):
    if program == "accelerated":
        pytest.importorskip("accelerate")
    accuracy, printed = example(sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node",
                                str(ranks), f"examples/pytorch/{program}.py", *arguments)
    values, sent = map(float, re.search(r"sent ([0-9.]+) MB of values as ([0-9.]+) MB", printed).groups())
    assert accuracy > 93 and 3 < values / sent < 12, printed


@pytest.mark.long
def test_the_example_with_two_sites():
    from conftest import TREE

    if subprocess.run(["bash", "-c", "source scripts/testbed && testbed_possible"], cwd=TREE, capture_output=True).returncode:
        pytest.skip("no network namespaces here")
    accuracy, printed = example("examples/pytorch/sites", "examples/pytorch/hsdp.py", "--epochs", "3")
    assert accuracy > 70 and "between 2 sites" in printed, printed


def test_fsdp2_and_hsdp():
    assert len(set(run(4, sharded))) == 1
