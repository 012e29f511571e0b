// SPDX-License-Identifier: Apache-2.0
#include "packets.h"

#include <string.h>

static void put16(uint8_t *p, unsigned v)
{
    p[0] = (uint8_t)(v >> 8);
    p[1] = (uint8_t)v;
}

static void put32(uint8_t *p, uint32_t v)
{
    put16(p, v >> 16);
    put16(p + 2, v & 0xffff);
}

static unsigned get16(const uint8_t *p)
{
    return p[0] * 256u + p[1];
}

/// One byte at a time, folded at every step.
static unsigned sum_of(unsigned sum, const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        sum += i % 2 ? p[i] : p[i] * 256u;
        while (sum > 0xffff) sum = sum - 0x10000 + 1;
    }
    return sum;
}

size_t packet_l4(const uint8_t *b)
{
    return b[0] / 16 == 6 ? 40 : b[0] % 16 * 4u;
}

static unsigned protocol_of(const uint8_t *b)
{
    return b[0] / 16 == 6 ? b[6] : b[9];
}

static size_t length_of(const uint8_t *b)
{
    return b[0] / 16 == 6 ? 40 + get16(b + 4) : get16(b + 2);
}

size_t packet_headers(const uint8_t *b)
{
    size_t l4 = packet_l4(b);
    return l4 + (protocol_of(b) == 17 ? 8 : b[l4 + 12] / 16 * 4u);
}

uint32_t packet_seq(const uint8_t *b)
{
    return get16(b + packet_l4(b) + 4) << 16 | get16(b + packet_l4(b) + 6);
}
int packet_flags(const uint8_t *b)
{
    return b[packet_l4(b) + 13];
}
int packet_id(const uint8_t *b)
{
    return (int)get16(b + 4);
}

static unsigned pseudo(const uint8_t *b)
{
    size_t l4_bytes = length_of(b) - packet_l4(b);
    unsigned sum = b[0] / 16 == 6 ? sum_of(0, b + 8, 32) : sum_of(0, b + 12, 8);
    uint8_t rest[4] = {0, (uint8_t)protocol_of(b), (uint8_t)(l4_bytes >> 8), (uint8_t)l4_bytes};
    return sum_of(sum, rest, 4);
}

static size_t checksum_at(const uint8_t *b)
{
    return packet_l4(b) + (protocol_of(b) == 17 ? 6 : 16);
}

static void write_checksums(uint8_t *b, bool partial)
{
    if (b[0] / 16 == 4) {
        put16(b + 10, 0);
        put16(b + 10, 0xffff - sum_of(0, b, packet_l4(b)));
    }
    size_t l4 = packet_l4(b), length = length_of(b), at = checksum_at(b);
    if (protocol_of(b) != 6 && protocol_of(b) != 17) return;
    put16(b + at, 0);
    unsigned sum = 0xffff - sum_of(pseudo(b), b + l4, length - l4);
    if (partial)
        sum = pseudo(b);
    else if (!sum && protocol_of(b) == 17)
        sum = 0xffff;
    put16(b + at, sum);
}

void packet_fix(uint8_t *b)
{
    write_checksums(b, false);
}

static void write_ip(const packet *p, uint8_t *b, size_t total)
{
    unsigned tos = p->tos == NO_TOS ? 0 : p->tos <= 0 ? 0x28 : (unsigned)p->tos;
    unsigned protocol = p->protocol ? (unsigned)p->protocol : 6;
    uint8_t host = p->host ? p->host : 1;
    if (p->version == 6) {
        put32(b, 6u << 28 | tos << 20 | 0x12345);
        put16(b + 4, (unsigned)total - 40);
        b[6] = (uint8_t)protocol;
        b[7] = 64;
        memcpy(b + 8, (uint8_t[16]){0xfd, 0, 0, 1, [15] = host}, 16);
        memcpy(b + 24, (uint8_t[16]){0xfd, 0, 0, 2, [15] = 2}, 16);
        return;
    }
    b[0] = (uint8_t)(0x45 + p->ip_options / 4);
    b[1] = (uint8_t)tos;
    put16(b + 2, (unsigned)total);
    put16(b + 4, p->id);
    put16(b + 6, 0x4000);
    b[8] = 64;
    b[9] = (uint8_t)protocol;
    memcpy(b + 12, (uint8_t[8]){10, 0, 0, host, 10, 0, 1, 2}, 8);
    memset(b + 20, 1, p->ip_options);  // no-operation
}

static void write_l4(const packet *p, uint8_t *b, size_t l4_bytes)
{
    put16(b, p->source ? p->source : 40000);
    put16(b + 2, p->destination ? p->destination : 5000);
    if (p->protocol == 17) {
        put16(b + 4, (unsigned)l4_bytes);
        return;
    }
    put32(b + 4, p->seq);
    put32(b + 8, p->ack);
    b[12] = (uint8_t)((5 + p->tcp_options / 4) << 4);
    b[13] = (uint8_t)(p->flags ? p->flags : 0x10);
    put16(b + 14, 501);
    memset(b + 20, 1, p->tcp_options);
    if (p->option[0]) memcpy(b + 20, p->option, p->tcp_options < 12 ? p->tcp_options : 12);
}

size_t packet_build(const packet *p, const void *payload, size_t n, uint8_t *out)
{
    size_t l4 = p->version == 6 ? 40 : 20 + p->ip_options;
    bool tcp = !p->protocol || p->protocol == 6;
    size_t headers = l4 + (tcp ? 20 + p->tcp_options : p->protocol == 17 ? 8 : 0);
    memset(out, 0, headers);
    write_ip(p, out, headers + n);
    if (headers > l4) write_l4(p, out + l4, headers - l4 + n);
    if (n) memcpy(out + headers, payload, n);
    write_checksums(out, p->partial);
    return headers + n;
}

bool packet_valid(const uint8_t *b, size_t length)
{
    unsigned version = b[0] / 16;
    if (length < 28 || (version != 4 && version != 6) || length_of(b) != length) return false;
    if (version == 4 && sum_of(0, b, packet_l4(b)) != 0xffff) return false;
    size_t l4 = packet_l4(b);
    if (protocol_of(b) == 17 && (get16(b + l4 + 4) != length - l4 || !get16(b + l4 + 6))) return false;
    return sum_of(pseudo(b), b + l4, length - l4) == 0xffff;
}

uint32_t random_next(uint32_t *state)
{
    uint32_t x = *state ? *state : 1;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return *state = x;
}

void random_values(uint32_t *state, float *values, size_t count, float scale)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t r = random_next(state);
        if (scale <= 0) {
            r |= 0x40000000;
            memcpy(&values[i], &r, 4);
            continue;
        }
        float unit = (float)(int32_t)r / 2147483648.0f;
        values[i] = r % 7 == 0 ? 0 : r % 101 == 0 ? unit * 3 : unit * unit * unit * scale;
    }
}
