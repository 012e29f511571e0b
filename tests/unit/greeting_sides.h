// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TESTS_GREETING_SIDES_H
#define GRADNIC_TESTS_GREETING_SIDES_H
/// Two ends of a connection that greet each other. What goes over it is in the test's hands.

#include <stddef.h>
#include <stdint.h>

#include "net/framed.h"
#include "net/greeting.h"
#include "net/secret.h"

enum { DIALECTS = GN_GREETING_SWITCH + 1, ROOM = 512 };

extern const gn_secret none, one, two;
extern const uint8_t epoch[GN_GREETING_EPOCH];
extern const gn_greeting_who rank_3;

typedef struct side {
    gn_greeting greeting;
    gn_framed *connection;
    int far;  ///< the test's end
} side;

/// The one who connects.
side caller_with(const gn_secret *secret, gn_greeting_dialect dialect, const gn_greeting_who *who);
/// The other one. `own`: its rank.
side callee_with(const gn_secret *secret, gn_greeting_dialect dialect, uint16_t own);
/// Frees it.
void drop(side *s);
/// Reads what has come, and goes on with the greeting.
gn_greeting_step go(side *s);
/// What a side has said since.
size_t said(const side *s, uint8_t bytes[ROOM]);
/// Says these bytes to a side.
void tell(const side *s, const uint8_t *bytes, size_t count);
/// Carries what one has said to the other. @return how much that was
size_t carry(const side *from, const side *to);
/// Both speak until neither has anything to say.
void talk(side *a, side *b);

#endif
