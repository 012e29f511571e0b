// SPDX-License-Identifier: Apache-2.0
// Hostile datagrams: bytes of any kind, and packets that could be one of the job's.
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client_state.h"
#include "net/clock.h"

static uint64_t draw(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

/// A packet of the job's first channel, as the worker could send it.
static gn_agg_packet contribution(const client *c, uint32_t psn, uint16_t values)
{
    const gn_admission_welcome *w = &c->result->welcome;
    return (gn_agg_packet){.type = GN_AGG_GRADIENT,
                           .job = w->job[0],
                           .gen = w->gen[0],
                           .slot = (uint16_t)(psn % w->slots),
                           .version = psn / w->slots & 1,
                           .psn = psn,
                           .bitmap = 1ull << c->join.bit,
                           .fanin = c->join.children,
                           .values = values};
}

/// Bytes of any kind, or a packet that could be one of the job's, but for one or two fields.
static size_t hostile(const client *c, uint64_t *state, uint8_t *out, size_t room)
{
    const size_t bytes = draw(state) % room;
    for (size_t i = 0; i < bytes; i++) out[i] = (uint8_t)draw(state);
    if (draw(state) % 4 == 0) return bytes;
    const uint32_t psn = (uint32_t)draw(state) % 1024;
    gn_agg_packet packet = contribution(c, psn, (uint16_t)(draw(state) % 300));
    switch (draw(state) % 9) {
    case 0:
        packet.job = (uint16_t)draw(state);
        break;
    case 1:
        packet.gen++;
        break;
    case 2:
        packet.bitmap = 1ull << draw(state) % packet.fanin;
        break;
    case 3:
        packet.level = 1;
        break;
    case 4:
        packet.slot ^= 1;
        break;
    case 5:
        packet.type = (uint8_t)(draw(state) % GN_AGG_TYPES);
        break;
    case 6:
        packet.flags = (uint8_t)(draw(state) % (GN_AGG_FLAGS + 1));
        break;
    case 7:
        packet.exponent = (int8_t)draw(state);
        break;
    default:
        break;
    }
    const size_t whole = GN_AGG_HEADER + 4u * packet.values;
    if (whole > room) return bytes;
    gn_agg_write_header(&packet, out);
    return whole;
}

/// A packet that only its numbers may tell from a contribution.
static size_t imposture(const client *c, uint64_t *state, uint8_t *out, size_t room)
{
    const uint32_t psn = (uint32_t)(c->config->flood == SW_FLOOD_OWN ? c->result->flooded : draw(state) % 65536);
    gn_agg_packet packet = contribution(c, psn, c->join.packet_values);
    if (c->config->flood == SW_FLOOD_OLD) packet.gen = (uint16_t)(packet.gen - 1 - draw(state) % 8);
    if (c->config->flood == SW_FLOOD_OTHER) {
        const int away = (int)(draw(state) % 8) - 4;
        packet.job = (uint16_t)(packet.job + away);
        packet.gen = (uint16_t)(packet.gen + away);
        packet.fanin = 2;
        packet.bitmap = 1 + draw(state) % 2;
    }
    const size_t whole = GN_AGG_HEADER + 4u * packet.values;
    if (whole > room) return 0;
    memset(out, 1, whole);
    gn_agg_write_header(&packet, out);
    return whole;
}

bool sw_client_flood(client *c)
{
    enum {
        ROOM = 1400,
        FLOOD_EVERY_US = 3000
    };  // some 150 Mbit/s: more than the link has, but no processor's whole time
    uint64_t state = c->join.rank + 1;
    const unsigned every = c->config->flood_every_us ? c->config->flood_every_us : FLOOD_EVERY_US;
    const uint64_t end = gn_now() + (uint64_t)(c->config->flood_s * 1e9);
    while (gn_now() < end) {
        for (unsigned i = 0; i < BURST; i++) {
            uint8_t *room = gn_outbox_room(c->box, ROOM);
            const size_t bytes =
                c->config->flood == SW_FLOOD_ANY ? hostile(c, &state, room, ROOM) : imposture(c, &state, room, ROOM);
            gn_outbox_keep(c->box, bytes);
            gn_outbox_post(c->box, c->channels[0].fd, &c->channels[0].to, room, bytes);
            c->result->flooded++;
        }
        gn_outbox_flush(c->box);
        while (recv(c->channels[0].fd, c->buffer, BUFFER, MSG_DONTWAIT) > 0) continue;
        usleep(every);
    }
    return true;
}
