! SPDX-License-Identifier: Apache-2.0
! The same as average_f08.f90, as older programs are: with mpif.h and double precision.
!
!     mpifort -fallow-argument-mismatch average_mpif.f90 -o average_mpif
!     mpirun -n 4 env LD_PRELOAD=/usr/local/lib/libgradnic-mpi-openmpi.so ./average_mpif
program average
    implicit none
    include 'mpif.h'
    integer, parameter :: values = 2**20
    double precision gradient(values), shares(values), wave(values)
    integer rank, ranks, i, wrong, code
    call MPI_INIT(code)
    call MPI_COMM_RANK(MPI_COMM_WORLD, rank, code)
    call MPI_COMM_SIZE(MPI_COMM_WORLD, ranks, code)
    do i = 1, values
        wave(i) = sin(dble(i - 1))
        shares(i) = wave(i)*(rank + 1)
    end do
    call MPI_ALLREDUCE(shares, gradient, values, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, code)
    call MPI_ALLREDUCE(MPI_IN_PLACE, shares, values, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, code)
    wrong = 0
    do i = 1, values
        if (gradient(i) /= shares(i)) wrong = wrong + 1
        if (abs(gradient(i) - wave(i)*ranks*(ranks + 1)/2) > 1d-9) wrong = wrong + 1
    end do
    if (rank == 0) print '(a,i0,a,f7.4)', 'average of ', ranks, ' ranks: gradient(2) is ', gradient(2)/ranks
    call MPI_FINALIZE(code)
    if (wrong /= 0) stop 1
end program average
