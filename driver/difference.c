// SPDX-License-Identifier: Apache-2.0
#include "driver/difference.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver/capture.h"
#include "net/temporary_folder.h"

bool gn_bytes_equal(gn_bytes a, gn_bytes b)
{
    if (!a.data || !b.data) return !a.data && !b.data;
    return a.length == b.length && !memcmp(a.data, b.data, a.length);
}

// Where, and how: "byte 52 is 0x13 in model, 0x12 in rtl".
static void describe(const gn_difference *d, char *text, size_t room)
{
    const gn_bytes *a = &d->expected, *b = &d->got;
    if (!a->data || !b->data) {
        snprintf(text, room, "%s drops it, %s makes %zu bytes of it", a->data ? d->other : d->reference,
                 a->data ? d->reference : d->other, a->data ? a->length : b->length);
        return;
    }
    const size_t shorter = a->length < b->length ? a->length : b->length;
    size_t at = 0;
    while (at < shorter && a->data[at] == b->data[at]) at++;
    int used = 0;
    if (at < shorter)
        used = snprintf(text, room, "byte %zu is 0x%02x in %s, 0x%02x in %s", at, a->data[at], d->reference,
                        b->data[at], d->other);
    if (a->length != b->length && used >= 0 && (size_t)used < room)
        snprintf(text + used, room - (size_t)used, "%s%zu bytes in %s, %zu in %s", used ? "; " : "", a->length,
                 d->reference, b->length, d->other);
}

// @return NULL when the file could not be made; errno says why
static gn_capture *create(char *path, size_t room)
{
    if (snprintf(path, room, "%s/gradnic-lockstep-XXXXXX.pcap", gn_temporary_folder()) >= (int)room) {
        errno = ENAMETOOLONG;
        return NULL;
    }
    const int fd = mkstemps(path, (int)strlen(".pcap"));
    if (fd < 0) return NULL;
    gn_error ignored;
    return gn_capture_take(fd, path, &ignored);
}

static void add(gn_capture *capture, gn_bytes packet)
{
    if (packet.data) gn_capture_packet(capture, packet.data, packet.length, NULL, 0);
}

gn_status gn_difference_report(const gn_difference *d, gn_error *error)
{
    char path[PATH_MAX], where[160], head[32] = "";
    describe(d, where, sizeof where);
    if (!strcmp(d->direction, "transmit")) snprintf(head, sizeof head, ", head %d", d->head);
    gn_fail(error, GN_CORRUPT, "%s, packet %" PRIu64 "%s: %s", d->direction, d->number, head, where);
    char what[sizeof error->text];
    memcpy(what, error->text, sizeof what);
    gn_capture *capture = create(path, sizeof path);
    if (!capture) return gn_fail(error, GN_CORRUPT, "%.200s (no capture: %.60s: %s)", what, path, strerror(errno));
    add(capture, d->in);
    add(capture, d->expected);
    add(capture, d->got);
    if (gn_capture_close(capture))
        return gn_fail(error, GN_CORRUPT, "%.200s (no capture: %.60s could not be written)", what, path);
    return gn_fail(error, GN_CORRUPT, "%.200s; as it went in, by %s, by %s: %.80s", what, d->reference, d->other, path);
}
