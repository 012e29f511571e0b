// SPDX-License-Identifier: Apache-2.0
#include "mpi/kinds.h"

typedef struct row {
    MPI_Datatype type;
    gn_mpi_kind kind;
} row;

bool gn_mpi_kind_of(MPI_Datatype type, gn_mpi_kind *kind)
{
    // Sums of integers wrap, so signed and unsigned ones have the same bits.
    // Not static: in some MPIs a type is no constant. The usual ones come first.
    const row rows[] = {
        {MPI_FLOAT, {GN_F32, 1, 4}},
        {MPI_DOUBLE, {GN_F64, 1, 8}},
        {MPI_INT, {GN_I32, 1, 4}},
        {MPI_UNSIGNED, {GN_I32, 1, 4}},
        {MPI_INT32_T, {GN_I32, 1, 4}},
        {MPI_UINT32_T, {GN_I32, 1, 4}},
        {MPI_LONG, {sizeof(long) == 8 ? GN_I64 : GN_I32, 1, sizeof(long)}},
        {MPI_UNSIGNED_LONG, {sizeof(long) == 8 ? GN_I64 : GN_I32, 1, sizeof(long)}},
        {MPI_LONG_LONG, {GN_I64, 1, 8}},
        {MPI_UNSIGNED_LONG_LONG, {GN_I64, 1, 8}},
        {MPI_INT64_T, {GN_I64, 1, 8}},
        {MPI_UINT64_T, {GN_I64, 1, 8}},
        {MPI_INT8_T, {GN_U8, 1, 1}},
        {MPI_UINT8_T, {GN_U8, 1, 1}},
        {MPI_SIGNED_CHAR, {GN_U8, 1, 1}},
        {MPI_UNSIGNED_CHAR, {GN_U8, 1, 1}},
        {MPI_C_FLOAT_COMPLEX, {GN_F32, 2, 8}},
        {MPI_C_DOUBLE_COMPLEX, {GN_F64, 2, 16}},
        // Fortran's. Where no Fortran compiler was found, these are MPI_DATATYPE_NULL.
        {MPI_REAL, {GN_F32, 1, 4}},
        {MPI_REAL4, {GN_F32, 1, 4}},
        {MPI_DOUBLE_PRECISION, {GN_F64, 1, 8}},
        {MPI_REAL8, {GN_F64, 1, 8}},
        {MPI_INTEGER, {GN_I32, 1, 4}},
        {MPI_INTEGER4, {GN_I32, 1, 4}},
        {MPI_INTEGER8, {GN_I64, 1, 8}},
        {MPI_COMPLEX, {GN_F32, 2, 8}},
        {MPI_DOUBLE_COMPLEX, {GN_F64, 2, 16}},
#ifdef MPIX_C_FLOAT16
        {MPIX_C_FLOAT16, {GN_F16, 1, 2}},
#endif
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].type != type) continue;
        *kind = rows[i].kind;
        int bytes;  // Fortran's types are as large as its compiler was told
        return type != MPI_DATATYPE_NULL && !PMPI_Type_size(type, &bytes) && (size_t)bytes == kind->bytes;
    }
    return false;
}
