// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_FILES_BLOCK_BUFFER_H
#define GRADNIC_TOOLS_FILES_BLOCK_BUFFER_H
/// A block of a container and its values, in memory. compress and decompress pass such buffers
/// through a pipeline (pipeline.h).

#include <gradnic/container.h>

typedef struct gn_block_buffer {
    float *values;
    uint8_t *packed;          ///< header and stream
    size_t room;              ///< of `packed`: a block of that many values always fits
    gn_container_block info;  ///< compress uses only `count` and `bytes`
} gn_block_buffer;

/// Room for a block of `values` values; NULL if memory is short.
gn_block_buffer *gn_block_buffer_new(gn_profile profile, size_t values);

/// For gn_pipeline.buffer_free; NULL is allowed.
void gn_block_buffer_free(void *buffer);

/// For gn_pipeline.buffer_bytes.
size_t gn_block_buffer_bytes(gn_profile profile, size_t values);

#endif
