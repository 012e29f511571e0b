// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_FILES_BLOCK_BUFFER_H
#define GRADNIC_TOOLS_FILES_BLOCK_BUFFER_H
/// A block of a container on its way through a pipeline (pipeline.h), with its values: what compress and decompress work on.

#include <gradnic/container.h>

typedef struct gn_block_buffer {
    float *values;
    uint8_t *packed;          ///< header and stream
    size_t room;              ///< of `packed`: a block of that many values always fits
    gn_container_block info;  ///< compress uses only `count` and `bytes`
} gn_block_buffer;

/// Room for a block of `values` values; NULL when memory is short.
gn_block_buffer *gn_block_buffer_new(gn_profile profile, size_t values);

/// A slot_free of gn_pipeline; NULL is allowed.
void gn_block_buffer_free(void *slot);

/// The slot_bytes of gn_pipeline.
size_t gn_block_buffer_bytes(gn_profile profile, size_t values);

#endif
