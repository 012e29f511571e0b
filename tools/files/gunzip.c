// SPDX-License-Identifier: Apache-2.0
#include "gunzip.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

enum { IN_BYTES = 1 << 17, GZIP_ONLY = 16 };

struct gn_gunzip {
    FILE *stream;
    const char *name;
    z_stream zlib;
    uint64_t taken;    // bytes given to zlib or skipped, and those still in `in`
    unsigned members;  // complete ones
    bool ended;        // the last member, and the bytes behind it are checked
    uint8_t in[IN_BYTES];
};

bool gn_gunzip_magic(const uint8_t *bytes)
{
    return bytes[0] == 0x1f && bytes[1] == 0x8b && bytes[2] == Z_DEFLATED && !(bytes[3] & 0xe0);
}

gn_status gn_gunzip_open(gn_gunzip **result, FILE *stream, const char *name, const uint8_t *first, size_t count,
                         gn_error *error)
{
    gn_gunzip *g = calloc(1, sizeof *g);
    if (!g) return gn_fail_memory(error);
    g->stream = stream;
    g->name = name;
    if (count) memcpy(g->in, first, count);
    g->taken = count;
    g->zlib.next_in = g->in;
    g->zlib.avail_in = (unsigned)count;
    if (inflateInit2(&g->zlib, MAX_WBITS + GZIP_ONLY) != Z_OK) {
        free(g);
        return gn_fail_memory(error);
    }
    *result = g;
    return GN_OK;
}

uint64_t gn_gunzip_position(const gn_gunzip *g)
{
    return g->taken - g->zlib.avail_in;
}

/// Reads ahead until there are `wanted` packed bytes, or the file ends.
static gn_status fill(gn_gunzip *g, size_t wanted, gn_error *error)
{
    if (g->zlib.avail_in >= wanted) return GN_OK;
    memmove(g->in, g->zlib.next_in, g->zlib.avail_in);
    g->zlib.next_in = g->in;
    errno = 0;
    const size_t n = fread(g->in + g->zlib.avail_in, 1, IN_BYTES - g->zlib.avail_in, g->stream);
    g->taken += n;
    g->zlib.avail_in += (unsigned)n;
    if (g->zlib.avail_in < wanted && ferror(g->stream))
        return gn_fail(error, GN_IO, "%s: %s", g->name, errno ? strerror(errno) : "read error");
    return GN_OK;
}

/// Looks behind a member: there is another one, or zeros up to the end, or nothing.
static gn_status next_member(gn_gunzip *g, gn_error *error)
{
    g->members++;
    gn_status wrong = fill(g, GN_GUNZIP_MAGIC, error);
    if (wrong) return wrong;
    if (g->zlib.avail_in >= GN_GUNZIP_MAGIC && gn_gunzip_magic(g->zlib.next_in)) {
        inflateReset(&g->zlib);
        return GN_OK;
    }
    while (!(wrong = fill(g, 1, error)) && g->zlib.avail_in && !*g->zlib.next_in) g->zlib.next_in++, g->zlib.avail_in--;
    if (wrong) return wrong;
    g->ended = true;
    if (!g->zlib.avail_in) return GN_OK;
    return gn_fail(error, GN_CORRUPT, "%s: byte %" PRIu64 ": the bytes behind the gzip data are not gzip data", g->name,
                   gn_gunzip_position(g));
}

static gn_status check_begin(gn_gunzip *g, gn_error *error)
{
    gn_status wrong = fill(g, GN_GUNZIP_MAGIC, error);
    if (wrong) return wrong;
    if (g->zlib.avail_in >= GN_GUNZIP_MAGIC && gn_gunzip_magic(g->zlib.next_in)) return GN_OK;
    return gn_fail(error, GN_UNSUPPORTED, "%s: byte 0: not a gzip file, though its name says so", g->name);
}

/// Makes one step of zlib, with the packed bytes that it needs.
static gn_status step(gn_gunzip *g, gn_error *error)
{
    gn_status wrong = fill(g, 1, error);
    if (wrong) return wrong;
    const bool file_ended = !g->zlib.avail_in;
    const unsigned room = g->zlib.avail_out;
    const int code = inflate(&g->zlib, Z_NO_FLUSH);
    if (code == Z_STREAM_END) return next_member(g, error);
    if (code == Z_MEM_ERROR) return gn_fail_memory(error);
    if (code != Z_OK && code != Z_BUF_ERROR)
        return gn_fail(error, GN_CORRUPT, "%s: byte %" PRIu64 " or before: the gzip data is corrupt (%s)", g->name,
                       gn_gunzip_position(g), g->zlib.msg ? g->zlib.msg : "asks for a dictionary");
    if (file_ended && g->zlib.avail_out == room)
        return gn_fail(error, GN_TRUNCATED, "%s: byte %" PRIu64 ": the gzip file is truncated", g->name,
                       gn_gunzip_position(g));
    return GN_OK;
}

gn_status gn_gunzip_read(gn_gunzip *g, void *buffer, size_t bytes, size_t *got, gn_error *error)
{
    *got = 0;
    gn_status wrong = !g->members && !gn_gunzip_position(g) ? check_begin(g, error) : GN_OK;
    while (!wrong && *got < bytes && !g->ended) {
        const size_t rest = bytes - *got;
        const unsigned room = rest > 1u << 30 ? 1u << 30 : (unsigned)rest;
        g->zlib.next_out = (uint8_t *)buffer + *got;
        g->zlib.avail_out = room;
        wrong = step(g, error);
        *got += room - g->zlib.avail_out;
    }
    return wrong;
}

void gn_gunzip_close(gn_gunzip *g)
{
    if (!g) return;
    inflateEnd(&g->zlib);
    free(g);
}
