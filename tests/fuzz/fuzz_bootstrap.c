// SPDX-License-Identifier: Apache-2.0
// Any bytes at the ports and in the file where a group is set up.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "ring/message.h"

static void take(const gn_frame *frame)
{
    static gn_rank_table table;
    uint8_t out[GN_FRAME_MAX];
    size_t length = 0;
    gn_hello hello;
    gn_roster roster;
    gn_join join;
    if (frame->type == GN_MSG_HELLO && gn_hello_read(frame, &hello) && hello.terms.version == GN_PROTOCOL_VERSION)
        length = gn_hello_write(out, &hello);
    if (frame->type == GN_MSG_ROSTER && gn_roster_read(frame, &roster)) length = gn_roster_write(out, &roster);
    if (frame->type == GN_MSG_TABLE && gn_rank_table_read(frame, &table)) length = gn_rank_table_write(out, &table);
    if (frame->type == GN_MSG_JOIN && gn_join_read(frame, &join)) length = gn_join_write(out, &join);
    if (length && length != GN_FRAME_HEADER + frame->length) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gn_frame frame;
    gn_join join;
    char host[GN_RENDEZVOUS_LINE];
    uint16_t port;
    uint8_t again[GN_DATA_HELLO_BYTES];
    if (gn_rendezvous_line_read((const char *)data, size, host, &port) && (!port || !*host || strlen(host) >= size))
        abort();
    if (size >= GN_DATA_HELLO_BYTES && gn_data_hello_read(data, &join)) {
        gn_data_hello_write(again, &join);
        if (memcmp(again, data, sizeof again)) abort();
    }
    for (size_t at = 0; at < size;) {
        int length = gn_frame_parse(data + at, size - at, &frame);
        if (length <= 0) break;
        take(&frame);
        at += (size_t)length;
    }
    return 0;
}
