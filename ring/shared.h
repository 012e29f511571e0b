// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_SHARED_H
#define GRADNIC_RING_SHARED_H
/// Memory that two ranks of one host share, in place of a TCP connection's bytes: a ring of bytes
/// in each direction. One rank makes it (memfd) and offers it over the connection. The other opens
/// it by way of /proc, which works for processes of one account that see each other.
///
/// Nothing in it is a lock, and each index has one writer. So a rank that dies holds nothing up:
/// the other sees the end of the connection. The memory cannot shrink, and goes with its last user.
///
/// What the other rank writes there is not believed: indices are checked before they are used.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// One end. NULL stands for a connection without.
typedef struct gn_shared gn_shared;

enum { GN_SHARED_OFFER = 40, GN_SHARED_NOTE = 120 };

/// Bytes of each direction for a rank that shares memory with so many others: 1 MiB for up to 4,
/// and for more at most 4 MiB in all.
size_t gn_shared_room(int neighbours);
/// Makes memory with such a room, and writes the offer of it. @return NULL, with the offer of none,
/// when it cannot be had
gn_shared *gn_shared_make(size_t room, uint8_t offer[GN_SHARED_OFFER]);
/// The other end has opened it: the maker needs no file any more.
void gn_shared_taken(gn_shared *shared);
/// The offer of none.
void gn_shared_offer_none(uint8_t offer[GN_SHARED_OFFER]);
/// Opens what a rank of this host offers. @return NULL for an offer of none, and for one that is
/// not of such memory here
gn_shared *gn_shared_take(const uint8_t offer[GN_SHARED_OFFER]);
/// NULL allowed.
void gn_shared_free(gn_shared *shared);

/// Writes what there is room for. @return bytes; 0: full; -1: the indices are wrong
ssize_t gn_shared_write(gn_shared *shared, const void *bytes, size_t count);
/// Reads what there is. @return bytes; 0: empty; -1: the indices are wrong
ssize_t gn_shared_read(gn_shared *shared, void *bytes, size_t count);

/// Leaves a note of at most GN_SHARED_NOTE bytes beside the bytes. It replaces the note with a
/// number that is smaller by 2. @return whether the other end does not sleep until it is told
bool gn_shared_tell(gn_shared *shared, uint64_t number, const void *note, size_t length);
/// Copies the other end's note with this number. @return its bytes; 0 when there is none
size_t gn_shared_told(const gn_shared *shared, uint64_t number, uint8_t note[GN_SHARED_NOTE]);
/// This end is about to sleep until it is told something, here or otherwise, or is awake again.
void gn_shared_sleep_to_be_told(gn_shared *shared, bool sleeps);

/// What could be read, where it lies. The other end may change it meanwhile, if it is malicious.
/// @return bytes; 0: empty; -1: the indices are wrong
ssize_t gn_shared_look(const gn_shared *shared, const uint8_t **at);
/// What was looked at has been used: it is read.
void gn_shared_take_off(gn_shared *shared, size_t count);

/// This end is about to sleep until there is something to read (room to write): the other is to
/// wake it. @return false when there already is
bool gn_shared_sleep_to_read(gn_shared *shared);
bool gn_shared_sleep_to_write(gn_shared *shared);
/// Whether there is something to read (room to write). For who looks again and again.
bool gn_shared_has_bytes(const gn_shared *shared);
bool gn_shared_has_room(const gn_shared *shared);
/// Whether the other end sleeps, and has to be woken after what this end did. It is said once.
bool gn_shared_must_wake(gn_shared *shared);

#endif
