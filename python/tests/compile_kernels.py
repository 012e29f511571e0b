# SPDX-License-Identifier: Apache-2.0
"""Compiles the kernels for NVIDIA's GPUs of the architectures given, such as 80 and 90.

No GPU is needed. What must not be in the machine code: arithmetic that flushes subnormals, or that
divides approximately.
"""

import re
import sys

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from gradnic import _kernels as kernels

FLOATS, HALVES, BYTES, SHORTS, INTS, LONGS = "*fp32", "*bf16", "*u8", "*u16", "*i32", "*i64"


def compiled(kernel, types, constants, architecture):
    names = kernel.arg_names
    types = iter(types)
    signature = {name: "constexpr" if name in constants else next(types) for name in names}
    source = ASTSource(fn=kernel, signature=signature,
                       constexprs={(names.index(name),): value for name, value in constants.items()})
    made = triton.compile(source, target=GPUTarget("cuda", architecture, 32),
                          options={"num_warps": 4, "enable_fp_fusion": False})
    wrong = re.findall(r"\w+\.ftz\S*|div\.(?:full|approx)\S*|fma\.\S*f32", made.asm["ptx"])
    if wrong:
        raise SystemExit(f"{kernel.fn.__name__} for {architecture} has {sorted(set(wrong))}")
    print(f"{kernel.fn.__name__} for {architecture}: {len(made.asm['cubin'])} bytes")


for architecture in map(int, sys.argv[1:]):
    for values, full in ((FLOATS, False), (HALVES, True)):
        how = {"SCALED": full, "FEEDBACK": full, "ROUND": full, "PARTS": 1}
        compiled(kernels.survey, [values, FLOATS, "i32", *["fp32"] * 3, INTS, INTS, LONGS], how, architecture)
        compiled(kernels.pack, [values, FLOATS, "i32", *["fp32"] * 4, INTS, INTS, LONGS, BYTES, LONGS], how, architecture)
        compiled(kernels.unpack, [BYTES, "i64", SHORTS, LONGS, "i32", *["fp32"] * 3, values],
                 {"ADD": not full, "FINISH": full, "PARTS": 1}, architecture)
    compiled(kernels.carries, [INTS, INTS, LONGS, INTS, "i32"], {"BLOCK": 1024}, architecture)
    compiled(kernels.walk, [BYTES, "i64", LONGS, "i32", "i32", BYTES, SHORTS, LONGS], {"BLOCK": 64}, architecture)
    compiled(kernels.exponents, [FLOATS, "i32", LONGS], {"BLOCK": 4096}, architecture)
