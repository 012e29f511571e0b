// SPDX-License-Identifier: Apache-2.0
// The engine `rtl`: the Verilog NIC. A packet gets an Ethernet header for its way through the
// hardware. Its head goes with it as side-band, for hardware that is built without a table of TCP
// flows. Rules, bypass and counters are registers.
#include <stdlib.h>
#include <string.h>

#include <gradnic/packet.h>

#include "driver/engine.h"
#include "driver/nic_registers.h"
#include "driver/rtl/rtl_nic.h"

enum {
    ETHERNET = 14,
    FRAME_MAX = ETHERNET + GN_PACKET_MAX,
    PATIENCE = 200000,  // cycles without a beat: the hardware will not answer any more
    LOOK = 256,         // cycles without a beat: the counters say whether the frame was dropped
    USER_STORED = 4,    // side-band of a frame from the host, in its last beat
};

typedef struct hardware {
    gn_rtl_nic *nic;
    size_t rules;       // as many as the hardware has
    unsigned profiles;  // bit p: profile p is built
    bool no_restore;
    gn_flow_sets flows;
    gn_rule_words words[GN_RULES_MAX];
    // The hardware's counters of a rule go on when the rule is replaced. Ours begin anew.
    uint64_t before[GN_RULES_MAX][GN_TX_RULE_REGISTERS];
    uint64_t dropped;  // received frames that did not come out
    uint8_t sent[FRAME_MAX], received[FRAME_MAX];
} hardware;

static gn_status put(hardware *h, unsigned at, uint32_t value, gn_error *error)
{
    const int answer = gn_rtl_nic_write(h->nic, at, value);
    if (!answer) return GN_OK;
    return gn_fail(error, GN_INVALID, "register 0x%03x: %s", at,
                   answer < 0 ? "the hardware does not answer" : "the hardware refuses a write");
}

static gn_status get(hardware *h, unsigned at, uint32_t *value, gn_error *error)
{
    const int answer = gn_rtl_nic_read(h->nic, at, value);
    if (!answer) return GN_OK;
    return gn_fail(error, GN_INVALID, "register 0x%03x: %s", at,
                   answer < 0 ? "the hardware does not answer" : "the hardware has no such register");
}

static gn_status get_counter(hardware *h, unsigned at, uint64_t *value, gn_error *error)
{
    uint32_t low = 0, high = 0;
    if (get(h, at, &low, error) || get(h, at + 4, &high, error)) return error->status;
    *value = (uint64_t)high << 32 | low;
    return GN_OK;
}

static gn_status get_rule_counters(hardware *h, size_t rule, uint64_t value[GN_TX_RULE_REGISTERS], gn_error *error)
{
    for (unsigned i = 0; i < GN_TX_RULE_REGISTERS; i++)
        if (get_counter(h, GN_REG_TX_RULES + (unsigned)rule * GN_REG_TX_RULE_STEP + i * GN_REG_COUNTER, &value[i],
                        error))
            return error->status;
    return GN_OK;
}

static void close_hardware(void *state)
{
    hardware *h = state;
    if (!h) return;
    gn_rtl_nic_free(h->nic);
    free(h);
}

static gn_status check_rules(const hardware *h, const gn_rule *rules, size_t count, gn_error *error)
{
    if (count > h->rules)
        return gn_fail(error, GN_INVALID, "the hardware has room for %zu rules, not %zu", h->rules, count);
    for (size_t i = 0; i < count; i++)
        if (!(h->profiles >> rules[i].codec.profile & 1))
            return gn_fail(error, GN_INVALID, "the hardware is built without profile %s",
                           gn_profile_name(rules[i].codec.profile));
    return GN_OK;
}

static gn_status set_rules(void *state, const gn_rule *rules, size_t count, gn_error *error)
{
    hardware *h = state;
    if (check_rules(h, rules, count, error) || put(h, GN_REG_SNAPSHOT, 1, error)) return error->status;
    for (size_t i = 0; i < h->rules; i++) {
        const gn_rule_words words = i < count ? gn_rule_to_words(&rules[i]) : (gn_rule_words){{0}};
        for (unsigned w = 0; w < GN_RULE_WORDS; w++)
            if (put(h, GN_REG_RULES + (unsigned)i * GN_REG_RULE_STEP + 4 * w, words.word[w], error))
                return error->status;
        if (!memcmp(&words, &h->words[i], sizeof words)) continue;
        if (get_rule_counters(h, i, h->before[i], error)) return error->status;
        h->words[i] = words;
    }
    return put(h, GN_REG_COMMIT, 1, error);
}

static gn_status set_bypass(void *state, bool bypass, gn_error *error)
{
    hardware *h = state;
    return put(h, GN_REG_CONTROL, gn_nic_control(bypass, h->no_restore), error);
}

// The datapath has cut to the MTU already.
static gn_status set_limits(hardware *h, size_t max_restored, gn_error *error)
{
    if (!max_restored || max_restored > GN_PACKET_MAX) max_restored = GN_PACKET_MAX;
    return put(h, GN_REG_MTU, GN_PACKET_MAX, error) || put(h, GN_REG_MAX_RESTORED, (uint32_t)max_restored, error)
               ? error->status
               : GN_OK;
}

static void flows(void *state, gn_flow_sets *sets)
{
    *sets = ((const hardware *)state)->flows;
}

static gn_status identify(hardware *h, gn_error *error)
{
    uint32_t id = 0, params = 0, log2 = 0;
    if (get(h, GN_REG_ID, &id, error) || get(h, GN_REG_PARAMS, &params, error) || get(h, GN_REG_FLOWS, &log2, error) ||
        get(h, GN_REG_FLOWS_SEED, &h->flows.seed, error))
        return error->status;
    h->flows.log2 = log2;
    if (id != GN_NIC_ID)
        return gn_fail(error, GN_INVALID, "the hardware's ID is 0x%08x, not 0x%08x", id, (unsigned)GN_NIC_ID);
    h->profiles = gn_nic_profiles(params);
    h->rules = gn_nic_rules(params);
    if (h->rules > GN_RULES_MAX) h->rules = GN_RULES_MAX;
    return GN_OK;
}

static gn_status open_hardware(const gn_engine *engine, void **state, const gn_engine_config *config, gn_error *error)
{
    (void)engine;
    hardware *h = calloc(1, sizeof *h);
    if (!h) return gn_fail_memory(error);
    h->nic = gn_rtl_nic_new();
    h->no_restore = config->no_restore;
    const bool failed = !h->nic
                            ? gn_fail_memory(error)
                            : identify(h, error) || set_rules(h, config->rules, config->rule_count, error) ||
                                  set_limits(h, config->max_restored, error) || set_bypass(h, config->bypass, error);
    if (failed) {
        close_hardware(h);
        return error->status;
    }
    *state = h;
    return GN_OK;
}

// Locally administered addresses. Nobody looks at them.
static const uint8_t ethernet4[ETHERNET] = {2, 'g', 'n', 0, 0, 2, 2, 'g', 'n', 0, 0, 1, 0x08, 0x00};
static const uint8_t ethernet6[ETHERNET] = {2, 'g', 'n', 0, 0, 2, 2, 'g', 'n', 0, 0, 1, 0x86, 0xdd};

static gn_status send_frame(hardware *h, gn_rtl_side side, const uint8_t *packet, size_t length, unsigned user,
                            gn_error *error)
{
    const uint8_t *header = gn_packet_version(packet, length) == 6 ? ethernet6 : ethernet4;
    return gn_rtl_nic_put(h->nic, side, header, ETHERNET, packet, length, user) ? gn_fail_memory(error) : GN_OK;
}

// Takes a frame. `*length` is that of its IP packet, or 0 when nothing came within `cycles`.
static gn_status take_frame(hardware *h, gn_rtl_side side, uint8_t frame[FRAME_MAX], unsigned cycles, size_t *length,
                            gn_error *error)
{
    *length = 0;
    const long got = gn_rtl_nic_get(h->nic, side, frame, FRAME_MAX, cycles);
    if (!got) return GN_OK;
    if (got < 0)
        return gn_fail(error, GN_INVALID, "the hardware gave something that is not a frame: %s",
                       gn_rtl_nic_fault(h->nic, side));
    if (got <= ETHERNET || (memcmp(frame, ethernet4, ETHERNET) != 0 && memcmp(frame, ethernet6, ETHERNET) != 0))
        return gn_fail(error, GN_INVALID, "the hardware changed a frame's Ethernet header (%ld bytes came out)", got);
    *length = (size_t)(got - ETHERNET);
    return GN_OK;
}

static gn_status silent(const char *side, unsigned missing, gn_error *error)
{
    return gn_fail(error, GN_TIMEOUT,
                   "%s: the hardware does not answer: %u frame(s) went in and have not come out, and nothing has "
                   "moved for %d cycles",
                   side, missing, PATIENCE);
}

static gn_status transmit(void *state, const gn_burst *in, const int *heads, gn_burst *out, gn_error *error)
{
    hardware *h = state;
    out->count = 0;
    out->offset[0] = 0;
    for (unsigned i = 0; i < in->count; i++) {
        const unsigned user = heads[i] == GN_HEAD_STORED ? USER_STORED : (unsigned)heads[i];
        if (send_frame(h, GN_RTL_TX, in->data + in->offset[i], in->offset[i + 1] - in->offset[i], user, error))
            return error->status;
    }
    while (out->count < in->count) {
        size_t length = 0;
        if (take_frame(h, GN_RTL_TX, h->sent, PATIENCE, &length, error)) return error->status;
        if (!length) return silent("transmit", in->count - out->count, error);
        const uint32_t at = out->offset[out->count];
        if (length > sizeof out->data - at)
            return gn_fail(error, GN_INVALID, "transmit: the hardware made a burst too long");
        memcpy(out->data + at, h->sent + ETHERNET, length);
        out->offset[++out->count] = at + (uint32_t)length;
    }
    return GN_OK;
}

static gn_status get_rx_counter(hardware *h, const char *name, uint64_t *value, gn_error *error)
{
    return get_counter(h, gn_counter_address(GN_REG_RX, gn_rx_registers, name), value, error);
}

// Whether the last frame that went in was dropped. Only one is ever on its way.
static gn_status was_dropped(hardware *h, bool *dropped, gn_error *error)
{
    uint64_t malformed = 0, bad = 0, too_long = 0;
    if (put(h, GN_REG_SNAPSHOT, 1, error) || get_rx_counter(h, "malformed", &malformed, error) ||
        get_rx_counter(h, "dropped_bad", &bad, error) || get_rx_counter(h, "dropped_long", &too_long, error))
        return error->status;
    *dropped = malformed + bad + too_long != h->dropped;
    h->dropped = malformed + bad + too_long;
    return GN_OK;
}

static gn_status receive(void *state, const uint8_t *packet, size_t length, uint8_t *out, size_t capacity,
                         size_t *out_length, gn_verdict *verdict, gn_error *error)
{
    hardware *h = state;
    if (send_frame(h, GN_RTL_RX, packet, length, 0, error)) return error->status;
    for (unsigned waited = 0; waited < PATIENCE; waited += LOOK) {
        size_t got = 0;
        if (take_frame(h, GN_RTL_RX, h->received, LOOK, &got, error)) return error->status;
        if (got) {
            if (got > capacity)
                return gn_fail(error, GN_INVALID, "receive: %zu bytes do not fit into %zu", got, capacity);
            memcpy(out, h->received + ETHERNET, got);
            *out_length = got;
            *verdict = GN_VERDICT_WRITE;
            return GN_OK;
        }
        bool dropped = false;
        if (was_dropped(h, &dropped, error)) return error->status;
        if (dropped) {
            *verdict = GN_VERDICT_DROP;
            return GN_OK;
        }
    }
    return silent("receive", 1, error);
}

static gn_status get_counters(hardware *h, unsigned at, const gn_counter_register *registers, unsigned count,
                              void *counters, gn_error *error)
{
    for (unsigned i = 0; i < count; i++) {
        uint64_t value = 0;
        if (registers[i].offset == GN_NOT_IN_MODEL) continue;
        if (get_counter(h, at + GN_REG_COUNTER * i, &value, error)) return error->status;
        memcpy((char *)counters + registers[i].offset, &value, sizeof value);
    }
    return GN_OK;
}

static gn_status tx_counters(void *state, gn_tx_counters *c, gn_error *error)
{
    hardware *h = state;
    memset(c, 0, sizeof *c);
    if (put(h, GN_REG_SNAPSHOT, 1, error) || get_counters(h, GN_REG_TX, gn_tx_registers, GN_TX_REGISTERS, c, error))
        return error->status;
    c->bytes -= ETHERNET * c->packets;
    c->flows_now = c->flows_added - c->flows_evicted - c->flows_closed;
    for (size_t i = 0; i < h->rules; i++) {
        uint64_t now[GN_TX_RULE_REGISTERS] = {0};
        if (get_rule_counters(h, i, now, error)) return error->status;
        for (unsigned w = 0; w < GN_TX_RULE_REGISTERS; w++) {
            now[w] -= h->before[i][w];
            memcpy((char *)&c->rule[i] + gn_tx_rule_registers[w].offset, &now[w], sizeof now[w]);
        }
    }
    return GN_OK;
}

static gn_status rx_counters(void *state, gn_rx_counters *c, gn_error *error)
{
    hardware *h = state;
    memset(c, 0, sizeof *c);
    if (put(h, GN_REG_SNAPSHOT, 1, error) || get_counters(h, GN_REG_RX, gn_rx_registers, GN_RX_REGISTERS, c, error))
        return error->status;
    c->bytes -= ETHERNET * c->packets;
    return GN_OK;
}

const gn_engine gn_engine_rtl = {
    .name = "rtl",
    .open = open_hardware,
    .close = close_hardware,
    .set_rules = set_rules,
    .set_bypass = set_bypass,
    .transmit = transmit,
    .receive = receive,
    .tx_counters = tx_counters,
    .rx_counters = rx_counters,
    .flows = flows,
};
