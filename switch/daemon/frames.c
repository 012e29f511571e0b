// SPDX-License-Identifier: Apache-2.0
#include "switch/daemon/frames.h"

#include <stdio.h>
#include <string.h>

#define LINGER (1 * GN_SECOND)  ///< for the last words

static int parse(const uint8_t *bytes, size_t available, void *frame)
{
    return gn_admission_parse(bytes, available, frame, NULL);
}

int gn_frames_next(gn_framed *connection, gn_admission *frame)
{
    return gn_framed_next(connection, parse, frame);
}

bool gn_frames_fault(const gn_framed *connection, char fault[GN_ADMISSION_FAULT])
{
    gn_admission frame;
    const char *wrong = NULL;
    const uint8_t *bytes;
    const size_t count = gn_framed_rest(connection, &bytes);
    (void)gn_admission_fault(bytes, count, fault);
    (void)gn_admission_parse(bytes, count, &frame, &wrong);
    return !wrong || strcmp(wrong, "magic") != 0;
}

bool gn_frames_send(gn_framed *connection, const gn_admission *frame)
{
    uint8_t bytes[GN_ADMISSION_MAX];
    return gn_framed_send(connection, bytes, gn_admission_write(frame, bytes)) || !connection->overflow;
}

void gn_frames_end(gn_framed *connection, gn_lobby *lobby, gn_admission_type type, const char *text)
{
    gn_admission frame = {.type = type};
    snprintf(frame.text, sizeof frame.text, "%s", text);
    (void)gn_frames_send(connection, &frame);
    gn_frames_hang_up(connection, lobby);
}

void gn_frames_hang_up(gn_framed *connection, gn_lobby *lobby)
{
    gn_lobby_see_off(lobby, connection, LINGER);
}
