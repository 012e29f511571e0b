#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How fast the kernels of gradnic.gpu are, as a share of the speed of the GPU's memory.

    python bench/python/gpu.py [--values 64Mi] [--k 6] [--json]

The speed of the memory is that of a copy of the same values: bytes read and written, by time. The
kernels' least traffic is their values once and their stream once; the share says how near they
come. Each figure is the median of 20 runs, measured on the GPU. The bytes are compared with those
of the C codec first. Without a GPU there is nothing to measure, and it says so (exit code 3).
"""

import argparse
import json
import statistics
import sys

RUNS, NO_GPU = 20, 3


def size(text):
    """A number, such as 64Mi."""
    unit = {"Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30}.get(text[-2:])
    return int(text[:-2]) * unit if unit else int(text)


def median_seconds(torch, call):
    """The median time of a call, by the GPU's own clock."""
    for _ in range(3):
        call()
    times = []
    for _ in range(RUNS):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        call()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) / 1000)
    return statistics.median(times)


def datasets(torch, count):
    """Values by name: random ones, of which a bound relative to the RMS keeps some bits."""
    generator = torch.Generator("cuda").manual_seed(1)
    normal = torch.randn(count, device="cuda", generator=generator)
    heavy = normal * torch.exp(2 * torch.randn(count, device="cuda", generator=generator))
    heavy /= heavy.square().mean().sqrt()
    return {"normal": normal, "heavy tails": heavy, "zeros": torch.zeros(count, device="cuda")}


def measure(torch, gradnic, gpu, name, values, k, copy):
    """A row for each kernel."""
    codec, count = gpu.Codec(k), values.numel()
    stream = codec.encode(values)
    part = min(count, 1 << 22)
    if bytes(codec.encode(values[:part]).bytes.cpu().numpy()) != gradnic.Codec("dense", k).encode(values[:part].cpu()):
        raise SystemExit("gpu.py: the bytes are not those of the C codec: the figures would mean nothing")
    out, sums = torch.empty_like(values), torch.zeros_like(values)
    host = torch.empty(stream.nbytes, dtype=torch.uint8, pin_memory=True)
    residual = torch.zeros_like(values)
    calls = {"encode": (lambda: codec.encode(values), 4 * count),
             "encode, with feedback": (lambda: codec._encode(values, residual, shift=1, whole=True), 12 * count),
             "decode": (lambda: codec.decode(stream, out), 4 * count),
             "add": (lambda: codec.add(stream, sums), 8 * count)}
    rows = []
    for what, (call, traffic) in calls.items():
        seconds = median_seconds(torch, call)
        speed = (traffic + stream.nbytes) / seconds
        rows.append({"data": name, "what": what, "ratio": 4 * count / stream.nbytes, "microseconds": 1e6 * seconds,
                     "values_GBps": 4e-9 * count / seconds, "share_of_memory": speed / copy})
    crossing = median_seconds(torch, lambda: host.copy_(stream.bytes, non_blocking=True))
    rows.append({"data": name, "what": "stream to the host", "ratio": 4 * count / stream.nbytes,
                 "microseconds": 1e6 * crossing, "values_GBps": 4e-9 * count / crossing, "share_of_memory": None})
    return rows


def main():
    """The program."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--values", type=size, default=1 << 26, help="values of a tensor (default: 64Mi, 256 MiB)")
    parser.add_argument("--k", type=int, default=6, help="the bound is 2^-K (default: 6)")
    parser.add_argument("--json", action="store_true", help="print rows as JSON")
    given = parser.parse_args()
    try:
        import torch
    except ImportError:
        print("gpu.py: PyTorch is not installed: nothing was measured", file=sys.stderr)
        return NO_GPU
    if not torch.cuda.is_available():
        print("gpu.py: there is no GPU here that PyTorch can use: nothing was measured", file=sys.stderr)
        return NO_GPU
    import gradnic
    from gradnic import gpu

    if not gpu.available():
        print("gpu.py: Triton is not installed: nothing was measured", file=sys.stderr)
        return NO_GPU
    data = datasets(torch, given.values)
    out = torch.empty(given.values, device="cuda")
    copy = 8 * given.values / median_seconds(torch, lambda: out.copy_(data["normal"]))
    rows = [row for name, values in data.items() for row in measure(torch, gradnic, gpu, name, values, given.k, copy)]
    device = torch.cuda.get_device_name()
    if given.json:
        print(json.dumps({"device": device, "values": given.values, "k": given.k, "copy_GBps": copy / 1e9, "rows": rows}))
        return 0
    print(f"{device}: a copy moves {copy / 1e9:.0f} GB/s. {given.values} values, bound 2^-{given.k}")
    print(f"{'data':12} {'what':22} {'ratio':>7} {'us':>9} {'GB/s':>7} {'of the memory':>14}")
    for row in rows:
        share = "" if row["share_of_memory"] is None else f"{100 * row['share_of_memory']:.0f} %"
        print(f"{row['data']:12} {row['what']:22} {row['ratio']:7.1f} {row['microseconds']:9.1f} {row['values_GBps']:7.0f} "
              f"{share:>14}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
