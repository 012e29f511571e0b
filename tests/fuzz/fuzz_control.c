// SPDX-License-Identifier: Apache-2.0
// Any bytes as out-of-band messages of a running group. Every frame is rejected, or is written
// again in as many bytes.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "ring/message.h"

static void expect_length(const gn_frame *frame, size_t written)
{
    if (written != GN_FRAME_HEADER + frame->length) abort();
}

static void take(const gn_frame *frame)
{
    uint8_t out[GN_FRAME_MAX];
    gn_op_header header;
    gn_agree agree;
    gn_alive alive;
    gn_failure failure;
    uint64_t collectives;
    switch (frame->type) {
    case GN_MSG_OP:
        if (gn_op_header_read(frame, &header)) expect_length(frame, gn_op_header_write(out, &header));
        break;
    case GN_MSG_AGREE:
    case GN_MSG_AGREED:
        if (gn_agree_read(frame, &agree)) expect_length(frame, gn_agree_write(out, frame->type, &agree));
        break;
    case GN_MSG_ALIVE:
        if (gn_alive_read(frame, &alive)) expect_length(frame, gn_alive_write(out, &alive));
        break;
    case GN_MSG_DONE:
        if (gn_done_read(frame, &collectives)) expect_length(frame, gn_done_write(out, collectives));
        break;
    case GN_MSG_FAIL:
        if (!gn_failure_read(frame, &failure)) break;
        for (const char *p = failure.text; *p; p++)
            if ((unsigned char)*p < 0x20) abort();
        expect_length(frame, gn_failure_write(out, &failure));
        break;
    case GN_MSG_BYE:
        if (gn_bye_read(frame, &failure)) expect_length(frame, gn_bye_write(out, &failure));
        break;
    default:
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gn_frame frame;
    for (size_t at = 0; at < size;) {
        int length = gn_frame_parse(data + at, size - at, &frame);
        if (length <= 0) break;
        if ((size_t)length > size - at || frame.body < data || frame.body + frame.length > data + size) abort();
        take(&frame);
        at += (size_t)length;
    }
    return 0;
}
