// SPDX-License-Identifier: Apache-2.0
// Two workers and a switch that adds, without a network: the caller carries the datagrams.
#include <gradnic/switch.h>
#include <gradnic/worker.h>

#include <stdio.h>
#include <stdlib.h>

enum { WORKERS = 2, COUNT = 20, SLOTS = 4, VALUES = 8 };

static gn_worker *worker[WORKERS];

// Carries out what one packet led to. A worker's number is its port.
static void deliver(gn_switch *sw, int64_t now, const gn_action *action)
{
    uint8_t down[1024];
    const size_t bytes = gn_action_write(sw, action, down, sizeof down);
    for (unsigned i = 0; i < WORKERS; i++)
        if (action->kind == GN_TO_GROUP || (action->kind == GN_TO_PORT && action->port == i))
            gn_worker_rx(worker[i], now, down, bytes);
}

int main(void)
{
    const gn_switch_config config = {.slots = SLOTS, .slot_values = VALUES, .jobs = 1};
    const gn_switch_job job = {.job = 1, .gen = 1, .slots = SLOTS, .children = WORKERS, .port = {0, 1}};
    gn_switch sw;
    gn_action actions[GN_SWITCH_ACTIONS_MAX];
    void *memory = malloc(gn_switch_bytes(&config));
    if (!memory || gn_switch_init(&sw, &config, memory, gn_switch_bytes(&config))) return 1;
    if (gn_switch_add_job(&sw, &job)) return 1;

    float vector[WORKERS][COUNT], sums[WORKERS][COUNT];
    for (unsigned w = 0; w < WORKERS; w++) {
        const gn_worker_config mine = {.job = 1,
                                       .gen = 1,
                                       .rank = (uint16_t)w,
                                       .ranks = WORKERS,
                                       .bit = (uint8_t)w,
                                       .children = WORKERS,
                                       .slots = SLOTS,
                                       .packet_values = VALUES};
        for (int i = 0; i < COUNT; i++) vector[w][i] = (float)(i * (int)(w + 1)) / 4;
        if (gn_worker_new(&worker[w], &mine)) return 1;
        if (gn_worker_post(worker[w], vector[w], sums[w], COUNT)) return 1;
    }

    unsigned packets = 0;
    for (int64_t now = 0; !gn_worker_done(worker[0]) || !gn_worker_done(worker[1]); now += 1000) {
        const unsigned w = (unsigned)(now / 1000) % WORKERS;
        uint8_t up[1024];
        const size_t bytes = gn_worker_send(worker[w], now, up, sizeof up);
        if (!bytes) continue;
        const unsigned count = gn_switch_rx(&sw, (uint64_t)now, (uint16_t)w, up, bytes, actions);
        for (unsigned i = 0; i < count; i++) deliver(&sw, now, &actions[i]);
        packets++;
    }
    printf("%d values of %d workers summed, %u packets up\n", COUNT, WORKERS, packets);

    int wrong = 0;
    for (unsigned w = 0; w < WORKERS; w++) {
        for (int i = 0; i < COUNT; i++) wrong += sums[w][i] != vector[0][i] + vector[1][i];
        gn_worker_free(worker[w]);
    }
    free(memory);
    return wrong ? 1 : 0;
}
