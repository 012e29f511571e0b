// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_FILES_C_ORDER_H
#define GRADNIC_TOOLS_FILES_C_ORDER_H
/// Values in C order, the last index fastest, as NumPy's tofile() and reshape() give them.

#include <stdio.h>

#include "net/error.h"
#include "tensor.h"

/// Copies the binary32 of a list's tensors to the stream `to`, which is called `to_name` in errors.
/// In `from` they lie one tensor behind the other, each in its own order, behind `header` bytes,
/// which are copied as they are. `from` can be mapped.
gn_status gn_c_order_copy(FILE *from, size_t header, const gn_tensor_list *list, FILE *to, const char *to_name,
                          gn_error *error);

#endif
