// SPDX-License-Identifier: Apache-2.0
#include "net/greeting_frame.h"

#include <string.h>

#include "net/as_values.h"

// CALL, little-endian. A rank without a secret reads what stands before AT_VERSION, as in a HELLO.
enum {
    AT_PROTOCOL,
    AT_JOB,
    AT_RANK = 9,
    AT_SIZE = 11,
    AT_VERSION = 13,
    AT_ROLE,
    AT_TO,
    AT_NAME = 17,
    AT_NONCE = AT_NAME + GN_GREETING_NAME
};
_Static_assert((int)AT_NONCE + GN_GREETING_NONCE == (int)GN_GREETING_CALL, "no gaps");

enum {
    HEADER = 8,
    FRAME_MAX = HEADER + GN_GREETING_CALL  // it is a multiple of GN_AS_VALUES_IN
};
_Static_assert((int)FRAME_MAX / GN_AS_VALUES_IN * GN_AS_VALUES_OUT == (int)GN_GREETING_MAX, "CALL as values");

static const size_t body_bytes[GN_GREETING_TYPES] = {
    [GN_CALL] = GN_GREETING_CALL, [GN_CHALLENGE] = GN_GREETING_CHALLENGE, [GN_PROOF] = GN_GREETING_PROOF};

/// CALL has the number that HELLO and JOIN have.
static void write_header(gn_greeting_dialect dialect, gn_greeting_type type, uint8_t header[HEADER])
{
    static const uint8_t exchange[GN_GREETING_TYPES] = {1, 32, 33};
    const uint8_t bytes = (uint8_t)body_bytes[type];
    if (dialect == GN_GREETING_SWITCH)
        memcpy(header, (const uint8_t[]){'G', 'N', 'A', 'D', GN_GREETING_SWITCH_VERSION, (uint8_t)type, 0, bytes},
               HEADER);
    else
        memcpy(header, (const uint8_t[]){'G', 'N', 'C', '1', exchange[type], 0, bytes, 0}, HEADER);
}

/// As gn_greeting_parse(), where frames are not values.
static int parse_plain(const uint8_t *bytes, size_t available, gn_greeting_frame *frame)
{
    uint8_t header[HEADER];
    const size_t whole = HEADER + body_bytes[frame->type];
    write_header(frame->dialect, frame->type, header);
    if (memcmp(bytes, header, available < HEADER ? available : HEADER) != 0) return -1;
    if (available < whole) return 0;
    memcpy(frame->body, bytes + HEADER, whole - HEADER);
    return (int)whole;
}

/// The frame is padded to whole values.
static size_t values_of(gn_greeting_type type)
{
    return (HEADER + body_bytes[type] + GN_AS_VALUES_IN - 1) / GN_AS_VALUES_IN;
}

static int parse_values(const uint8_t *bytes, size_t available, gn_greeting_frame *frame)
{
    uint8_t plain[FRAME_MAX];
    const size_t values = values_of(frame->type), come = available / GN_AS_VALUES_OUT;
    const size_t whole = come < values ? come : values;
    if (!gn_as_values_read(bytes, whole, plain)) return -1;
    if (!whole) return 0;
    const int found = parse_plain(plain, whole * GN_AS_VALUES_IN, frame);
    return found > 0 ? (int)(values * GN_AS_VALUES_OUT) : found;
}

int gn_greeting_parse(const uint8_t *bytes, size_t available, void *frame)
{
    gn_greeting_frame *wanted = frame;
    return wanted->dialect == GN_GREETING_VALUES ? parse_values(bytes, available, wanted)
                                                 : parse_plain(bytes, available, wanted);
}

size_t gn_greeting_write(const gn_greeting_frame *frame, uint8_t out[GN_GREETING_MAX])
{
    uint8_t plain[FRAME_MAX] = {0};
    const size_t bytes = body_bytes[frame->type], values = values_of(frame->type);
    write_header(frame->dialect, frame->type, plain);
    memcpy(plain + HEADER, frame->body, bytes);
    if (frame->dialect != GN_GREETING_VALUES) {
        memcpy(out, plain, HEADER + bytes);
        return HEADER + bytes;
    }
    gn_as_values_write(plain, values, out);
    return values * GN_AS_VALUES_OUT;
}

static void put(uint8_t *at, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++) at[i] = (uint8_t)(value >> (8 * i));
}

static uint64_t get(const uint8_t *at, unsigned bytes)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++) value |= (uint64_t)at[i] << (8 * i);
    return value;
}

void gn_greeting_call_write(const gn_greeting_call_body *call, gn_greeting_dialect dialect,
                            uint8_t body[GN_GREETING_CALL])
{
    const gn_greeting_who *who = &call->who;
    memset(body, 0, GN_GREETING_CALL);
    body[AT_PROTOCOL] = dialect == GN_GREETING_SWITCH ? GN_GREETING_SWITCH_VERSION : GN_GREETING_EXCHANGE_VERSION;
    put(body + AT_JOB, who->job, 8);
    put(body + AT_RANK, who->rank, 2);
    put(body + AT_SIZE, who->size, 2);
    body[AT_VERSION] = call->version;
    body[AT_ROLE] = who->role;
    put(body + AT_TO, who->to, 2);
    memcpy(body + AT_NAME, who->name, strnlen(who->name, GN_GREETING_NAME - 1));
    memcpy(body + AT_NONCE, call->nonce, GN_GREETING_NONCE);
}

/// Printable, and nothing behind its end: it may come to a log.
static bool read_name(const uint8_t *in, char name[GN_GREETING_NAME])
{
    const size_t length = strnlen((const char *)in, GN_GREETING_NAME);
    memcpy(name, in, GN_GREETING_NAME);
    if (length == GN_GREETING_NAME) return false;
    for (size_t i = 0; i < GN_GREETING_NAME; i++)
        if (i < length ? in[i] < 0x20 || in[i] > 0x7E : in[i] != 0) return false;
    return true;
}

bool gn_greeting_call_read(const uint8_t body[GN_GREETING_CALL], gn_greeting_call_body *call)
{
    gn_greeting_who *who = &call->who;
    *call = (gn_greeting_call_body){.version = body[AT_VERSION]};
    if (call->version != GN_GREETING_VERSION) return true;
    who->job = get(body + AT_JOB, 8);
    who->rank = (uint16_t)get(body + AT_RANK, 2);
    who->size = (uint16_t)get(body + AT_SIZE, 2);
    who->role = body[AT_ROLE];
    who->to = (uint16_t)get(body + AT_TO, 2);
    memcpy(call->nonce, body + AT_NONCE, GN_GREETING_NONCE);
    const bool fine = who->role >= GN_ROLE_RANK && who->role <= GN_ROLE_PEER;
    return read_name(body + AT_NAME, who->name) && fine;
}
