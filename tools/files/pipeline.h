// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_FILES_PIPELINE_H
#define GRADNIC_TOOLS_FILES_PIPELINE_H
/// Reads items in order, works on them in several threads, and writes them in the same order. The
/// output does not depend on the number of threads.

#include <stdbool.h>
#include <stddef.h>

#include "net/error.h"

typedef struct gn_pipeline {
    void *context;
    /// Makes a buffer for one item; NULL if memory is short.
    void *(*buffer_new)(void *context);
    void (*buffer_free)(void *buffer);  ///< never called with NULL
    /// Fills `buffer` with the next item, or sets `*end` if there is none. The calling thread
    /// calls it, in order.
    gn_status (*read)(void *context, void *buffer, bool *end, gn_error *error);
    /// Works on one item. Any thread may call it. `context` is shared: read it only.
    gn_status (*work)(void *context, void *buffer, gn_error *error);
    /// Takes the result. The calling thread calls it, in order.
    gn_status (*write)(void *context, void *buffer, gn_error *error);
    unsigned threads;     ///< 1: the calling thread does all the work; 0: one per processor
    size_t buffer_bytes;  ///< about what a buffer takes: limits buffers and threads
} gn_pipeline;

/// GN_PIPELINE_BYTES: memory for all buffers.
enum { GN_PIPELINE_BYTES = 40 << 20, GN_THREADS_MAX = 256 };

/// Runs to the end, or to the first error in the order of items.
gn_status gn_pipeline_run(const gn_pipeline *pipeline, gn_error *error);

/// Parses "-j 4": 1 to GN_THREADS_MAX, "0" is one per processor.
gn_status gn_parse_threads(const char *text, unsigned *threads, gn_error *error);

#endif
