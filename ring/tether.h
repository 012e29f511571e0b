// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_TETHER_H
#define GRADNIC_RING_TETHER_H
/// The connection with a switch that holds a job there (gradnic/admission.h): the job ends when it does.

#include <gradnic/admission.h>

#include "net/error.h"
#include "net/tcp.h"

typedef struct gn_tether {
    int fd;           ///< -1: none
    bool gone;        ///< ended, and `why` tells in words
    bool told;        ///< which are the switch's own
    bool up, joined;  ///< connected; JOIN has been sent
    uint64_t last_heard, last_ping;
    char waits[GN_ADMISSION_TEXT];  ///< whom the switch waits for, as it said last; may be empty
    char why[GN_ADMISSION_TEXT + 64];
    size_t in_used;
    uint8_t in[GN_ADMISSION_MAX];
} gn_tether;

/// Starts to connect, from the address that the route has.
gn_status gn_tether_open(gn_tether *tether, const gn_endpoint *to);

/// Does what can be done without waiting: connects, sends `join` once when it is not NULL, reads. `*answer` is filled when a WELCOME or REFUSED has come (type says
/// which); GN_ADMISSION_JOIN until then. @return GN_OK, or GN_IO when `why` says what has ended it.
gn_status gn_tether_advance(gn_tether *tether, const gn_admission_join *join, gn_admission *answer);

/// For poll(): POLLOUT until it is connected.
short gn_tether_events(const gn_tether *tether);

/// Asks for a sign of life.
void gn_tether_ping(gn_tether *tether, uint64_t now);

/// Last words to the switch: the job is over, and why.
void gn_tether_end(gn_tether *tether, const char *why);
/// Or: it has come to its end.
void gn_tether_leave(gn_tether *tether);

/// Once admitted: reads. @return false when the switch has ended the job.
bool gn_tether_serve(gn_tether *tether);

void gn_tether_close(gn_tether *tether);

#endif
