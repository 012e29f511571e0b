# SPDX-License-Identifier: Apache-2.0
"""Trains on handwritten digits with Hugging Face accelerate.

    torchrun --nproc-per-node 2 examples/pytorch/accelerated.py

What is gradnic's: one line. accelerate takes the group that is there. On a CPU it would make one of
Gloo, whatever backend it is told.
"""

import torch
import torch.distributed as dist
from accelerate import Accelerator
from digits import accuracy, data, network, say_sent
from torch.utils.data import DataLoader, TensorDataset


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gradnic")
    accelerator = Accelerator(cpu=True)

    torch.manual_seed(1)
    model = network()
    model, optimizer, loader = accelerator.prepare(
        model, torch.optim.Adam(model.parameters(), 1e-3),
        DataLoader(TensorDataset(*data("train")), batch_size=32, shuffle=True))
    for _ in range(10):
        for inputs, wanted in loader:
            optimizer.zero_grad()
            accelerator.backward(torch.nn.functional.cross_entropy(model(inputs), wanted))
            optimizer.step()

    right = accuracy(model)
    if accelerator.is_main_process:
        print(f"accelerate, {dist.get_backend()}: accuracy {right:.2f} %, {accelerator.num_processes} ranks")
        say_sent(dist.group.WORLD.backend.communicator)
    accelerator.end_training()


if __name__ == "__main__":
    main()
