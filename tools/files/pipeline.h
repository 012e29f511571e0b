// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_FILES_PIPELINE_H
#define GRADNIC_TOOLS_FILES_PIPELINE_H
/// Reads items in order, works on them on several threads, and hands them on in the same order: what comes out does not
/// depend on the number of threads.

#include <stdbool.h>
#include <stddef.h>

#include "net/error.h"

typedef struct gn_pipeline {
    void *context;
    /// Makes a slot (the memory for one item); NULL when memory is short.
    void *(*slot_new)(void *context);
    void (*slot_free)(void *slot);  ///< never called with NULL
    /// Fills `slot` with the next item; sets `*end` instead when there is none. Called in order, by the calling thread.
    gn_status (*read)(void *context, void *slot, bool *end, gn_error *error);
    /// Works on one item. Called by any thread; `context` is shared: read only.
    gn_status (*work)(void *context, void *slot, gn_error *error);
    /// Takes the result. Called in order, by the calling thread.
    gn_status (*write)(void *context, void *slot, gn_error *error);
    unsigned threads;   ///< that work; 1: everything happens in the calling thread. 0: one per processor
    size_t slot_bytes;  ///< about what a slot takes: the number of slots, and with it of threads, is limited by
                        ///< GN_PIPELINE_BYTES
} gn_pipeline;

enum { GN_PIPELINE_BYTES = 40 << 20, GN_THREADS_MAX = 256 };

/// Runs to the end or to the first error in the items' order.
gn_status gn_pipeline_run(const gn_pipeline *pipeline, gn_error *error);

/// Parses "-j 4": 1 to GN_THREADS_MAX, "0" is one per processor.
gn_status gn_parse_threads(const char *text, unsigned *threads, gn_error *error);

#endif
