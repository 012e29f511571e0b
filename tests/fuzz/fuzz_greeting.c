// SPDX-License-Identifier: Apache-2.0
// Any bytes where a connection has to begin with a greeting: at the parser, and at both sides of a
// greeting. The first byte chooses the dialect, and which side hears the rest.
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fuzz.h"
#include "net/greeting.h"

enum { ROOM = 512 };

/// What is parsed is written as the same bytes, but for the padding of values.
static void parse(gn_greeting_dialect dialect, const uint8_t *data, size_t size)
{
    for (gn_greeting_type type = 0; type < GN_GREETING_TYPES; type++) {
        gn_greeting_frame frame = {.dialect = dialect, .type = type};
        gn_greeting_call_body call;
        uint8_t out[GN_GREETING_MAX], body[GN_GREETING_CALL];
        const int length = gn_greeting_parse(data, size, &frame);
        if (length <= 0) continue;
        check((size_t)length <= size && gn_greeting_write(&frame, out) == (size_t)length);
        check(!memcmp(out, data, (size_t)length - (dialect == GN_GREETING_VALUES ? 4 : 0)));
        if (type != GN_CALL || !gn_greeting_call_read(frame.body, &call)) continue;
        if (call.version != GN_GREETING_VERSION) continue;
        check(memchr(call.who.name, 0, sizeof call.who.name) != NULL);
        gn_greeting_call_write(&call, dialect, body);
        check(!memcmp(body + 1, frame.body + 1, sizeof body - 1));  // the first byte is for old peers
    }
}

/// Nobody without the secret gets through.
static void hear(bool calls, bool knows, gn_greeting_dialect dialect, const uint8_t *data, size_t size)
{
    static const gn_secret secret = {.set = true, .key = {1}}, none;
    static const gn_greeting_who who = {.role = GN_ROLE_RANK, .rank = 1, .size = 2};
    gn_greeting greeting;
    char text[GN_GREETING_WHY];
    int ends[2];
    check(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends));
    gn_framed *connection = gn_framed_new(ends[0], GN_FRAMED_OPEN, ROOM, ROOM);
    check(connection != NULL);
    if (calls)
        gn_greeting_call(&greeting, &secret, dialect, &who);
    else
        gn_greeting_answer(&greeting, knows ? &secret : &none, dialect, 0, NULL);
    for (size_t at = 0; at < size && greeting.step == GN_GREETING_PENDING;) {
        const size_t some = size - at < 100 ? size - at : 100;
        check(send(ends[1], data + at, some, 0) == (ssize_t)some);
        at += some;
        (void)gn_framed_fill(connection);
        (void)gn_greeting_advance(&greeting, connection);
    }
    check(greeting.step != GN_GREETING_DONE || (!calls && !knows));
    if (greeting.step == GN_GREETING_FAILED) check(*gn_greeting_why(&greeting, "here", "there", text));
    gn_framed_free(connection);
    close(ends[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size) return 0;
    const gn_greeting_dialect dialect = (gn_greeting_dialect)(*data % 3);
    uint8_t *bytes = exact(size - 1);
    memcpy(bytes, data + 1, size - 1);
    if (size > 1) parse(dialect, bytes, size - 1);
    hear(*data >> 2 & 1, *data >> 3 & 1, dialect, bytes, size - 1);
    free(bytes);
    return 0;
}
