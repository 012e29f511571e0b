// SPDX-License-Identifier: Apache-2.0
#include "mpi/kinds.h"

typedef struct row {
    MPI_Datatype type;
    gn_mpi_kind kind;
} row;

bool gn_mpi_kind_of(MPI_Datatype type, MPI_Op op, gn_mpi_kind *kind)
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
#ifdef MPIX_C_FLOAT16
        {MPIX_C_FLOAT16, {GN_F16, 1, 2}},
#endif
    };
    if (op != MPI_SUM) return false;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].type != type) continue;
        *kind = rows[i].kind;
        return true;
    }
    return false;
}
