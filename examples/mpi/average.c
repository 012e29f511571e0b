// SPDX-License-Identifier: Apache-2.0
// A program of MPI: all ranks average a gradient. It knows nothing of gradnic.
//
//     mpicc average.c -o average -lm
//     mpirun -n 4 env LD_PRELOAD=/usr/local/lib/libgradnic-mpi-openmpi.so ./average
#include <mpi.h>

#include <math.h>
#include <stdio.h>

enum { COUNT = 1 << 20 };

int main(int argc, char **argv)
{
    static float gradient[COUNT];
    int rank, size, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < COUNT; i++) gradient[i] = sinf((float)i) * (float)(rank + 1);
    MPI_Allreduce(MPI_IN_PLACE, gradient, COUNT, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < COUNT; i++) {
        gradient[i] /= (float)size;
        // The bound of docs/mpi.md's examples; a sum without compression is nearer by far.
        if (fabsf(gradient[i] - sinf((float)i) * (float)(size + 1) / 2) > 0x1p-10f) wrong++;
    }
    if (!rank)
        printf("average of %d ranks: gradient[1] is %.4f, %d values are off\n", size, (double)gradient[1], wrong);
    MPI_Finalize();
    return wrong != 0;
}
