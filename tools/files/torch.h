// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_FILES_TORCH_H
#define GRADNIC_TOOLS_FILES_TORCH_H
/// Files of torch.save() (PyTorch 1.6 and later): a zip archive with a pickle that names the
/// tensors, and a member for each storage. pickle.h reads the pickle without running any of it.
/// Source: torch/serialization.py.

#include "input.h"
#include "net/error.h"
#include "tensor.h"
#include "zip_reader.h"

/// Lists the tensors in the order of the pickle.
gn_status gn_torch_list(gn_zip *zip, const char *file, gn_tensor_list *list, gn_error *error);

/// Opens a tensor of the list, at its first value.
gn_status gn_torch_read(gn_zip *zip, const gn_tensor *tensor, gn_input **input, gn_error *error);

/// Behind the tensor's last value: other tensors may lie in the same storage, and only its end
/// tells whether its bytes are right. The rest is read once for each storage.
gn_status gn_torch_end(gn_zip *zip, const gn_tensor *tensor, gn_input *input, gn_error *error);

#endif
