// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TEST_CAGE_H
#define GRADNIC_TEST_CAGE_H
/// A buffer between pages that do not exist. A read or a write past the end beside such a page ends
/// the program, also without a sanitizer. A write past the other end is noticed.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cage {
    uint8_t *at;
    size_t size;
    uint8_t *room;
    size_t room_size;
} cage;

typedef enum cage_side { CAGE_LOW, CAGE_HIGH, CAGE_SIDES } cage_side;

/// A cage with room for buffers of up to `most` bytes.
cage cage_new(size_t most);
void cage_free(cage *c);

/// Places a buffer of `size` bytes at the room's low or high end. `content` fills it (NULL:
/// anything). Returns the buffer.
void *cage_place(cage *c, cage_side side, const void *content, size_t size);

/// Are the bytes next to the buffer as they were?
bool cage_intact(const cage *c);

#endif
