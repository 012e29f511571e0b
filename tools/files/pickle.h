// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_FILES_PICKLE_H
#define GRADNIC_TOOLS_FILES_PICKLE_H
/// Reads the pickle of a .pt file as data. Nothing is executed, imported or looked up. A pickle
/// may ask for any function of Python; this reader knows the few that torch.save() asks for when
/// it saves tensors in dictionaries and lists, and refuses every other by name. Source:
/// pickletools.py, and torch/serialization.py and torch/_utils.py of PyTorch 2. The bytes are
/// untrusted.

#include <stddef.h>
#include <stdint.h>

#include "net/error.h"
#include "tensor.h"

enum {
    GN_PICKLE_MAX = 1 << 25,     ///< bytes of the largest pickle accepted
    GN_PICKLE_NODES = 1 << 20,   ///< objects in it
    GN_PICKLE_DEPTH = 32,        ///< of nested dictionaries and lists
    GN_PICKLE_STORAGE_NAME = 64  ///< bytes of a storage's key, zero included
};

/// A tensor of the pickle, and where its values lie.
typedef struct gn_pickle_tensor {
    const gn_tensor *tensor;  ///< `offset` counts values in the storage
    const char *storage;      ///< key of the storage: the member data/KEY holds its bytes
    uint64_t storage_count;   ///< values in the storage, as the pickle claims
} gn_pickle_tensor;

/// The caller's function for each tensor, in the order of the dictionary. It copies what it keeps.
typedef gn_status (*gn_pickle_found)(void *context, const gn_pickle_tensor *tensor, gn_error *error);

/// Reads a pickle. A tensor's name is the path to it: keys and indices with dots between them.
/// `file` is for errors, which also name the byte.
gn_status gn_pickle_read(const uint8_t *bytes, size_t count, const char *file, gn_pickle_found found, void *context,
                         gn_error *error);

#endif
