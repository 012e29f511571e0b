// SPDX-License-Identifier: Apache-2.0
#include "cage.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <check.h>

enum { MARGIN = 256, MARK = 0x5a };

cage cage_new(size_t most)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), size = (most + MARGIN + page - 1) / page * page;
    uint8_t *all = mmap(NULL, size + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert(all != MAP_FAILED);
    ck_assert_int_eq(mprotect(all + page, size, PROT_READ | PROT_WRITE), 0);
    return (cage){.room = all + page, .room_size = size};
}

void cage_free(cage *c)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    munmap(c->room - page, c->room_size + 2 * page);
}

static uint8_t *margin(const cage *c)
{
    return c->at == c->room ? c->at + c->size : c->at - MARGIN;
}

void *cage_place(cage *c, cage_side side, const void *content, size_t size)
{
    if (size + MARGIN > c->room_size) ck_abort_msg("a cage is too small for %zu bytes", size);
    c->size = size;
    c->at = side == CAGE_LOW ? c->room : c->room + c->room_size - size;
    memset(margin(c), MARK, MARGIN);
    if (content && size)
        memcpy(c->at, content, size);
    else
        memset(c->at, MARK, size);
    return c->at;
}

bool cage_intact(const cage *c)
{
    for (size_t i = 0; i < MARGIN; i++)
        if (margin(c)[i] != MARK) return false;
    return true;
}
