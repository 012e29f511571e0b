// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_MEETING_FILE_H
#define GRADNIC_RING_MEETING_FILE_H
/// The file of "file:///path": rank 0 writes its address into it, and the others read it.
///
/// The path may be wrong, and then another file is there. So rank 0 follows no symbolic link. It
/// changes only a file that is empty or holds an address of a rank 0 that has died. It removes only
/// what it made.

#include <inttypes.h>
#include <stdbool.h>

#include "net/address.h"

typedef struct gn_meeting_file {
    char path[512];
    int fd;          ///< rank 0: open, and locked, as long as it listens; -1: closed
    bool was_empty;  ///< somebody else's, so it stays, empty
} gn_meeting_file;

/// Rank 0: writes the address. The file is locked (flock) until gn_meeting_file_remove(). A reader
/// that gets the lock knows that the content is stale.
/// @return GN_OK; GN_INVALID: another kind of file lies at the path; GN_MISMATCH: another rank 0
/// holds it; GN_IO
gn_status gn_meeting_file_write(gn_meeting_file *file, const gn_endpoint *address, gn_error *error);
void gn_meeting_file_remove(gn_meeting_file *file);

/// Files of jobs in a folder of this user's alone have names of this form, with a hash of the job.
#define GN_MEETING_JOB "gradnic-rendezvous-%016" PRIx64
/// Removes such files in the folder of `file` whose rank 0 was killed. Not its own, and none that
/// somebody holds, or that has something else in it.
void gn_meeting_file_sweep(const gn_meeting_file *file);

/// Other ranks: the address to try now. @return false when the file is not there yet, or stale.
/// Then `*status` is GN_OK, or an error that waiting will not mend
bool gn_meeting_file_find(const gn_meeting_file *file, gn_endpoint *address, gn_status *status, gn_error *error);

#endif
