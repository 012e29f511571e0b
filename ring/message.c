// SPDX-License-Identifier: Apache-2.0
#include "ring/message.h"

#include <string.h>

#include <gradnic/comm.h>

#include "net/as_values.h"

static const uint8_t magic[4] = {'G', 'N', 'C', '1'};

// The writer trusts its caller's buffer, because GN_FRAME_MAX covers every message. The reader
// trusts nothing.
typedef struct writer {
    uint8_t *start, *at;
} writer;

typedef struct reader {
    const uint8_t *at, *end;
    bool bad;
} reader;

static writer begin(uint8_t *out, gn_message_type type)
{
    memcpy(out, magic, sizeof magic);
    out[4] = (uint8_t)type;
    out[5] = 0;
    return (writer){out, out + GN_FRAME_HEADER};
}

static size_t end(writer *w)
{
    size_t body = (size_t)(w->at - w->start) - GN_FRAME_HEADER;
    w->start[6] = (uint8_t)body;
    w->start[7] = (uint8_t)(body >> 8);
    return body + GN_FRAME_HEADER;
}

static void put(writer *w, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++) *w->at++ = (uint8_t)(value >> (8 * i));
}

static void put_bytes(writer *w, const void *bytes, size_t length)
{
    memcpy(w->at, bytes, length);
    w->at += length;
}

static uint64_t get(reader *r, unsigned bytes)
{
    if ((size_t)(r->end - r->at) < bytes) {
        r->bad = true;
        return 0;
    }
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++) value |= (uint64_t)*r->at++ << (8 * i);
    return value;
}

static uint8_t get8(reader *r)
{
    return (uint8_t)get(r, 1);
}
static uint16_t get16(reader *r)
{
    return (uint16_t)get(r, 2);
}

/// Reads a byte that must be below `limit`.
static uint8_t get_below(reader *r, unsigned limit)
{
    uint8_t value = get8(r);
    if (value >= limit) r->bad = true;
    return value;
}

static void get_bytes(reader *r, void *bytes, size_t length)
{
    if ((size_t)(r->end - r->at) < length) {
        r->bad = true;
        return;
    }
    memcpy(bytes, r->at, length);
    r->at += length;
}

static reader read_body(const gn_frame *frame)
{
    return (reader){frame->body, frame->body + frame->length, false};
}
static bool finished(const reader *r)
{
    return !r->bad && r->at == r->end;
}

int gn_frame_parse(const uint8_t *bytes, size_t available, gn_frame *frame)
{
    size_t check = available < sizeof magic ? available : sizeof magic;
    if (memcmp(bytes, magic, check) != 0) return -1;
    if (available < GN_FRAME_HEADER) return 0;
    size_t length = (size_t)bytes[6] | (size_t)bytes[7] << 8;
    if (bytes[5] || length > GN_BODY_MAX) return -1;
    if (available < GN_FRAME_HEADER + length) return 0;
    *frame = (gn_frame){(gn_message_type)bytes[4], bytes + GN_FRAME_HEADER, length};
    return (int)(GN_FRAME_HEADER + length);
}

static void put_address(writer *w, const gn_address *address)
{
    put(w, address->family, 1);
    put(w, 0, 1);
    put(w, address->data_port, 2);
    put(w, address->oob_port, 2);
    put(w, 0, 2);
    put_bytes(w, address->bytes, sizeof address->bytes);
}

static void get_address(reader *r, gn_address *address)
{
    address->family = get8(r);
    get8(r);
    address->data_port = get16(r);
    address->oob_port = get16(r);
    get16(r);
    get_bytes(r, address->bytes, sizeof address->bytes);
}

static void get_own_address(reader *r, gn_address *address)
{
    get_address(r, address);
    if (address->family != 4 && address->family != 6) r->bad = true;
}

// Older ranks know nothing of halves, and have zeros there.
enum { HALF_SHIFT = 6, CHANNELS_MASK = (1 << HALF_SHIFT) - 1 };

size_t gn_hello_write(uint8_t *out, const gn_hello *hello)
{
    writer w = begin(out, GN_MSG_HELLO);
    const gn_terms *t = &hello->terms;
    put(&w, t->version, 1);
    put(&w, hello->job, 8);
    put(&w, hello->rank, 2);
    put(&w, hello->size, 2);
    put(&w, t->algorithm, 1);
    put(&w, t->quantise, 1);
    put(&w, t->profile, 1);
    put(&w, (uint8_t)t->bound_exp, 1);
    put(&w, t->scale, 1);
    put(&w, (uint8_t)t->scale_target, 1);
    put(&w, t->data_tos, 1);
    put(&w, t->aggregator_weights, 1);
    put_address(&w, &hello->address);
    put(&w, (uint8_t)(t->switch_channels | t->switch_half << HALF_SHIFT), 1);
    put_address(&w, &hello->at_switch);
    put(&w, hello->switch_values, 2);
    put(&w, hello->timeout_ms, 4);
    put(&w, t->offload, 1);
    put(&w, hello->segment_bytes, 4);
    put(&w, t->groups, 2);
    put(&w, t->group_offload, 1);
    put(&w, hello->group, 2);
    return end(&w);
}

bool gn_hello_read(const gn_frame *frame, gn_hello *hello)
{
    reader r = read_body(frame);
    gn_terms *t = &hello->terms;
    *hello = (gn_hello){.terms.version = get8(&r)};
    hello->job = get(&r, 8);
    hello->rank = get16(&r);
    hello->size = get16(&r);
    if (t->version != GN_PROTOCOL_VERSION) return !r.bad;
    t->algorithm = get8(&r);
    t->quantise = get8(&r);
    t->profile = get8(&r);
    t->bound_exp = (int8_t)get8(&r);
    t->scale = get8(&r);
    t->scale_target = (int8_t)get8(&r);
    t->data_tos = get8(&r);
    t->aggregator_weights = get8(&r);
    get_own_address(&r, &hello->address);
    const uint8_t channels = get8(&r);
    t->switch_channels = channels & CHANNELS_MASK;
    t->switch_half = channels >> HALF_SHIFT;
    get_address(&r, &hello->at_switch);
    hello->switch_values = get16(&r);
    hello->timeout_ms = (uint32_t)get(&r, 4);
    t->offload = get8(&r);
    hello->segment_bytes = (uint32_t)get(&r, 4);
    t->groups = get16(&r);
    t->group_offload = get8(&r);
    hello->group = get16(&r);
    // Ranges are not checked here: comparing with the other ranks gives better messages.
    return finished(&r);
}

size_t gn_roster_write(uint8_t *out, const gn_roster *roster)
{
    writer w = begin(out, GN_MSG_ROSTER);
    put(&w, roster->size, 2);
    put_bytes(&w, roster->present, sizeof roster->present);
    return end(&w);
}

bool gn_roster_read(const gn_frame *frame, gn_roster *roster)
{
    reader r = read_body(frame);
    roster->size = get16(&r);
    get_bytes(&r, roster->present, sizeof roster->present);
    return finished(&r) && roster->size >= 1 && roster->size <= GN_RANKS_MAX;
}

uint32_t gn_segment_bytes_fit(uint32_t bytes)
{
    if (bytes < GN_SEGMENT_LEAST) bytes = GN_SEGMENT_LEAST;
    if (bytes > GN_SEGMENT_MOST) bytes = GN_SEGMENT_MOST;
    return bytes & ~UINT32_C(63);
}

size_t gn_rank_table_write(uint8_t *out, const gn_rank_table *table)
{
    writer w = begin(out, GN_MSG_TABLE);
    put_bytes(&w, table->token, sizeof table->token);
    put(&w, table->size, 2);
    put(&w, 0, 2);
    for (unsigned i = 0; i < table->size; i++) put_address(&w, &table->address[i]);
    put(&w, table->switch_values, 2);
    put_bytes(&w, table->switch_index, table->size);
    put(&w, table->timeout_ms, 4);
    put(&w, table->segment_bytes, 4);
    put_bytes(&w, table->group, table->size);
    return end(&w);
}

bool gn_rank_table_read(const gn_frame *frame, gn_rank_table *table)
{
    reader r = read_body(frame);
    get_bytes(&r, table->token, sizeof table->token);
    table->size = get16(&r);
    get16(&r);
    if (r.bad || table->size < 1 || table->size > GN_RANKS_MAX) return false;
    for (unsigned i = 0; i < table->size; i++) get_own_address(&r, &table->address[i]);
    table->switch_values = get16(&r);
    for (unsigned i = 0; i < table->size; i++) table->switch_index[i] = get_below(&r, i + 1);
    table->timeout_ms = (uint32_t)get(&r, 4);
    table->segment_bytes = (uint32_t)get(&r, 4);
    for (unsigned i = 0, groups = 0; i < table->size; i++) {
        table->group[i] = get_below(&r, groups + 1);
        if (table->group[i] == groups) groups++;  // so each has a rank
    }
    return finished(&r) && table->timeout_ms && table->timeout_ms <= INT32_MAX &&
           gn_segment_bytes_fit(table->segment_bytes) == table->segment_bytes;
}

static size_t write_failure(uint8_t *out, gn_message_type type, const gn_failure *failure)
{
    writer w = begin(out, type);
    size_t length = strnlen(failure->text, GN_TEXT_MAX);
    put(&w, failure->status, 1);
    put(&w, 0, 1);
    put(&w, failure->culprit, 2);
    put(&w, failure->reporter, 2);
    put_bytes(&w, failure->text, length);
    return end(&w);
}

size_t gn_failure_write(uint8_t *out, const gn_failure *failure)
{
    return write_failure(out, GN_MSG_FAIL, failure);
}

bool gn_failure_read(const gn_frame *frame, gn_failure *failure)
{
    reader r = read_body(frame);
    failure->status = get_below(&r, GN_STATUS_COUNT);
    get8(&r);
    failure->culprit = get16(&r);
    failure->reporter = get16(&r);
    if (r.bad || failure->status == GN_OK) return false;
    size_t length = (size_t)(r.end - r.at);
    if (length > GN_TEXT_MAX) return false;
    get_bytes(&r, failure->text, length);
    failure->text[length] = 0;
    for (size_t i = 0; i < length; i++) {  // it may end up on a terminal
        unsigned char c = (unsigned char)failure->text[i];
        if (c < 0x20 || c == 0x7F) failure->text[i] = '?';
    }
    return finished(&r);
}

size_t gn_bye_write(uint8_t *out, const gn_failure *why)
{
    return why->status == GN_OK ? gn_empty_write(out, GN_MSG_BYE) : write_failure(out, GN_MSG_BYE, why);
}

bool gn_bye_read(const gn_frame *frame, gn_failure *why)
{
    why->status = GN_OK;
    return !frame->length || gn_failure_read(frame, why);
}

size_t gn_join_write(uint8_t *out, const gn_join *join)
{
    writer w = begin(out, GN_MSG_JOIN);
    put_bytes(&w, join->token, sizeof join->token);
    put(&w, join->rank, 2);
    return end(&w);
}

bool gn_join_read(const gn_frame *frame, gn_join *join)
{
    reader r = read_body(frame);
    get_bytes(&r, join->token, sizeof join->token);
    join->rank = get16(&r);
    return finished(&r);
}

size_t gn_op_header_write(uint8_t *out, const gn_op_header *header)
{
    writer w = begin(out, GN_MSG_OP);
    put(&w, header->sequence, 8);
    put(&w, header->count, 8);
    put(&w, header->kind, 1);
    put(&w, header->op, 1);
    put(&w, header->algorithm, 1);
    put(&w, header->type, 1);
    put(&w, header->bucket, 4);
    put(&w, (uint16_t)header->exponent, 2);
    put(&w, header->root, 2);
    put(&w, header->to, 2);
    put(&w, header->shape, 4);
    return end(&w);
}

bool gn_op_header_read(const gn_frame *frame, gn_op_header *header)
{
    reader r = read_body(frame);
    header->sequence = get(&r, 8);
    header->count = get(&r, 8);
    header->kind = get_below(&r, GN_COLLECTIVES);
    header->op = get_below(&r, GN_OPS);
    header->algorithm = get_below(&r, GN_ALGORITHMS);
    header->type = get_below(&r, GN_TYPES);
    header->bucket = (uint32_t)get(&r, 4);
    header->exponent = (int16_t)get16(&r);
    header->root = get16(&r);
    header->to = get16(&r);
    header->shape = (uint32_t)get(&r, 4);
    return finished(&r) && header->root < GN_RANKS_MAX && header->to < GN_RANKS_MAX;
}

size_t gn_agree_write(uint8_t *out, gn_message_type type, const gn_agree *agree)
{
    writer w = begin(out, type);
    put(&w, agree->sequence, 8);
    put(&w, agree->origin, 2);
    put(&w, agree->round, 1);
    put(&w, agree->hops, 1);
    put(&w, (uint16_t)agree->value, 2);
    return end(&w);
}

bool gn_agree_read(const gn_frame *frame, gn_agree *agree)
{
    reader r = read_body(frame);
    agree->sequence = get(&r, 8);
    agree->origin = get16(&r);
    agree->round = get_below(&r, 3);
    agree->hops = get8(&r);
    agree->value = (int16_t)get16(&r);
    return finished(&r) && agree->origin < GN_RANKS_MAX;
}

size_t gn_alive_write(uint8_t *out, const gn_alive *alive)
{
    writer w = begin(out, GN_MSG_ALIVE);
    put(&w, alive->sequence, 8);
    put(&w, alive->data_sent, 8);
    return end(&w);
}

bool gn_alive_read(const gn_frame *frame, gn_alive *alive)
{
    reader r = read_body(frame);
    alive->sequence = get(&r, 8);
    alive->data_sent = get(&r, 8);
    return finished(&r);
}

size_t gn_done_write(uint8_t *out, uint64_t collectives)
{
    writer w = begin(out, GN_MSG_DONE);
    put(&w, collectives, 8);
    return end(&w);
}

bool gn_done_read(const gn_frame *frame, uint64_t *collectives)
{
    reader r = read_body(frame);
    *collectives = get(&r, 8);
    return finished(&r);
}

size_t gn_empty_write(uint8_t *out, gn_message_type type)
{
    writer w = begin(out, type);
    return end(&w);
}

// "GNDATA", token, rank: 24 bytes, 3 to a value.
enum { DATA_HELLO_CONTENT = GN_DATA_HELLO_BYTES / GN_AS_VALUES_OUT * GN_AS_VALUES_IN };
static const char data_magic[6] = {'G', 'N', 'D', 'A', 'T', 'A'};

void gn_data_hello_write(uint8_t out[GN_DATA_HELLO_BYTES], const gn_join *join)
{
    uint8_t content[DATA_HELLO_CONTENT];
    memcpy(content, data_magic, sizeof data_magic);
    memcpy(content + sizeof data_magic, join->token, GN_TOKEN_BYTES);
    content[22] = (uint8_t)join->rank;
    content[23] = (uint8_t)(join->rank >> 8);
    gn_as_values_write(content, GN_DATA_HELLO_BYTES / GN_AS_VALUES_OUT, out);
}

bool gn_data_hello_read(const uint8_t bytes[GN_DATA_HELLO_BYTES], gn_join *join)
{
    uint8_t content[DATA_HELLO_CONTENT];
    if (!gn_as_values_read(bytes, GN_DATA_HELLO_BYTES / GN_AS_VALUES_OUT, content)) return false;
    if (memcmp(content, data_magic, sizeof data_magic) != 0) return false;
    memcpy(join->token, content + sizeof data_magic, GN_TOKEN_BYTES);
    join->rank = (uint16_t)(content[22] | content[23] << 8);
    return true;
}

void gn_token_text(const uint8_t token[GN_TOKEN_BYTES], char *text)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < GN_TOKEN_BYTES; i++) {
        *text++ = digits[token[i] >> 4];
        *text++ = digits[token[i] & 15];
    }
    *text = 0;
}

bool gn_rendezvous_line_read(const char *text, size_t length, char host[GN_RENDEZVOUS_LINE], uint16_t *port)
{
    static const char prefix[] = "gradnic-rendezvous 1 ";
    size_t skip = sizeof prefix - 1;
    if (length <= skip || length >= GN_RENDEZVOUS_LINE || text[length - 1] != '\n' || memcmp(text, prefix, skip) != 0 ||
        memchr(text, 0, length))
        return false;
    const char *space = memchr(text + skip, ' ', length - skip);
    if (!space || space == text + skip) return false;
    memcpy(host, text + skip, (size_t)(space - text) - skip);
    host[(size_t)(space - text) - skip] = 0;
    unsigned value = 0;
    const char *p = space + 1;
    for (; p < text + length - 1; p++) {
        if (*p < '0' || *p > '9' || value > 65535) return false;
        value = value * 10 + (unsigned)(*p - '0');
    }
    *port = (uint16_t)value;
    return value >= 1 && value <= 65535;
}
