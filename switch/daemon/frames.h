// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_SWITCH_DAEMON_FRAMES_H
#define GRADNIC_SWITCH_DAEMON_FRAMES_H
/// Frames of admission on the connections of net/framed.h.

#include <gradnic/admission.h>

#include "net/lobby.h"

enum {
    GN_FRAMES_IN = GN_ADMISSION_MAX,  ///< room of a connection for what comes, and for what goes
    GN_FRAMES_OUT = 2 * GN_ADMISSION_MAX
};

/// Takes the next whole frame that has come. @return 1; 0: none yet; -1: the bytes are no frame
int gn_frames_next(gn_framed *connection, gn_admission *frame);

/// Says in words what is wrong with those bytes. @return whether the far side speaks admission at
/// all
bool gn_frames_fault(const gn_framed *connection, char fault[GN_ADMISSION_FAULT]);

/// @return false when the far side does not read what it is sent
bool gn_frames_send(gn_framed *connection, const gn_admission *frame);

/// Sends the last words, and leaves the connection to the lobby. `type`: GN_ADMISSION_REFUSED,
/// GN_ADMISSION_GONE or GN_ADMISSION_LEAVE.
void gn_frames_end(gn_framed *connection, gn_lobby *lobby, gn_admission_type type, const char *text);
/// The same without words.
void gn_frames_hang_up(gn_framed *connection, gn_lobby *lobby);

#endif
