// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TESTS_UDP_PAIR_H
#define GRADNIC_TESTS_UDP_PAIR_H
/// A UDP socket that sends and one that receives, on loopback, with a batch and an inbox.

#include "net/udp_in.h"
#include "net/udp_out.h"

enum { MESSAGES = 8, DATA = 100000 };

extern uint8_t data[DATA];
extern int from, to;
extern gn_endpoint here;  ///< the receiver's
extern struct sockaddr_storage address;
extern gn_udp_to where;  ///< the same, for the batch
extern gn_udp_inbox *inbox;
extern gn_udp_message message[MESSAGES];  ///< of the batch
extern gn_udp_batch batch;

static const gn_udp_options plain = {0}, joining = {.join = true};

/// The fixture. The tests open the sockets.
void udp_begin(void);
void udp_end(void);
/// An empty batch.
gn_udp_batch new_batch(void);
/// A receiver at an address, and a sender of the same family.
void open_pair(const char *at, const gn_udp_options *receiver, const gn_udp_options *sender);
/// Puts datagrams of these lengths, which lie one behind the other in `data`, into the batch.
void put(const size_t *lengths, size_t count);
/// Receives these datagrams, no more. @return messages
int expect(const size_t *lengths, size_t count, int tos);

#endif
