// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_FILES_SAFETENSORS_H
#define GRADNIC_TOOLS_FILES_SAFETENSORS_H
/// The safetensors format: 8 bytes with the header's length, the header as JSON, then the tensors'
/// bytes. Source: github.com/huggingface/safetensors, README. The bytes are untrusted.

#include <stdio.h>

#include "input.h"
#include "net/error.h"
#include "tensor.h"

enum { GN_SAFETENSORS_HEADER_MAX = 1 << 22 };  ///< bytes of the largest header accepted

/// Lists the tensors in the order of their bytes. As in the reference, they leave no gap and share
/// no bytes. `bytes`: of the file. `offset` of a tensor counts from the beginning of the file.
gn_status gn_safetensors_list(FILE *stream, uint64_t bytes, const char *file, gn_tensor_list *list, gn_error *error);

#endif
