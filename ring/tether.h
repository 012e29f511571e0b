// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_TETHER_H
#define GRADNIC_RING_TETHER_H
/// The connection with a switch that holds a job there (gradnic/admission.h). The job ends when the
/// connection does.

#include <gradnic/admission.h>

#include "net/address.h"
#include "net/framed.h"
#include "net/greeting.h"

typedef struct gn_tether {
    gn_framed *connection;  ///< NULL: there is none
    bool gone;              ///< it has ended, and `why` says why in words
    bool told;              ///< the words are the switch's own
    bool joined;            ///< JOIN has been sent
    gn_greeting greeting;   ///< comes before it, where a secret is set
    uint64_t since;         ///< silence counts from here on; the owner may set it
    uint64_t last_ping;
    char waits[GN_ADMISSION_TEXT];  ///< whom the switch waits for, as it said last; may be empty
    char why[GN_ADMISSION_TEXT + 64];
} gn_tether;

/// Begins to connect, for a job that `join` will ask for. @return GN_OK, or GN_IO when `why` says
/// what is wrong
gn_status gn_tether_open(gn_tether *tether, const gn_endpoint *to, const gn_secret *secret,
                         const gn_admission_join *join);
/// The greeting is not needed any more, and neither is the secret.
void gn_tether_forget(gn_tether *tether);
void gn_tether_close(gn_tether *tether);

/// Whether the connection has been made.
bool gn_tether_is_up(const gn_tether *tether);
/// When the switch last said something, or `since`.
uint64_t gn_tether_heard(const gn_tether *tether);

/// What poll() is to wait for.
struct pollfd gn_tether_poll(const gn_tether *tether);

/// Asks for admission, without waiting: connects, greets, sends `join` once unless it is NULL,
/// reads.
/// `answer->type` is GN_ADMISSION_WELCOME or GN_ADMISSION_REFUSED when that has come, and
/// GN_ADMISSION_JOIN until then. @return GN_OK, or GN_IO when `why` says what has ended it
gn_status gn_tether_advance(gn_tether *tether, const gn_admission_join *join, gn_admission *answer);

/// Once admitted: does what poll() has found possible. Sets `gone` when the switch has ended the
/// job.
void gn_tether_serve(gn_tether *tether, short events);

/// Asks for a sign of life.
void gn_tether_ping(gn_tether *tether, uint64_t now);

/// Last words to the switch: the job has failed, and why.
void gn_tether_end(gn_tether *tether, const char *why);
/// Last words to the switch: the job has come to its end.
void gn_tether_leave(gn_tether *tether);

#endif
