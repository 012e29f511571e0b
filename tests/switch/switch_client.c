// SPDX-License-Identifier: Apache-2.0
// switch_client HOST PORT NAME RANK RANKS [OPTION VALUE]...: a worker of client.h as a process.
// Prints one line of JSON. Status 0 when all sums were right. Options:
//   channels, slots, values, format (0 to 2), count, rounds, timeout (ms), stop-after, pause (ms),
//   flood (ms), flood-kind (0 to 3), flood-every (us), priority, bit, children, parent-bit,
//   parent-children
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"

static void set(sw_client *c, const char *option, const char *text)
{
    const unsigned long value = strtoul(text, NULL, 10);
    if (!strcmp(option, "channels")) c->join.channels = (uint8_t)value;
    if (!strcmp(option, "slots")) c->join.slots = (uint16_t)value;
    if (!strcmp(option, "values")) c->join.packet_values = (uint16_t)value;
    if (!strcmp(option, "format")) c->join.format = (uint8_t)value, c->join.bound_exp = value ? 10 : 0;
    if (!strcmp(option, "count")) c->count = value;
    if (!strcmp(option, "rounds")) c->rounds = (unsigned)value;
    if (!strcmp(option, "timeout")) c->timeout_ms = (int)value;
    if (!strcmp(option, "stop-after")) c->stop_after = (unsigned)value;
    if (!strcmp(option, "pause")) c->pause_s = (double)value / 1e3;
    if (!strcmp(option, "priority")) c->join.priority = (uint16_t)value;
    if (!strcmp(option, "flood")) c->flood_s = (double)value / 1e3;
    if (!strcmp(option, "flood-kind")) c->flood = (sw_flood)(value % SW_FLOODS);
    if (!strcmp(option, "flood-every")) c->flood_every_us = (unsigned)value;
    if (!strcmp(option, "bit")) c->join.bit = (uint8_t)value;
    if (!strcmp(option, "children")) c->join.children = (uint8_t)value;
    if (!strcmp(option, "parent-bit")) c->join.parent_bit = (uint8_t)value;
    if (!strcmp(option, "parent-children")) c->join.parent_children = (uint8_t)value;
}

int main(int argc, char **argv)
{
    sw_result r = {.good = false};
    if (argc < 6) {
        (void)fprintf(stderr, "usage: switch_client HOST PORT NAME RANK RANKS [OPTION VALUE]...\n");
        return 2;
    }
    sw_client c = {.host = argv[1],
                   .port = (uint16_t)strtoul(argv[2], NULL, 10),
                   .join = {.rank = (uint16_t)strtoul(argv[4], NULL, 10),
                            .ranks = (uint16_t)strtoul(argv[5], NULL, 10),
                            .packet_values = 256,
                            .slots = 256,
                            .channels = 1},
                   .count = 100000,
                   .rounds = 10,
                   .timeout_ms = 10000};
    snprintf(c.join.name, sizeof c.join.name, "%s", argv[3]);
    c.join.bit = (uint8_t)c.join.rank;
    c.join.children = (uint8_t)c.join.ranks;
    for (int i = 6; i + 1 < argc; i += 2) set(&c, argv[i], argv[i + 1]);
    sw_client_run(&c, &r);
    const double bytes = 4.0 * (double)c.count * c.join.channels * r.rounds;
    printf("{\"good\": %s, \"error\": \"%s\", \"rounds\": %u, \"seconds\": %.3f, \"mb_per_s\": %.1f, \"sent\": %llu, "
           "\"resent\": %llu, "
           "\"late\": %llu, \"ignored\": %llu, \"up_bytes\": %llu, \"down_bytes\": %llu, \"hash\": %u, \"slots\": %u, "
           "\"flooded\": %llu}\n",
           r.good ? "true" : "false", r.error, r.rounds, r.seconds, r.seconds > 0 ? bytes / r.seconds / 1e6 : 0,
           (unsigned long long)r.stats.sent, (unsigned long long)r.stats.resent, (unsigned long long)r.stats.late,
           (unsigned long long)r.stats.ignored, (unsigned long long)r.stats.up_bytes,
           (unsigned long long)r.stats.down_bytes, r.hash, r.welcome.slots, (unsigned long long)r.flooded);
    return r.good ? 0 : 1;
}
