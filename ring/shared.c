// SPDX-License-Identifier: Apache-2.0
#include "ring/shared.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmodel/little_endian.h"
#include "net/socket.h"

enum { LINE = 64, PAGE = 4096, ROOM_MIN = 16 << 10, ROOM_MAX = 1 << 20, ALL_ROOM = 4 << 20, TOKEN = 16 };

/// A note. `number` is its number and 1, and 0 while it is written.
typedef struct note {
    _Alignas(LINE) _Atomic uint64_t number;
    _Atomic uint32_t length;
    uint8_t bytes[GN_SHARED_NOTE];
} note;

/// One direction: `written` and `read` count all bytes so far. Each has a cache line of its own.
typedef struct lane {
    _Alignas(PAGE) _Atomic uint64_t written;
    _Atomic uint32_t reader_sleeps, listener_sleeps;
    _Alignas(LINE) _Atomic uint64_t read;
    _Atomic uint32_t writer_sleeps;
    note notes[2];  ///< by number % 2
} lane;

/// The memory: a page with the token, which shows that this is what was offered. Then a lane from
/// the maker and one to it, a page each, and the bytes of both. Here the bytes of a lane lie twice
/// in a row. So what is in the ring lies in one piece, wherever it begins.
enum { FIRST_BYTES = 3 * PAGE };
_Static_assert(sizeof(lane) == PAGE, "a page for each lane");

/// One direction, as this end sees it.
typedef struct direction {
    lane *lane;
    uint8_t *bytes;
} direction;

struct gn_shared {
    uint8_t *memory;
    size_t room;  ///< of a direction, a power of two
    direction out, in;
    int fd;  ///< of the maker, until the other has opened it; else -1
};

static const int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
static const uint8_t magic[8] = {'G', 'N', 'S', 'H', 'M', 2, 0, 0};
enum { AT_PID = 8, AT_FD = 12, AT_SIZE = 16, AT_ZERO = 20, AT_TOKEN = 24 };

void gn_shared_offer_none(uint8_t offer[GN_SHARED_OFFER])
{
    memset(offer, 0, GN_SHARED_OFFER);
    memcpy(offer, magic, sizeof magic);
}

static bool map_at(uint8_t *at, size_t bytes, int fd, off_t from)
{
    return mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, from) == at;
}

/// Bytes of the memory, and of its mapping here.
static size_t memory_of(size_t room)
{
    return FIRST_BYTES + 2 * room;
}
static size_t here_of(size_t room)
{
    return FIRST_BYTES + 4 * room;
}

size_t gn_shared_room(int neighbours)
{
    size_t room = ROOM_MAX;
    while (room > ROOM_MIN && room * (size_t)neighbours > ALL_ROOM) room /= 2;
    return room;
}

/// The room of an offer. @return 0: it cannot be
static size_t room_offered(uint32_t bytes)
{
    size_t room = ROOM_MIN;
    while (room < ROOM_MAX && memory_of(room) < bytes) room *= 2;
    return memory_of(room) == bytes ? room : 0;
}

static uint8_t *map_all(int fd, size_t room)
{
    uint8_t *at = mmap(NULL, here_of(room), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) return NULL;
    bool good = map_at(at, FIRST_BYTES, fd, 0);
    for (size_t i = 0; i < 4; i++)
        good = good && map_at(at + FIRST_BYTES + i * room, room, fd, (off_t)(FIRST_BYTES + i / 2 * room));
    if (good) return at;
    munmap(at, here_of(room));
    return NULL;
}

static direction direction_of(uint8_t *memory, size_t room, bool second)
{
    return (direction){(lane *)(void *)(memory + PAGE * (1 + second)), memory + FIRST_BYTES + (second ? 2 * room : 0)};
}

/// Takes over `fd`. The maker keeps it open.
static gn_shared *map(int fd, size_t room, bool maker)
{
    gn_shared *shared = calloc(1, sizeof *shared);
    uint8_t *at = shared ? map_all(fd, room) : NULL;
    if (!at) {
        free(shared);
        close(fd);
        return NULL;
    }
    *shared = (gn_shared){.memory = at,
                          .room = room,
                          .out = direction_of(at, room, !maker),
                          .in = direction_of(at, room, maker),
                          .fd = fd};
    if (maker) return shared;
    close(fd);
    shared->fd = -1;
    return shared;
}

/// Beyond the limit of file sizes the kernel would send SIGXFSZ, which ends the process.
static bool may_be_as_large(size_t bytes)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= bytes;
}

gn_shared *gn_shared_make(size_t room, uint8_t offer[GN_SHARED_OFFER])
{
    gn_shared_offer_none(offer);
    if (!may_be_as_large(memory_of(room))) return NULL;
    const int fd = gn_apart(memfd_create("gradnic", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (fd < 0) return NULL;
    // All pages now: where memory is limited, the ranks go on over TCP, and do not die later.
    if (posix_fallocate(fd, 0, (off_t)memory_of(room)) || fcntl(fd, F_ADD_SEALS, seals)) {
        close(fd);
        return NULL;
    }
    gn_shared *shared = map(fd, room, true);
    if (!shared) return NULL;
    if (getrandom(shared->memory, TOKEN, 0) != TOKEN) {
        gn_shared_free(shared);
        return NULL;
    }
    gn_store32(offer + AT_PID, (uint32_t)getpid());
    gn_store32(offer + AT_FD, (uint32_t)fd);
    gn_store32(offer + AT_SIZE, (uint32_t)memory_of(room));
    memcpy(offer + AT_TOKEN, shared->memory, TOKEN);
    return shared;
}

/// Whether it is memory like ours, and stays as large as it is.
static bool is_ours(int fd, size_t room)
{
    struct stat about;
    return !fstat(fd, &about) && S_ISREG(about.st_mode) && about.st_size == (off_t)memory_of(room) &&
           about.st_uid == geteuid() && (fcntl(fd, F_GET_SEALS) & seals) == seals;
}

gn_shared *gn_shared_take(const uint8_t offer[GN_SHARED_OFFER])
{
    char path[64];
    const uint32_t pid = gn_load32(offer + AT_PID);
    struct stat about;
    const size_t room = room_offered(gn_load32(offer + AT_SIZE));
    if (memcmp(offer, magic, sizeof magic) != 0 || !pid || !room || gn_load32(offer + AT_ZERO)) return NULL;
    snprintf(path, sizeof path, "/proc/%u/fd/%u", pid, gn_load32(offer + AT_FD));
    // Looked at before it is opened: to open a device or a FIFO may do something.
    if (stat(path, &about) || !S_ISREG(about.st_mode) || about.st_size != (off_t)memory_of(room)) return NULL;
    const int fd = gn_apart(open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (fd < 0) return NULL;
    if (!is_ours(fd, room)) {
        close(fd);
        return NULL;
    }
    gn_shared *shared = map(fd, room, false);
    if (shared && !memcmp(shared->memory, offer + AT_TOKEN, TOKEN)) return shared;
    gn_shared_free(shared);
    return NULL;
}

void gn_shared_free(gn_shared *shared)
{
    if (!shared) return;
    munmap(shared->memory, here_of(shared->room));
    if (shared->fd >= 0) close(shared->fd);
    free(shared);
}

void gn_shared_taken(gn_shared *shared)
{
    close(shared->fd);
    shared->fd = -1;
}

/// Bytes in a lane. @return false when that cannot be
static bool used(const gn_shared *shared, const lane *l, size_t *bytes)
{
    const uint64_t written = atomic_load_explicit(&l->written, memory_order_acquire),
                   read = atomic_load_explicit(&l->read, memory_order_acquire);
    *bytes = (size_t)(written - read);
    return written - read <= shared->room;
}

ssize_t gn_shared_write(gn_shared *shared, const void *bytes, size_t count)
{
    lane *l = shared->out.lane;
    size_t there;
    if (!used(shared, l, &there)) return -1;
    const uint64_t written = atomic_load_explicit(&l->written, memory_order_relaxed);
    const size_t room = shared->room - there, n = count < room ? count : room;
    memcpy(shared->out.bytes + written % shared->room, bytes, n);
    if (n) atomic_store_explicit(&l->written, written + n, memory_order_release);
    return (ssize_t)n;
}

ssize_t gn_shared_look(const gn_shared *shared, const uint8_t **at)
{
    size_t there;
    if (!used(shared, shared->in.lane, &there)) return -1;
    *at = shared->in.bytes + atomic_load_explicit(&shared->in.lane->read, memory_order_relaxed) % shared->room;
    return (ssize_t)there;
}

void gn_shared_take_off(gn_shared *shared, size_t count)
{
    lane *l = shared->in.lane;
    const uint64_t read = atomic_load_explicit(&l->read, memory_order_relaxed);
    if (count) atomic_store_explicit(&l->read, read + count, memory_order_release);
}

ssize_t gn_shared_read(gn_shared *shared, void *bytes, size_t count)
{
    const uint8_t *at;
    const ssize_t there = gn_shared_look(shared, &at);
    if (there <= 0) return there;
    const size_t n = count < (size_t)there ? count : (size_t)there;
    memcpy(bytes, at, n);
    gn_shared_take_off(shared, n);
    return (ssize_t)n;
}

bool gn_shared_has_bytes(const gn_shared *shared)
{
    size_t there;
    return !used(shared, shared->in.lane, &there) || there;  // what is wrong is to be seen, too
}

bool gn_shared_has_room(const gn_shared *shared)
{
    size_t there;
    return !used(shared, shared->out.lane, &there) || there < shared->room;
}

// The flag is written before the index is read here, and the index before the flag there, in one
// order for all (sequentially consistent). So one of the two ends sees what the other did.

bool gn_shared_sleep_to_read(gn_shared *shared)
{
    atomic_store(&shared->in.lane->reader_sleeps, 1);
    atomic_thread_fence(memory_order_seq_cst);
    return !gn_shared_has_bytes(shared);
}

bool gn_shared_sleep_to_write(gn_shared *shared)
{
    atomic_store(&shared->out.lane->writer_sleeps, 1);
    atomic_thread_fence(memory_order_seq_cst);
    return !gn_shared_has_room(shared);
}

void gn_shared_sleep_to_be_told(gn_shared *shared, bool sleeps)
{
    atomic_store(&shared->in.lane->listener_sleeps, sleeps);
    atomic_thread_fence(memory_order_seq_cst);
}

bool gn_shared_tell(gn_shared *shared, uint64_t number, const void *bytes, size_t length)
{
    note *n = &shared->out.lane->notes[number % 2];
    atomic_store_explicit(&n->number, 0, memory_order_release);
    atomic_thread_fence(memory_order_seq_cst);
    atomic_store_explicit(&n->length, (uint32_t)length, memory_order_relaxed);
    memcpy(n->bytes, bytes, length);
    atomic_store_explicit(&n->number, number + 1, memory_order_release);
    atomic_thread_fence(memory_order_seq_cst);
    return !atomic_load_explicit(&shared->out.lane->listener_sleeps, memory_order_relaxed);
}

size_t gn_shared_told(const gn_shared *shared, uint64_t number, uint8_t bytes[GN_SHARED_NOTE])
{
    const note *n = &shared->in.lane->notes[number % 2];
    if (atomic_load_explicit(&n->number, memory_order_acquire) != number + 1) return 0;
    const uint32_t length = atomic_load_explicit(&n->length, memory_order_relaxed);
    if (length > GN_SHARED_NOTE) return 0;
    memcpy(bytes, n->bytes, length);
    return length;
}

bool gn_shared_must_wake(gn_shared *shared)
{
    atomic_thread_fence(memory_order_seq_cst);
    bool wake = false;
    if (atomic_load_explicit(&shared->out.lane->reader_sleeps, memory_order_relaxed))
        wake |= atomic_exchange(&shared->out.lane->reader_sleeps, 0) != 0;
    if (atomic_load_explicit(&shared->in.lane->writer_sleeps, memory_order_relaxed))
        wake |= atomic_exchange(&shared->in.lane->writer_sleeps, 0) != 0;
    return wake;
}
