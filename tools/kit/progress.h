// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_KIT_PROGRESS_H
#define GRADNIC_TOOLS_KIT_PROGRESS_H
/// One line on the terminal while something takes longer than a second: progress, rate, time
/// left. Nothing is printed if stderr is not a terminal. There is one progress line at a time,
/// and one thread updates it.

#include <stdbool.h>
#include <stdint.h>

typedef struct gn_progress {
    const char *what;         ///< borrowed, e.g. the file's name
    const char *unit;         ///< borrowed, what is counted ("steps"); NULL: bytes
    uint64_t total;           ///< 0: not known
    uint64_t started, shown;  ///< CLOCK_MONOTONIC, ns
    bool active;
} gn_progress;

/// `quiet` (-q): print nothing.
void gn_progress_start(gn_progress *progress, const char *what, uint64_t total, bool quiet);
/// The same, for something other than bytes.
void gn_progress_start_units(gn_progress *progress, const char *what, const char *unit, uint64_t total, bool quiet);
/// `done` bytes (or units) so far. Cheap: call it for every block.
void gn_progress_update(gn_progress *progress, uint64_t done);
/// Removes the line.
void gn_progress_end(gn_progress *progress);
/// Removes any progress line, so that something else can be printed. The next update prints it
/// again.
void gn_progress_clear(void);

#endif
