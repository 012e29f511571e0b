# SPDX-License-Identifier: Apache-2.0
"""A program of mpi4py and NumPy: all ranks average a gradient. It knows nothing of gradnic.

mpirun -n 4 env LD_PRELOAD=/usr/local/lib/libgradnic-mpi-openmpi.so python3 average.py
"""

import sys

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
wave = np.sin(np.arange(1 << 20, dtype=np.float32))
gradient = wave * np.float32(comm.rank + 1)
comm.Allreduce(MPI.IN_PLACE, gradient, op=MPI.SUM)
gradient /= comm.size
wrong = int(np.sum(np.abs(gradient - wave * np.float32((comm.size + 1) / 2)) > 2**-10))
if comm.rank == 0:
    print(f"average of {comm.size} ranks: gradient[1] is {gradient[1]:.4f}, {wrong} values are off")
sys.exit(wrong != 0)
