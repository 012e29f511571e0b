// SPDX-License-Identifier: Apache-2.0
#include "net/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sodium.h>

#include "net/socket.h"
#include "net/whole_file.h"

static pthread_mutex_t start_lock = PTHREAD_MUTEX_INITIALIZER;  // of sodium_init()
static pthread_once_t prepared = PTHREAD_ONCE_INIT;

static void hold_start(void)
{
    pthread_mutex_lock(&start_lock);
}

static void release_start(void)
{
    pthread_mutex_unlock(&start_lock);
}

static void prepare(void)
{
    (void)pthread_atfork(hold_start, release_start, release_start);
}

/// libsodium takes a lock of its own each time it is asked to start. A child of fork() would wait
/// for it for ever, if another thread of its parent held it.
static bool start_sodium(void)
{
    pthread_once(&prepared, prepare);
    pthread_mutex_lock(&start_lock);
    const bool works = sodium_init() >= 0;
    pthread_mutex_unlock(&start_lock);
    return works;
}

#define HOW_TO_MAKE "(umask 077; head -c 32 /dev/urandom | base64 > %s)"

/// Whether the open file is nobody else's.
static gn_status check_file(int fd, const char *path, bool any_owner, gn_error *error)
{
    struct stat file;
    if (fstat(fd, &file)) return gn_fail(error, GN_IO, "secret file %.200s: %s", path, strerror(errno));
    if (!S_ISREG(file.st_mode)) return gn_fail(error, GN_INVALID, "secret file %.200s: is not a regular file", path);
    if (!any_owner && file.st_uid && file.st_uid != geteuid())
        return gn_fail(error, GN_INVALID,
                       "secret file %.200s: belongs to account %u, and must belong to the account that runs this, %u, "
                       "or to root",
                       path, (unsigned)file.st_uid, (unsigned)geteuid());
    if (file.st_mode & (S_IRGRP | S_IWGRP | S_IROTH | S_IWOTH))
        return gn_fail(error, GN_INVALID,
                       "secret file %.150s: others can read or write it (mode %04o): chmod 600 %.150s", path,
                       (unsigned)file.st_mode & 07777, path);
    return GN_OK;
}

/// An editor may have put a line end behind the secret. It does not count.
static size_t without_end(const uint8_t *bytes, size_t length)
{
    while (length && strchr(" \t\r\n", bytes[length - 1]) && bytes[length - 1]) length--;
    return length;
}

static gn_status take(gn_secret *secret, int fd, const char *path, gn_error *error)
{
    static const uint8_t purpose[] = "gradnic shared secret 1";
    uint8_t bytes[GN_SECRET_MOST + 1];
    const ssize_t got = gn_whole_file_read(fd, bytes, sizeof bytes);
    gn_status status = GN_OK;
    if (got < 0) {
        status = gn_fail(error, GN_IO, "secret file %.200s: %s", path, strerror(errno));
    } else if (got > GN_SECRET_MOST) {
        status = gn_fail(error, GN_INVALID, "secret file %.200s: is longer than %d bytes", path, GN_SECRET_MOST);
    } else {
        const size_t length = without_end(bytes, (size_t)got);
        if (length < GN_SECRET_LEAST)
            status = gn_fail(error, GN_INVALID,
                             "secret file %.100s: has %zu bytes, and at least %d random ones are needed: " HOW_TO_MAKE,
                             path, length, GN_SECRET_LEAST, "FILE");
        else
            (void)crypto_generichash(secret->key, sizeof secret->key, bytes, length, purpose, sizeof purpose - 1);
        secret->set = !status;
    }
    sodium_memzero(bytes, sizeof bytes);
    return status;
}

const char *gn_secret_file(const char *path)
{
    return path ? path : getenv(GN_SECRET_ENVIRONMENT);
}

static gn_status read_file(gn_secret *secret, const char *named, bool any_owner, gn_error *error)
{
    const char *path = gn_secret_file(named);
    *secret = (gn_secret){0};
    if (!path) return GN_OK;
    // Somebody wanted a secret. To go on without one would be worse than to stop.
    if (!*path)
        return gn_fail(error, GN_INVALID, "the secret file has no name: is %s empty? Unset it to go without",
                       GN_SECRET_ENVIRONMENT);
    if (!start_sodium()) return gn_fail(error, GN_IO, "libsodium cannot start: no random numbers");
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) return gn_fail(error, GN_IO, "secret file %.200s: %s", path, strerror(errno));
    gn_status status = check_file(fd, path, any_owner, error);
    if (!status) status = take(secret, fd, path, error);
    gn_close(&fd);
    return status;
}

gn_status gn_secret_read(gn_secret *secret, const char *path, gn_error *error)
{
    return read_file(secret, path, false, error);
}

gn_status gn_secret_check(const char *path, gn_error *error)
{
    gn_secret secret;
    const gn_status status = read_file(&secret, path, geteuid() == 0, error);
    gn_secret_wipe(&secret);
    return status;
}

void gn_secret_wipe(gn_secret *secret)
{
    sodium_memzero(secret, sizeof *secret);
}

void gn_secret_mac(const uint8_t key[GN_SECRET_KEY], const char *label, const gn_secret_part *parts,
                   uint8_t mac[GN_SECRET_MAC])
{
    crypto_auth_hmacsha256_state state;
    _Static_assert(GN_SECRET_MAC == crypto_auth_hmacsha256_BYTES, "the code is HMAC-SHA256");
    crypto_auth_hmacsha256_init(&state, key, GN_SECRET_KEY);
    // The label's 0 is covered, too, so that no label is the beginning of another.
    crypto_auth_hmacsha256_update(&state, (const uint8_t *)label, strlen(label) + 1);
    for (; parts->bytes; parts++) crypto_auth_hmacsha256_update(&state, parts->bytes, parts->length);
    crypto_auth_hmacsha256_final(&state, mac);
    sodium_memzero(&state, sizeof state);
}
