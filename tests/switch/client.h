// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TESTS_SWITCH_CLIENT_H
#define GRADNIC_TESTS_SWITCH_CLIENT_H
/// A worker with real sockets, as small as can be. It asks a switch for a job, sums vectors whose
/// sums are known, and checks them.

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <gradnic/admission.h>
#include <gradnic/worker.h>

#include "net/secret.h"

typedef enum sw_flood {
    SW_FLOOD_ANY,    ///< bytes of any kind, or packets of the own job of which a field or two are wrong
    SW_FLOOD_OTHER,  ///< right, but of jobs whose numbers and generations are near the own
    SW_FLOOD_OLD,    ///< right, but of earlier generations of the own
    SW_FLOOD_OWN,    ///< right: chunk after chunk of the own, without waiting for results
    SW_FLOODS
} sw_flood;

typedef struct sw_client {
    const char *host;  ///< of the switch, numeric
    const char *from;  ///< address to come from, numeric; NULL: the kernel's choice
    uint16_t port;
    gn_admission_join join;   ///< all but udp_port and patience_ms, which is timeout_ms
    size_t count;             ///< values of each channel's vectors
    unsigned rounds;          ///< vectors, one after the other
    int timeout_ms;           ///< without any progress
    unsigned stop_after;      ///< rounds after which it goes without a word; 0: never
    const char *last_word;    ///< with stop_after: as one whose collective has failed; NULL: none
    double pause_s;           ///< after each round...
    unsigned pauses;          ///< ... up to this one; 0: after all
    atomic_bool *hold;        ///< NULL, or: after its first round it waits while this is true
    atomic_uint *done;        ///< NULL, or how many of the job are: it answers until all are
    bool nan;                 ///< rank 1 has values that have no integers
    bool deaf;                ///< sums in binary32, from rank 0, do not reach it
    uint8_t tos;              ///< of all that it sends; with GN_ECN_MARKED, as if a queue had marked it
    double flood_s;           ///< instead of summing: hostile datagrams as fast as can be, for so long
    sw_flood flood;           ///< of which kind
    unsigned flood_every_us;  ///< 64 of them; 0: 3000
    const gn_secret *secret;  ///< greets with it; NULL: does not greet
    bool as_another;          ///< ... as a rank that it is not
    bool forges;              ///< seals its datagrams with another key
    bool copies;              ///< sends each datagram twice, and then with a bit of its header turned
} sw_client;

typedef struct sw_result {
    bool good;
    char error[400];
    atomic_bool asked;      ///< the switch has read JOIN, and said who has not come
    atomic_uint rounds;     ///< that were summed and right
    double seconds;         ///< from WELCOME to the last result
    gn_worker_stats stats;  ///< of all channels
    uint64_t flooded;       ///< hostile datagrams
    uint32_t hash;          ///< of all results' bits
    gn_admission_welcome welcome;
} sw_result;

/// `result` begins as zeros. Its atomic members may be read meanwhile.
void sw_client_run(const sw_client *config, sw_result *result);

#endif
