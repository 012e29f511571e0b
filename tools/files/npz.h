// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_FILES_NPZ_H
#define GRADNIC_TOOLS_FILES_NPZ_H
/// NumPy's .npz files: a zip archive with a .npy file for each array. The array's name is the
/// member's without ".npy". Source: numpy/lib/npyio.py.

#include <stdio.h>

#include "input.h"
#include "net/error.h"
#include "npy.h"
#include "tensor.h"
#include "zip_reader.h"

/// Lists the arrays. Members that are not .npy are left out, as NumPy does not read them either.
gn_status gn_npz_list(gn_zip *zip, const char *file, gn_tensor_list *list, gn_error *error);

/// Opens an array of the list, at its first value.
gn_status gn_npz_read(gn_zip *zip, const gn_tensor *tensor, gn_input **input, gn_error *error);

/// A .npz file that is being written: stored members, in order.
typedef struct gn_npz_writer gn_npz_writer;

/// `stream` is empty and can seek. The caller closes it. `name` is borrowed, for errors.
gn_status gn_npz_writer_new(gn_npz_writer **writer, FILE *stream, const char *name, gn_error *error);

/// Begins an array of binary32. Then come as many values as its shape says.
gn_status gn_npz_begin(gn_npz_writer *writer, const gn_tensor *tensor, gn_error *error);
gn_status gn_npz_write(gn_npz_writer *writer, const void *values, size_t bytes, gn_error *error);

/// Ends the archive and frees `writer` in any case.
gn_status gn_npz_finish(gn_npz_writer *writer, gn_error *error);

/// Frees a writer whose file is given up. NULL is allowed.
void gn_npz_abort(gn_npz_writer *writer);

#endif
