// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_TURN_H
#define GRADNIC_RING_TURN_H
/// What the ranks say to each other about one collective, on the out-of-band connections: who calls
/// what, agreements on a number, and who has all results.

#include "ring/group.h"

/// Opens a collective: sends our header to the neighbours. With `leads` those over TCP get it from
/// the caller, ahead of the values.
/// @return GN_OK, or the status of a failure that came meanwhile
gn_status gn_oob_begin(gn_comm *comm, const gn_op_header *header, bool leads);
/// Takes the header that neighbour `index` has sent ahead of its values: GN_OP_BYTES.
/// @return false when it is none of this collective. One that differs from ours ends the
/// communicator.
bool gn_oob_take_lead(gn_comm *comm, int index, const uint8_t *bytes);
/// Closes it. The next one may begin.
void gn_oob_end(gn_comm *comm);

/// Takes the headers that neighbour `index` has left in shared memory, where there is one. There
/// they need no call of the kernel. They also come as messages, but only to who sleeps.
void gn_oob_listen_locked(gn_comm *comm, int index);
/// This rank is about to wait: messages have to wake it. @return whether a header is there already
bool gn_oob_sleep(gn_comm *comm);
/// It does not wait any more.
void gn_oob_awake(gn_comm *comm);
/// Whether the header of neighbour `index` is in shared memory, and not yet taken.
bool gn_oob_is_told(gn_comm *comm, int index);

/// Whether neighbour `index` has sent its header of this collective. Then it agrees with ours.
bool gn_oob_has_header(gn_comm *comm, int index);

/// Gives this rank's value to an agreement. Values go round the ring, or to rank 0 and back.
void gn_oob_offer(gn_comm *comm, int round, int value);
/// @return whether all have agreed; then `*value` is the largest value
bool gn_oob_agreed(gn_comm *comm, int round, int *value);

/// Algorithm switch: this rank has all results of its first `collectives` collectives. When all
/// ranks have, rank 0 tells them.
void gn_oob_finish(gn_comm *comm, uint64_t collectives);
bool gn_oob_all_finished(gn_comm *comm, uint64_t collectives);
/// The same of neighbour `index`, at rank 0.
bool gn_oob_has_finished(gn_comm *comm, int index, uint64_t collectives);
/// Rank 0: nobody waits for the results of a neighbour that has left.
void gn_oob_neighbour_left_locked(gn_comm *comm);

/// Takes a message of type OP, AGREE, AGREED or DONE.
/// @return false for one that a correct neighbour does not send now
bool gn_oob_take_turn_locked(gn_comm *comm, int index, const gn_frame *frame);

#endif
