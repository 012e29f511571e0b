// SPDX-License-Identifier: Apache-2.0
// Handles of Open MPI are pointers, and those of MPICH numbers. So in a program of the other MPI
// nothing can be passed on. This library sees that before the program begins, and says it.
//
// The standard ABI has one kind of handle for all MPIs.
#include <mpi.h>

#ifndef MPI_ABI_VERSION
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifdef OPEN_MPI
static const char own[] = "openmpi", other[] = "mpich";
static const char *const strangers[] = {"MPICH", "MVAPICH", "Intel(R) MPI"};
#else
static const char own[] = "mpich", other[] = "openmpi";
static const char *const strangers[] = {"Open MPI", "Spectrum MPI"};
#endif

/// MPI allows this call before MPI_Init(), and its arguments are the same everywhere.
__attribute__((constructor)) static void look(void)
{
    char text[16384] = "";  // of any MPI; MPI_MAX_LIBRARY_VERSION_STRING is this one's
    int length = 0;
    if (PMPI_Get_library_version(text, &length)) return;
    for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++) {
        if (!strstr(text, strangers[i])) continue;
        fprintf(stderr,
                "gradnic: libgradnic-mpi-%s.so is preloaded into a program of %s: preload libgradnic-mpi-%s.so\n", own,
                strangers[i], other);
        _exit(2);
    }
}
#endif
