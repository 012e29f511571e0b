// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_NET_GREETING_FRAME_H
#define GRADNIC_NET_GREETING_FRAME_H
/// The frames of net/greeting.h as bytes. This is the one place where they are written, and where
/// bytes from the network are parsed. Pure functions.
///
/// There are three dialects. CALL looks like the first message of a later version of the owner's
/// protocol. So a peer that knows of no secret can say in its own words what it does not
/// understand.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/secret.h"

enum {
    GN_GREETING_VERSION = 1,
    GN_GREETING_EXCHANGE_VERSION = 4,  ///< of the exchange, as ranks without a secret see it
    GN_GREETING_SWITCH_VERSION = 6,    ///< of admission, as switches without a secret see it
    GN_GREETING_NAME = 48,             ///< bytes of a job's name with its 0
    GN_GREETING_NONCE = 32,
    GN_GREETING_EPOCH = 16,
    // Bytes of the bodies, and of the longest frame, which is CALL as values.
    GN_GREETING_CALL = 17 + GN_GREETING_NAME + GN_GREETING_NONCE,
    GN_GREETING_CHALLENGE = GN_GREETING_NONCE + GN_GREETING_EPOCH + GN_SECRET_MAC,
    GN_GREETING_PROOF = GN_SECRET_MAC,
    GN_GREETING_MAX = 140,
    GN_GREETING_ANYBODY = 0xFFFF  ///< gn_greeting_who.to: a callee that has no rank
};

typedef enum gn_greeting_dialect {
    GN_GREETING_EXCHANGE,  ///< like the messages of ring/message.h
    GN_GREETING_VALUES,    ///< the same as values (net/as_values.h), where packets are marked
    GN_GREETING_SWITCH     ///< like the frames of gradnic/admission.h
} gn_greeting_dialect;

/// What the connection is for.
typedef enum gn_greeting_role {
    GN_ROLE_RANK = 1,                 ///< a rank comes to rank 0
    GN_ROLE_OOB,                      ///< between neighbours, out-of-band
    GN_ROLE_DATA,                     ///< between neighbours, values
    GN_ROLE_CHILD,                    ///< and the gn_asker, 0 to 2: a child comes to its switch
    GN_ROLE_PEER = GN_ROLE_CHILD + 3  ///< between any two ranks, messages
} gn_greeting_role;

/// The caller, and whom it wants.
typedef struct gn_greeting_who {
    uint8_t role;  ///< gn_greeting_role
    uint16_t rank, size;
    uint16_t to;                  ///< rank of the callee, or GN_GREETING_ANYBODY
    uint64_t job;                 ///< number of the job, where it has one
    char name[GN_GREETING_NAME];  ///< of the job, where it has one; ends with 0
} gn_greeting_who;

typedef struct gn_greeting_call_body {
    uint8_t version;  ///< GN_GREETING_VERSION
    gn_greeting_who who;
    uint8_t nonce[GN_GREETING_NONCE];
} gn_greeting_call_body;

void gn_greeting_call_write(const gn_greeting_call_body *call, gn_greeting_dialect dialect,
                            uint8_t body[GN_GREETING_CALL]);
/// Of a CALL of another version it reads only that. @return false when a field is out of its range
bool gn_greeting_call_read(const uint8_t body[GN_GREETING_CALL], gn_greeting_call_body *call);

typedef enum gn_greeting_type { GN_CALL, GN_CHALLENGE, GN_PROOF, GN_GREETING_TYPES } gn_greeting_type;

typedef struct gn_greeting_frame {
    gn_greeting_dialect dialect;
    gn_greeting_type type;
    uint8_t body[GN_GREETING_CALL];  ///< the longest; how long it is follows from `type`
} gn_greeting_frame;

/// Looks for a frame of frame->type in frame->dialect at the start of `bytes`, and fills in its
/// body. It is a gn_framed_parse.
/// @return its length; 0 when it is not whole yet; -1 when these bytes cannot begin one, as soon as
/// that is known
int gn_greeting_parse(const uint8_t *bytes, size_t available, void *frame);

/// Writes a frame. @return its length
size_t gn_greeting_write(const gn_greeting_frame *frame, uint8_t out[GN_GREETING_MAX]);

#endif
