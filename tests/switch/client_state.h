// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TESTS_SWITCH_CLIENT_STATE_H
#define GRADNIC_TESTS_SWITCH_CLIENT_STATE_H
/// What client.c and client_flood.c share.

#include "client.h"
#include "net/greeting.h"
#include "switch/daemon/outbox.h"

enum { BUFFER = 65536, BURST = 64 };

typedef struct channel {
    int fd;
    gn_source to;
    gn_worker *worker;
    float *send, *recv;
    float *own, *sum;  ///< what is sent and must come, but for a factor
    uint8_t up[GN_AGG_KEY], down[GN_AGG_KEY];
} channel;

typedef struct client {
    const sw_client *config;
    sw_result *result;
    int tcp;
    gn_admission_join join;
    channel channels[GN_ADMISSION_CHANNELS_MAX];
    gn_greeting greeting;
    gn_outbox *box;
    uint8_t in[GN_ADMISSION_MAX];
    size_t in_bytes;
    uint64_t progress;  ///< when something came last
    unsigned spoilt;    ///< which bit of a header is turned next
    uint8_t buffer[BUFFER];
} client;

/// Sends hostile datagrams from the first channel for as long as the configuration says.
bool sw_client_flood(client *c);

#endif
