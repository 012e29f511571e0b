// SPDX-License-Identifier: Apache-2.0
// The only reader and writer of admission frames.
#include <gradnic/admission.h>
#include <gradnic/worker.h>

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cmodel/bytes.h"

enum { AT_VERSION = 4, AT_TYPE = 5, AT_BODY = 6 };
enum { LEVEL_MAX = 14 };  // the parent's level is one more, and a packet has 4 bits for it

static const uint8_t magic[4] = {'G', 'N', 'A', 'D'};

/// A number of a frame, in the order of the bytes, and its range.
typedef struct field {
    const char *name;
    size_t offset;  ///< in the body's structure
    uint8_t bytes;
    bool is_signed;
    int64_t least, most;
} field;

#define FIELD(body, name, least, most)                                                                                 \
    {                                                                                                                  \
#name, offsetof(body, name), sizeof(((body *)0)->name), false, (least), (most)                                 \
    }

static const field join_fields[] = {
    FIELD(gn_admission_join, rank, 0, GN_ADMISSION_RANKS_MAX - 1),
    FIELD(gn_admission_join, ranks, 1, GN_ADMISSION_RANKS_MAX),
    FIELD(gn_admission_join, level, 0, LEVEL_MAX),
    FIELD(gn_admission_join, bit, 0, GN_AGG_WORKERS_MAX - 1),
    FIELD(gn_admission_join, children, 1, GN_AGG_WORKERS_MAX),
    FIELD(gn_admission_join, parent_bit, 0, GN_AGG_WORKERS_MAX - 1),
    FIELD(gn_admission_join, parent_children, 0, GN_AGG_WORKERS_MAX),
    FIELD(gn_admission_join, leader, 0, GN_AGG_WORKERS_MAX),
    FIELD(gn_admission_join, bits, 0, GN_AGG_WORKERS_MAX),
    FIELD(gn_admission_join, format, 0, GN_AGG_FORMATS - 1),
    {"bound_exp", offsetof(gn_admission_join, bound_exp), 1, true, INT8_MIN, INT8_MAX},
    FIELD(gn_admission_join, packet_values, 1, GN_AGG_VALUES_MAX),
    FIELD(gn_admission_join, slots, 1, GN_AGG_SLOTS_MAX),
    FIELD(gn_admission_join, priority, 0, UINT16_MAX),
    FIELD(gn_admission_join, asker, 0, GN_ASKERS - 1),
    FIELD(gn_admission_join, listens, 0, UINT16_MAX),
    FIELD(gn_admission_join, instance, 0, INT32_MAX),
    FIELD(gn_admission_join, patience_ms, 1, INT32_MAX),
    FIELD(gn_admission_join, channels, 1, GN_ADMISSION_CHANNELS_MAX),
};
static const field welcome_fields[] = {
    FIELD(gn_admission_welcome, mode, 0, GN_MEMORY_MODES - 1),
    FIELD(gn_admission_welcome, channels, 1, GN_ADMISSION_CHANNELS_MAX),
    FIELD(gn_admission_welcome, slots, 1, GN_AGG_SLOTS_MAX),
    FIELD(gn_admission_welcome, bit, 0, GN_AGG_WORKERS_MAX - 1),
    FIELD(gn_admission_welcome, fanin, 0, GN_AGG_WORKERS_MAX),
};
enum {
    JOIN_FIELDS = sizeof join_fields / sizeof *join_fields,
    WELCOME_FIELDS = sizeof welcome_fields / sizeof *welcome_fields
};

/// A reader that trusts nothing. It ends at the first thing that is wrong.
typedef struct reader {
    const uint8_t *at, *end;
    const char *wrong;
    char *why;  ///< what is wrong, for people: GN_ADMISSION_FAULT bytes; NULL: not wanted
} reader;

static void refuse(reader *r, const char *wrong, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void refuse(reader *r, const char *wrong, const char *format, ...)
{
    va_list arguments;
    if (r->wrong) return;
    r->wrong = wrong;
    if (!r->why) return;
    va_start(arguments, format);
    (void)vsnprintf(r->why, GN_ADMISSION_FAULT, format, arguments);
    va_end(arguments);
}

static const uint8_t *take(reader *r, size_t bytes)
{
    const uint8_t *taken = r->at;
    if (r->wrong) return NULL;
    const size_t left = (size_t)(r->end - r->at);
    if (left < bytes) {
        refuse(r, "length", "a length that ends %zu bytes too soon", bytes - left);
        return NULL;
    }
    r->at += bytes;
    return taken;
}

static void read_field(reader *r, const field *f, void *body)
{
    const uint8_t *in = take(r, f->bytes);
    if (!in) return;
    const uint32_t plain = f->bytes == 4 ? gn_get32(in) : f->bytes == 2 ? gn_get16(in) : *in;
    const int64_t value = f->is_signed && plain > INT8_MAX ? (int64_t)plain - 256 : plain;
    if (value < f->least || value > f->most)
        refuse(r, f->name, "%s %lld: want %lld to %lld", f->name, (long long)value, (long long)f->least,
               (long long)f->most);
    if (f->bytes == 4)
        memcpy((char *)body + f->offset, &plain, 4);
    else if (f->bytes == 2)
        memcpy((char *)body + f->offset, &(uint16_t){(uint16_t)plain}, 2);
    else
        memcpy((char *)body + f->offset, in, 1);
}

static uint16_t read_number(reader *r, const char *name, uint16_t least)
{
    const uint8_t *in = take(r, 2);
    const uint16_t value = in ? gn_get16(in) : 0;
    if (in && value < least) refuse(r, name, "%s %u", name, value);
    return value;
}

static bool printable(const uint8_t *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (text[i] < 0x20 || text[i] > 0x7e) return false;
    return true;
}

static void read_name(reader *r, char name[GN_ADMISSION_NAME])
{
    const uint8_t *in = take(r, GN_ADMISSION_NAME);
    if (!in) return;
    const size_t length = strnlen((const char *)in, GN_ADMISSION_NAME);
    bool fine = length && length < GN_ADMISSION_NAME && printable(in, length);
    for (size_t i = length; i < GN_ADMISSION_NAME; i++) fine &= !in[i];
    if (!fine)
        refuse(r, "name", length ? "a name that is not printable, has no end, or has bytes behind it" : "no name");
    memcpy(name, in, GN_ADMISSION_NAME);
}

static bool is_power_of_two(unsigned n)
{
    return n && !(n & (n - 1));
}

/// Refuses a field that is not below another one.
static void below(reader *r, const char *name, unsigned value, const char *limit_name, unsigned limit)
{
    if (value >= limit) refuse(r, name, "%s %u, where %s is %u", name, value, limit_name, limit);
}

static void check_slots(reader *r, unsigned slots)
{
    if (!is_power_of_two(slots)) refuse(r, "slots", "slots %u: want a power of two", slots);
}

/// Checks what depends on who asks: a worker or a switch.
static void check_asker(reader *r, const gn_admission_join *join)
{
    static const char *const askers[GN_ASKERS] = {"a worker", "a switch to its parent",
                                                  "a switch to its parameter server"};
    const char *who = askers[join->asker];
    const bool is_switch = join->asker != GN_ASKER_WORKER;
    if (join->asker != GN_ASKER_SWITCH && join->bits) refuse(r, "bits", "bits %u from %s: want 0", join->bits, who);
    if (join->asker == GN_ASKER_PS_SWITCH && join->bit) refuse(r, "bit", "bit %u from %s: want 0", join->bit, who);
    if (is_switch ? !join->level && !join->bits : join->level != 0)
        refuse(r, "level", "level %u from %s: want %s", join->level, who, is_switch ? "more" : "0");
    if (is_switch != (join->listens != 0))
        refuse(r, "listens", "listens %u from %s: want %s", join->listens, who, is_switch ? "its port" : "0");
    if (is_switch != (join->instance != 0))
        refuse(r, "instance", "instance %u from %s: want %s", join->instance, who, is_switch ? "its number" : "0");
}

/// Checks fields together, when each is fine by itself.
static void check_together(reader *r, const gn_admission_join *join)
{
    static const gn_profile profiles[GN_AGG_FORMATS] = {[GN_AGG_LATTICE] = GN_LATTICE, [GN_AGG_DENSE] = GN_DENSE};
    gn_codec codec;
    below(r, "rank", join->rank, "ranks", join->ranks);
    below(r, "bit", join->bit, "children", join->children);
    if (join->children > join->ranks)
        refuse(r, "children", "children %u of only %u ranks", join->children, join->ranks);
    if (join->bits > join->ranks) refuse(r, "bits", "bits %u of only %u ranks", join->bits, join->ranks);
    if (join->parent_children || join->parent_bit)
        below(r, "parent_bit", join->parent_bit, "parent_children", join->parent_children);
    if (join->leader != GN_AGG_WORKERS_MAX) below(r, "leader", join->leader, "children", join->children);
    check_asker(r, join);
    if (gn_agg_in_blocks((gn_agg_format)join->format)
            ? join->bound_exp != 0
            : gn_codec_init(&codec, profiles[join->format], join->bound_exp) != GN_OK)
        refuse(r, "bound_exp", "bound_exp %d, which format %u does not have", join->bound_exp, join->format);
    check_slots(r, join->slots);
}

/// A switch says whose values are in which contribution: each contribution has some rank's values,
/// and `rank` is the lowest of all.
static void read_below(reader *r, gn_admission_join *join)
{
    const unsigned contributors = gn_admission_contributors(join);
    const uint64_t everyone = contributors == 64 ? ~0ull : (1ull << contributors) - 1;
    const uint8_t *in = take(r, join->ranks);
    uint64_t seen = 0;
    if (!in) return;
    for (unsigned rank = 0; rank < join->ranks && !r->wrong; rank++) {
        join->below[rank] = in[rank];
        if (in[rank] == GN_ADMISSION_NOT_BELOW) continue;
        if (in[rank] >= contributors || rank < join->rank)
            refuse(r, "below", "below %u for rank %u, with %u contributions and rank %u as the lowest", in[rank], rank,
                   contributors, join->rank);
        else
            seen |= 1ull << in[rank];
    }
    if (seen != everyone || in[join->rank] == GN_ADMISSION_NOT_BELOW)
        refuse(r, "below", "a contribution, or its lowest rank %u, that is not in below", join->rank);
}

static void read_join(reader *r, gn_admission_join *join)
{
    read_name(r, join->name);
    for (size_t i = 0; i < JOIN_FIELDS; i++) read_field(r, &join_fields[i], join);
    for (unsigned i = 0; !r->wrong && i < join->channels; i++) join->udp_port[i] = read_number(r, "udp_port", 1);
    if (!r->wrong) check_together(r, join);
    if (!r->wrong && join->asker != GN_ASKER_WORKER) read_below(r, join);
}

static void read_welcome(reader *r, gn_admission_welcome *welcome)
{
    for (size_t i = 0; i < WELCOME_FIELDS; i++) read_field(r, &welcome_fields[i], welcome);
    for (unsigned i = 0; !r->wrong && i < welcome->channels; i++) {
        welcome->job[i] = read_number(r, "job", 0);
        welcome->gen[i] = read_number(r, "gen", 0);
        welcome->udp_port[i] = read_number(r, "udp_port", 1);
    }
    check_slots(r, welcome->slots);
    if (welcome->fanin || welcome->bit) below(r, "bit", welcome->bit, "fanin", welcome->fanin);
}

static void read_text(reader *r, char text[GN_ADMISSION_TEXT])
{
    const size_t bytes = (size_t)(r->end - r->at);
    const uint8_t *in = take(r, bytes);
    if (!bytes || bytes >= GN_ADMISSION_TEXT || !printable(in, bytes)) {
        refuse(r, "text", "a text of %zu bytes: want 1 to %d printable ones", bytes, GN_ADMISSION_TEXT - 1);
        return;
    }
    memcpy(text, in, bytes);
}

static void read_body(reader *r, gn_admission *frame)
{
    if (frame->type == GN_ADMISSION_JOIN) read_join(r, &frame->join);
    if (frame->type == GN_ADMISSION_WELCOME) read_welcome(r, &frame->welcome);
    if (frame->type == GN_ADMISSION_REFUSED || frame->type == GN_ADMISSION_GONE) read_text(r, frame->text);
    if (frame->type == GN_ADMISSION_PONG && r->at != r->end) read_text(r, frame->text);
    if (!r->wrong && r->at != r->end) refuse(r, "length", "%zu bytes too many", (size_t)(r->end - r->at));
}

/// Refuses at once what cannot become a frame, without waiting for the rest.
static void check_header(reader *r, const uint8_t *bytes, size_t count)
{
    if (count && memcmp(bytes, magic, count < sizeof magic ? count : sizeof magic) != 0)
        refuse(r, "magic", "sent bytes that are not an admission frame");
    if (count > AT_VERSION && bytes[AT_VERSION] != GN_ADMISSION_VERSION)
        refuse(r, "version", "speaks version %u of admission, not %d", bytes[AT_VERSION], GN_ADMISSION_VERSION);
    if (count > AT_TYPE && bytes[AT_TYPE] >= GN_ADMISSION_TYPES)
        refuse(r, "type", "sent a frame of type %u: want at most %d", bytes[AT_TYPE], GN_ADMISSION_TYPES - 1);
    if (count < GN_ADMISSION_HEADER) return;
    const unsigned whole = GN_ADMISSION_HEADER + gn_get16(bytes + AT_BODY);
    if (whole > GN_ADMISSION_MAX)
        refuse(r, "length", "sent a frame of %u bytes: want at most %d", whole, GN_ADMISSION_MAX);
}

/// As gn_admission_parse(). `why`, if it is not NULL, says what is wrong in words.
static int parse(const uint8_t *bytes, size_t count, gn_admission *frame, const char **wrong, char *why)
{
    static const char *const types[GN_ADMISSION_TYPES] = {"JOIN", "WELCOME", "REFUSED", "PING",
                                                          "PONG", "GONE",    "LEAVE"};
    reader r = {.why = why};
    size_t whole = 0;
    check_header(&r, bytes, count);
    if (!r.wrong && count >= GN_ADMISSION_HEADER) whole = GN_ADMISSION_HEADER + (size_t)gn_get16(bytes + AT_BODY);
    if (whole && whole <= count) {
        char what[GN_ADMISSION_FAULT];
        *frame = (gn_admission){.type = (gn_admission_type)bytes[AT_TYPE]};
        r = (reader){bytes + GN_ADMISSION_HEADER, bytes + whole, NULL, why ? what : NULL};
        read_body(&r, frame);
        if (r.wrong && why) snprintf(why, GN_ADMISSION_FAULT, "sent %s with %.110s", types[frame->type], what);
    }
    *wrong = r.wrong;
    return r.wrong ? -1 : whole <= count ? (int)whole : 0;
}

int gn_admission_parse(const uint8_t *bytes, size_t count, gn_admission *frame, const char **wrong)
{
    const char *nowhere;
    return parse(bytes, count, frame, wrong ? wrong : &nowhere, NULL);
}

const char *gn_admission_fault(const uint8_t *bytes, size_t count, char text[GN_ADMISSION_FAULT])
{
    gn_admission frame;
    const char *wrong;
    *text = 0;
    (void)parse(bytes, count, &frame, &wrong, text);
    return text;
}

static uint8_t *write_field(uint8_t *out, const field *f, const void *body)
{
    const char *at = (const char *)body + f->offset;
    uint16_t value;
    uint32_t wide;
    switch (f->bytes) {
    case 1:
        memcpy(out, at, 1);
        return out + 1;
    case 2:
        memcpy(&value, at, sizeof value);
        gn_put16(out, value);
        return out + 2;
    default:
        memcpy(&wide, at, sizeof wide);
        gn_put32(out, wide);
        return out + 4;
    }
}

static uint8_t *write_join(uint8_t *out, const gn_admission_join *join)
{
    memset(out, 0, GN_ADMISSION_NAME);
    memcpy(out, join->name, strnlen(join->name, GN_ADMISSION_NAME - 1));
    out += GN_ADMISSION_NAME;
    for (size_t i = 0; i < JOIN_FIELDS; i++) out = write_field(out, &join_fields[i], join);
    for (unsigned i = 0; i < join->channels && i < GN_ADMISSION_CHANNELS_MAX; i++, out += 2)
        gn_put16(out, join->udp_port[i]);
    if (join->asker == GN_ASKER_WORKER) return out;
    const unsigned ranks = join->ranks < GN_ADMISSION_RANKS_MAX ? join->ranks : GN_ADMISSION_RANKS_MAX;
    memcpy(out, join->below, ranks);
    return out + ranks;
}

static uint8_t *write_welcome(uint8_t *out, const gn_admission_welcome *welcome)
{
    for (size_t i = 0; i < WELCOME_FIELDS; i++) out = write_field(out, &welcome_fields[i], welcome);
    for (unsigned i = 0; i < welcome->channels && i < GN_ADMISSION_CHANNELS_MAX; i++, out += 6) {
        gn_put16(out, welcome->job[i]);
        gn_put16(out + 2, welcome->gen[i]);
        gn_put16(out + 4, welcome->udp_port[i]);
    }
    return out;
}

static uint8_t *write_text(uint8_t *out, const char *text)
{
    const size_t bytes = strnlen(text, GN_ADMISSION_TEXT - 1);
    for (size_t i = 0; i < bytes; i++) {  // the text will be on a terminal
        const uint8_t c = (uint8_t)text[i];
        *out++ = printable(&c, 1) ? c : '?';
    }
    return out;
}

size_t gn_admission_write(const gn_admission *frame, uint8_t out[GN_ADMISSION_MAX])
{
    uint8_t *const body = out + GN_ADMISSION_HEADER, *end = body;
    memcpy(out, magic, sizeof magic);
    out[AT_VERSION] = GN_ADMISSION_VERSION;
    out[AT_TYPE] = (uint8_t)frame->type;
    if (frame->type == GN_ADMISSION_JOIN) end = write_join(body, &frame->join);
    if (frame->type == GN_ADMISSION_WELCOME) end = write_welcome(body, &frame->welcome);
    if (frame->type == GN_ADMISSION_REFUSED || frame->type == GN_ADMISSION_GONE || frame->type == GN_ADMISSION_PONG)
        end = write_text(body, frame->text);
    gn_put16(out + AT_BODY, (uint16_t)(end - body));
    return (size_t)(end - out);
}
