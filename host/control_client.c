// SPDX-License-Identifier: Apache-2.0
// The client's side of a control socket.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "host/control.h"
#include "host/control_socket.h"

enum { ANSWER_MAX = 64 << 20, PATIENCE_MS = 5 * GN_CONTROL_DEADLINE_MS };

static void set_deadline(int fd)
{
    const struct timeval limit = {.tv_sec = PATIENCE_MS / 1000, .tv_usec = PATIENCE_MS % 1000 * 1000L};
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

static bool send_all(int fd, const char *text, size_t length)
{
    while (length) {
        const ssize_t sent = send(fd, text, length, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return false;
        text += sent;
        length -= (size_t)sent;
    }
    return true;
}

// Reads until the daemon closes. @return a terminated text to free(), or NULL
static char *receive_all(int fd)
{
    size_t room = 4096, length = 0;
    char *text = malloc(room);
    while (text) {
        const ssize_t got = recv(fd, text + length, room - length - 1, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) break;
        length += (size_t)got;
        text[length] = 0;
        if (!got) return text;
        if (length + 1 < room) continue;
        if (room >= ANSWER_MAX) break;
        room *= 2;
        char *larger = realloc(text, room);
        if (!larger) break;
        text = larger;
    }
    free(text);
    return NULL;
}

/// Who listens is known from the kernel. A socket of a stranger would say what the stranger likes.
static gn_status check_listener(int fd, const char *path, const char *daemon, gn_error *error)
{
    struct ucred peer = {.uid = (uid_t)-1};
    socklen_t length = sizeof peer;
    char name[40];
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length))
        return gn_fail(error, GN_IO, "%s: %s", path, strerror(errno));
    if (gn_account_trusts(peer.uid)) return GN_OK;
    return gn_fail(error, GN_INVALID,
                   "%s: account %s listens there, and not root, %s or you: its %s is not asked (ask as that account)",
                   path, gn_account_name(peer.uid, name, sizeof name), gn_account_default(), daemon);
}

char *gn_control_ask(const char *path, const char *daemon, const char *request, gn_error *error)
{
    struct sockaddr_un address;
    char *answer = NULL;
    if (gn_control_address(path, &address, error)) return NULL;
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        gn_fail(error, GN_IO, "%s: %s", path, strerror(errno));
        return NULL;
    }
    set_deadline(fd);
    if (connect(fd, (struct sockaddr *)&address, sizeof address)) {
        const bool absent = errno == ENOENT || errno == ECONNREFUSED;
        const int reason = errno;
        if (absent)
            gn_fail(error, GN_IO, "%s: %s (is the %s running? --control names its socket)", path, strerror(reason),
                    daemon);
        else
            gn_fail(error, GN_IO, "%s: %s", path, strerror(reason));
    } else if (check_listener(fd, path, daemon, error)) {
        // `error` says it
    } else if (!send_all(fd, request, strlen(request)) || shutdown(fd, SHUT_WR)) {
        gn_fail(error, GN_IO, "%s: %s", path, strerror(errno));
    } else if (!(answer = receive_all(fd)) || !*answer) {
        gn_fail(error, GN_TIMEOUT, "%s: no answer within %d ms", path, PATIENCE_MS);
        free(answer);
        answer = NULL;
    }
    close(fd);
    return answer;
}
