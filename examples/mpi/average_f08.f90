! SPDX-License-Identifier: Apache-2.0
! A program of MPI in Fortran 2008: all ranks average a gradient. It knows nothing of gradnic.
!
!     mpifort average_f08.f90 -o average_f08
!     mpirun -n 4 env LD_PRELOAD=/usr/local/lib/libgradnic-mpi-openmpi.so ./average_f08
program average
    use mpi_f08
    implicit none
    integer, parameter :: count = 2**20
    real, allocatable :: gradient(:), shares(:), wave(:)
    integer :: rank, ranks, i, wrong
    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    allocate (gradient(count), wave(count))
    do i = 1, count
        wave(i) = sin(real(i - 1))
    end do
    shares = wave*(rank + 1)
    call MPI_Allreduce(shares, gradient, count, MPI_REAL, MPI_SUM, MPI_COMM_WORLD)
    call MPI_Allreduce(MPI_IN_PLACE, shares, count, MPI_REAL, MPI_SUM, MPI_COMM_WORLD)
    wrong = merge(0, 1, all(gradient == shares))
    gradient = gradient/ranks
    wrong = wrong + merge(0, 1, all(abs(gradient - wave*(ranks + 1)/2) <= 2.0**(-10)))
    if (rank == 0) print '(a,i0,a,f7.4)', 'average of ', ranks, ' ranks: gradient(2) is ', gradient(2)
    call MPI_Finalize()
    if (wrong /= 0) error stop 'values are off'
end program average
