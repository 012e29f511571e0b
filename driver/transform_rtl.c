// SPDX-License-Identifier: Apache-2.0
#include "driver/transform_rtl.h"

#include <stdlib.h>
#include <string.h>

#include "driver/rtl/rtl_nic.h"

enum {
    ETHERNET = 14,
    FRAME_MAX = ETHERNET + GN_PACKET_MAX,
    PATIENCE = 200000,  ///< cycles without a beat after which the hardware will not answer any more
    LOOK = 256,         ///< cycles without a beat after which the counters are asked whether a frame was dropped
};

/// Registers: rtl/README.md has the map.
enum {
    REG_ID = 0x000,
    REG_PARAMS = 0x008,
    REG_CONTROL = 0x00c,
    REG_SNAPSHOT = 0x010,
    REG_COMMIT = 0x014,
    REG_RULES = 0x100,
    REG_RULE_STEP = 0x10,
    REG_TX = 0x400,
    REG_TX_RULES = 0x500,
    REG_TX_RULE_STEP = 0x40,
    REG_RX = 0x800,
    ID = 0x474e4943,  // "GNIC"
    BYPASS_BOTH = 3,
    RULE_WORDS = 3,
    RULE_COUNTERS = 5
};

/// Side-band of a frame from the host, in its last beat.
enum { USER_STORED = 4 };

typedef struct hardware {
    gn_rtl_nic *nic;
    size_t rules;       ///< as many as it has
    unsigned profiles;  ///< bit p: profile p is built
    uint32_t words[GN_RULES_MAX][RULE_WORDS];
    /// The hardware's counters of a rule go on when it is replaced; gradnic's begin anew.
    uint64_t before[GN_RULES_MAX][RULE_COUNTERS];
    uint64_t dropped;  ///< frames on receive that did not come out
    uint8_t sent[FRAME_MAX], received[FRAME_MAX];
} hardware;

static int put(hardware *h, unsigned at, uint32_t value, gn_error *error)
{
    const int answer = gn_rtl_nic_write(h->nic, at, value);
    if (!answer) return 0;
    return gn_error_set(error, "register 0x%03x: %s", at,
                        answer < 0 ? "the hardware does not answer" : "the hardware refuses to be written there");
}

static int get(hardware *h, unsigned at, uint32_t *value, gn_error *error)
{
    const int answer = gn_rtl_nic_read(h->nic, at, value);
    if (!answer) return 0;
    return gn_error_set(error, "register 0x%03x: %s", at,
                        answer < 0 ? "the hardware does not answer" : "the hardware has nothing there");
}

static int get_counter(hardware *h, unsigned at, uint64_t *value, gn_error *error)
{
    uint32_t low, high;
    if (get(h, at, &low, error) || get(h, at + 4, &high, error)) return -1;
    *value = (uint64_t)high << 32 | low;
    return 0;
}

static int get_rule_counters(hardware *h, size_t rule, uint64_t value[RULE_COUNTERS], gn_error *error)
{
    for (unsigned i = 0; i < RULE_COUNTERS; i++)
        if (get_counter(h, REG_TX_RULES + (unsigned)rule * REG_TX_RULE_STEP + i * 8, &value[i], error)) return -1;
    return 0;
}

static void close_hardware(void *state)
{
    hardware *h = state;
    if (!h) return;
    gn_rtl_nic_free(h->nic);
    free(h);
}

static void rule_words(const gn_rule *rule, uint32_t words[RULE_WORDS])
{
    words[0] = 1u << 31 | (uint32_t)rule->codec.profile << 16 | (uint32_t)rule->protocol << 8 | rule->tos;
    words[1] = (uint32_t)rule->port_high << 16 | rule->port_low;
    words[2] = (uint32_t)rule->head << 8 | (uint8_t)rule->codec.bound_exp;
}

static int check_rules(const hardware *h, const gn_rule *rules, size_t count, gn_error *error)
{
    if (count > h->rules) return gn_error_set(error, "the hardware has room for %zu rules, not %zu", h->rules, count);
    for (size_t i = 0; i < count; i++)
        if (!(h->profiles >> rules[i].codec.profile & 1))
            return gn_error_set(error, "the hardware is built without profile %s",
                                gn_profile_name(rules[i].codec.profile));
    return 0;
}

static int set_rules(void *state, const gn_rule *rules, size_t count, gn_error *error)
{
    hardware *h = state;
    if (check_rules(h, rules, count, error) || put(h, REG_SNAPSHOT, 1, error)) return -1;
    for (size_t i = 0; i < h->rules; i++) {
        uint32_t words[RULE_WORDS] = {0};
        if (i < count) rule_words(&rules[i], words);
        for (unsigned w = 0; w < RULE_WORDS; w++)
            if (put(h, REG_RULES + (unsigned)i * REG_RULE_STEP + 4 * w, words[w], error)) return -1;
        if (!memcmp(words, h->words[i], sizeof words)) continue;
        if (get_rule_counters(h, i, h->before[i], error)) return -1;
        memcpy(h->words[i], words, sizeof words);
    }
    return put(h, REG_COMMIT, 1, error);
}

static int set_bypass(void *state, bool bypass, gn_error *error)
{
    return put(state, REG_CONTROL, bypass ? BYPASS_BOTH : 0, error);
}

static int identify(hardware *h, gn_error *error)
{
    uint32_t id, params;
    if (get(h, REG_ID, &id, error) || get(h, REG_PARAMS, &params, error)) return -1;
    if (id != ID) return gn_error_set(error, "the hardware calls itself 0x%08x, not 0x%08x", id, (unsigned)ID);
    h->profiles = params & 7;
    h->rules = params >> 8 & 0xff;
    if (h->rules > GN_RULES_MAX) h->rules = GN_RULES_MAX;
    return 0;
}

static int open_hardware(void **state, const gn_engine_config *config, gn_error *error)
{
    hardware *h = calloc(1, sizeof *h);
    if (!h) return gn_error_set(error, "out of memory");
    h->nic = gn_rtl_nic_new();
    const int failed = !h->nic ? gn_error_set(error, "out of memory")
                               : identify(h, error) || set_rules(h, config->rules, config->rule_count, error) ||
                                     set_bypass(h, config->bypass, error);
    if (failed) {
        close_hardware(h);
        return -1;
    }
    *state = h;
    return 0;
}

/// Locally administered addresses; nobody looks at them.
static const uint8_t ethernet4[ETHERNET] = {2, 'g', 'n', 0, 0, 2, 2, 'g', 'n', 0, 0, 1, 0x08, 0x00};
static const uint8_t ethernet6[ETHERNET] = {2, 'g', 'n', 0, 0, 2, 2, 'g', 'n', 0, 0, 1, 0x86, 0xdd};

static int send_frame(hardware *h, gn_rtl_side side, const uint8_t *packet, size_t length, unsigned user,
                      gn_error *error)
{
    const uint8_t *header = length && packet[0] >> 4 == 6 ? ethernet6 : ethernet4;
    return gn_rtl_nic_put(h->nic, side, header, ETHERNET, packet, length, user) ? gn_error_set(error, "out of memory")
                                                                                : 0;
}

/// @return the IP packet's length; 0: nothing came within `cycles`; -1: what came is wrong
static long take_frame(hardware *h, gn_rtl_side side, uint8_t frame[FRAME_MAX], unsigned cycles, gn_error *error)
{
    const long got = gn_rtl_nic_get(h->nic, side, frame, FRAME_MAX, cycles);
    if (!got) return 0;
    if (got < 0)
        return gn_error_set(error, "what comes out of the hardware is no frame: %s", gn_rtl_nic_fault(h->nic, side));
    if (got <= ETHERNET || (memcmp(frame, ethernet4, ETHERNET) != 0 && memcmp(frame, ethernet6, ETHERNET) != 0))
        return gn_error_set(error, "the hardware has changed a frame's Ethernet header (%ld bytes came out)", got);
    return got - ETHERNET;
}

static int silent(const char *side, unsigned missing, gn_error *error)
{
    return gn_error_set(error,
                        "%s: the hardware does not answer: %u frame(s) went in and have not come out, and nothing has "
                        "moved for %d cycles",
                        side, missing, PATIENCE);
}

static int transmit(void *state, const gn_burst *in, const int *heads, gn_burst *out, gn_error *error)
{
    hardware *h = state;
    out->count = 0;
    out->offset[0] = 0;
    for (unsigned i = 0; i < in->count; i++) {
        const unsigned user = heads[i] == GN_HEAD_STORED ? USER_STORED : (unsigned)heads[i];
        if (send_frame(h, GN_RTL_TX, in->data + in->offset[i], in->offset[i + 1] - in->offset[i], user, error))
            return -1;
    }
    while (out->count < in->count) {
        const long length = take_frame(h, GN_RTL_TX, h->sent, PATIENCE, error);
        if (length < 0) return -1;
        if (!length) return silent("transmit", in->count - out->count, error);
        const uint32_t at = out->offset[out->count];
        if ((size_t)length > sizeof out->data - at)
            return gn_error_set(error, "transmit: the hardware made too much of a burst");
        memcpy(out->data + at, h->sent + ETHERNET, (size_t)length);
        out->offset[++out->count] = at + (uint32_t)length;
    }
    return 0;
}

/// Where gn_rx_counters are from REG_RX on, 8 bytes each.
static const size_t rx_rows[] = {offsetof(gn_rx_counters, packets),     offsetof(gn_rx_counters, bytes),
                                 offsetof(gn_rx_counters, passed),      offsetof(gn_rx_counters, foreign),
                                 offsetof(gn_rx_counters, restored[0]), offsetof(gn_rx_counters, restored[1]),
                                 offsetof(gn_rx_counters, restored[2]), offsetof(gn_rx_counters, restored[3]),
                                 offsetof(gn_rx_counters, wire_bytes),  offsetof(gn_rx_counters, payload_bytes),
                                 offsetof(gn_rx_counters, malformed),   offsetof(gn_rx_counters, bad_version),
                                 offsetof(gn_rx_counters, bad_kind),    offsetof(gn_rx_counters, bad_bound),
                                 offsetof(gn_rx_counters, bad_head),    offsetof(gn_rx_counters, bad_length),
                                 offsetof(gn_rx_counters, bad_stream),  offsetof(gn_rx_counters, bad_checksum)};
/// And gn_tx_counters from REG_TX on.
static const size_t tx_rows[] = {offsetof(gn_tx_counters, packets),       offsetof(gn_tx_counters, bytes),
                                 offsetof(gn_tx_counters, passed),        offsetof(gn_tx_counters, pass_bypass),
                                 offsetof(gn_tx_counters, pass_no_rule),  offsetof(gn_tx_counters, pass_not_ip),
                                 offsetof(gn_tx_counters, pass_fragment), offsetof(gn_tx_counters, pass_extension),
                                 offsetof(gn_tx_counters, pass_protocol), offsetof(gn_tx_counters, pass_empty),
                                 offsetof(gn_tx_counters, pass_too_big),  offsetof(gn_tx_counters, stored_no_gain),
                                 offsetof(gn_tx_counters, stored_no_syn), offsetof(gn_tx_counters, stored_syn)};
enum {
    RX_ROWS = sizeof rx_rows / sizeof *rx_rows,
    TX_ROWS = sizeof tx_rows / sizeof *tx_rows,
    RX_MALFORMED = REG_RX + 8 * 10,
    RX_DROPPED_BAD = REG_RX + 8 * RX_ROWS,
    RX_DROPPED_LONG = RX_DROPPED_BAD + 8
};

/// Whether the frame that went in last was dropped. Only one is ever on its way.
static int was_dropped(hardware *h, bool *dropped, gn_error *error)
{
    uint64_t malformed, bad, too_long;
    if (put(h, REG_SNAPSHOT, 1, error) || get_counter(h, RX_MALFORMED, &malformed, error) ||
        get_counter(h, RX_DROPPED_BAD, &bad, error) || get_counter(h, RX_DROPPED_LONG, &too_long, error))
        return -1;
    *dropped = malformed + bad + too_long != h->dropped;
    h->dropped = malformed + bad + too_long;
    return 0;
}

static int receive(void *state, const uint8_t *packet, size_t length, uint8_t *out, size_t capacity, size_t *out_length,
                   gn_error *error)
{
    hardware *h = state;
    if (send_frame(h, GN_RTL_RX, packet, length, 0, error)) return -1;
    for (unsigned waited = 0; waited < PATIENCE; waited += LOOK) {
        const long got = take_frame(h, GN_RTL_RX, h->received, LOOK, error);
        if (got < 0) return -1;
        if (got) {
            if ((size_t)got > capacity)
                return gn_error_set(error, "receive: %ld bytes have no room in %zu", got, capacity);
            memcpy(out, h->received + ETHERNET, (size_t)got);
            *out_length = (size_t)got;
            return 1;
        }
        bool dropped;
        if (was_dropped(h, &dropped, error)) return -1;
        if (dropped) return 0;
    }
    return silent("receive", 1, error);
}

static int get_rows(hardware *h, unsigned at, const size_t *rows, size_t count, void *counters, gn_error *error)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t value;
        if (get_counter(h, at + 8 * (unsigned)i, &value, error)) return -1;
        memcpy((char *)counters + rows[i], &value, sizeof value);
    }
    return 0;
}

static int tx_counters(void *state, gn_tx_counters *c, gn_error *error)
{
    hardware *h = state;
    memset(c, 0, sizeof *c);
    if (put(h, REG_SNAPSHOT, 1, error) || get_rows(h, REG_TX, tx_rows, TX_ROWS, c, error)) return -1;
    c->bytes -= ETHERNET * c->packets;
    for (size_t i = 0; i < h->rules; i++) {
        uint64_t now[RULE_COUNTERS];
        if (get_rule_counters(h, i, now, error)) return -1;
        for (unsigned w = 0; w < RULE_COUNTERS; w++) now[w] -= h->before[i][w];
        c->rule[i] = (gn_tx_rule_counters){now[0], now[1], now[2], now[3], now[4]};
    }
    return 0;
}

static int rx_counters(void *state, gn_rx_counters *c, gn_error *error)
{
    hardware *h = state;
    memset(c, 0, sizeof *c);
    if (put(h, REG_SNAPSHOT, 1, error) || get_rows(h, REG_RX, rx_rows, RX_ROWS, c, error)) return -1;
    c->bytes -= ETHERNET * c->packets;
    return 0;
}

const gn_transform gn_transform_rtl = {
    .name = "rtl",
    .open = open_hardware,
    .close = close_hardware,
    .set_rules = set_rules,
    .set_bypass = set_bypass,
    .transmit = transmit,
    .receive = receive,
    .tx_counters = tx_counters,
    .rx_counters = rx_counters,
};
