// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_FILES_TENSOR_FILE_H
#define GRADNIC_TOOLS_FILES_TENSOR_FILE_H
/// Files that hold many tensors and can be read at any place: .npz, .safetensors, .pt.

#include "input.h"
#include "net/error.h"
#include "tensor.h"

typedef enum gn_tensor_format { GN_TENSORS_NPZ, GN_TENSORS_SAFETENSORS, GN_TENSORS_TORCH } gn_tensor_format;

typedef struct gn_tensor_file gn_tensor_file;

/// Takes the stream of `input`, which must be a file, and lists its tensors. `input` stays open
/// for its name, and must live as long.
gn_status gn_tensor_file_open(gn_tensor_file **file, gn_tensor_format format, gn_input *input, gn_tensor_list *list,
                              gn_error *error);

/// Opens a tensor of the list, at its first value. Close it before the next one is opened.
gn_status gn_tensor_file_read(gn_tensor_file *file, const gn_tensor *tensor, gn_input **input, gn_error *error);

/// Behind the tensor's last value: finds damage of what lies behind it in the storage of a .pt.
/// Other files have nothing there.
gn_status gn_tensor_file_end(gn_tensor_file *file, const gn_tensor *tensor, gn_input *input, gn_error *error);

/// NULL is allowed.
void gn_tensor_file_close(gn_tensor_file *file);

#endif
