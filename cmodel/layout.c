// SPDX-License-Identifier: Apache-2.0
#include <gradnic/codec.h>
#include <gradnic/container.h>
#include <gradnic/index.h>
#include <gradnic/layout.h>

static const gn_layout rows[] = {
    GN_LAYOUT(gn_layout),
    GN_LAYOUT_FIELD(gn_layout, structure),
    GN_LAYOUT_FIELD(gn_layout, field),
    GN_LAYOUT_FIELD(gn_layout, offset),
    GN_LAYOUT_FIELD(gn_layout, size),

    GN_LAYOUT(gn_constant),
    GN_LAYOUT_FIELD(gn_constant, name),
    GN_LAYOUT_FIELD(gn_constant, value),

    GN_LAYOUT(gn_codec),
    GN_LAYOUT_FIELD(gn_codec, profile),
    GN_LAYOUT_FIELD(gn_codec, bound_exp),
    GN_LAYOUT_FIELD(gn_codec, kernel),

    GN_LAYOUT(gn_container_info),
    GN_LAYOUT_FIELD(gn_container_info, profile),
    GN_LAYOUT_FIELD(gn_container_info, bound_exp),
    GN_LAYOUT_FIELD(gn_container_info, values_per_block),
    GN_LAYOUT_FIELD(gn_container_info, value_count),
    GN_LAYOUT_FIELD(gn_container_info, block_count),
    GN_LAYOUT_FIELD(gn_container_info, directory_bytes),

    GN_LAYOUT(gn_container_tensor),
    GN_LAYOUT_FIELD(gn_container_tensor, name),
    GN_LAYOUT_FIELD(gn_container_tensor, dtype),
    GN_LAYOUT_FIELD(gn_container_tensor, fortran_order),
    GN_LAYOUT_FIELD(gn_container_tensor, dimensions),
    GN_LAYOUT_FIELD(gn_container_tensor, shape),
    GN_LAYOUT_FIELD(gn_container_tensor, count),

    GN_LAYOUT(gn_container_fault),
    GN_LAYOUT_FIELD(gn_container_fault, block),
    GN_LAYOUT_FIELD(gn_container_fault, offset),
    GN_LAYOUT_FIELD(gn_container_fault, text),
};

const gn_layout *gn_codec_layout(size_t *count)
{
    *count = sizeof rows / sizeof *rows;
    return rows;
}
