// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_KIT_MEETING_FOLDER_H
#define GRADNIC_TOOLS_KIT_MEETING_FOLDER_H
/// A folder where local ranks meet, in the folder of net/temporary_folder.h. Whoever makes one also
/// removes those of launchers that were killed: SIGKILL leaves them behind. A folder has a lock for
/// as long as its launcher or one of its ranks lives.

#include <limits.h>

#include "net/error.h"

/// The file of the rendezvous, in the folder.
#define GN_MEETING_FILE "rendezvous"

typedef struct gn_meeting_folder {
    char path[PATH_MAX];
    int lock;  ///< the folder, locked
} gn_meeting_folder;

/// Makes a folder that only this user may enter. Processes that are forked have its lock, too.
gn_status gn_meeting_folder_make(gn_meeting_folder *folder, gn_error *error);

/// Removes it, and what is in it.
gn_status gn_meeting_folder_remove(gn_meeting_folder *folder, gn_error *error);

#endif
