// SPDX-License-Identifier: Apache-2.0
#include "driver/control.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "driver/request.h"

static int address_of(const char *path, struct sockaddr_un *address, gn_error *error)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (!*path || strlen(path) >= sizeof address->sun_path)
        return gn_error_set(error, "%.80s: the path of a control socket has 1 to %zu bytes", path,
                            sizeof address->sun_path - 1);
    memcpy(address->sun_path, path, strlen(path) + 1);
    return 0;
}

static void make_folder(const char *path, const gn_account *account)
{
    char folder[sizeof((struct sockaddr_un *)NULL)->sun_path];
    memcpy(folder, path, strlen(path) + 1);
    char *slash = strrchr(folder, '/');
    if (!slash || slash == folder) return;
    *slash = 0;
    // The account must be able to remove its socket at the end.
    if (!mkdir(folder, 0755) && account->change) (void)!chown(folder, account->user, account->group);
}

static bool is_stale(const struct sockaddr_un *address)
{
    const int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (probe < 0) return false;
    const bool refused = connect(probe, (const struct sockaddr *)address, sizeof *address) && errno == ECONNREFUSED;
    close(probe);
    return refused;
}

static int bind_private(int fd, const struct sockaddr_un *address)
{
    const mode_t before = umask(0177);
    int status = bind(fd, (const struct sockaddr *)address, sizeof *address);
    if (status && errno == EADDRINUSE && is_stale(address) && !unlink(address->sun_path))
        status = bind(fd, (const struct sockaddr *)address, sizeof *address);
    const int reason = errno;
    umask(before);
    errno = reason;
    return status;
}

int gn_control_listen(const char *path, const gn_account *account, gn_error *error)
{
    struct sockaddr_un address;
    if (address_of(path, &address, error)) return -1;
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return gn_error_set(error, "%s: %s", path, strerror(errno));
    make_folder(path, account);
    if (bind_private(fd, &address)) {
        gn_error_set(error, "%s: %s%s", path, strerror(errno),
                     errno == EADDRINUSE ? " (another NIC answers there)" : "");
        close(fd);
        return -1;
    }
    if ((account->change && chown(path, account->user, account->group)) || listen(fd, 8)) {
        gn_error_set(error, "%s: %s", path, strerror(errno));
        gn_control_close(fd, path);
        return -1;
    }
    return fd;
}

void gn_control_close(int fd, const char *path)
{
    (void)unlink(path);
    close(fd);
}

static void set_deadline(int fd)
{
    const struct timeval limit = {.tv_sec = GN_CONTROL_DEADLINE_MS / 1000,
                                  .tv_usec = GN_CONTROL_DEADLINE_MS % 1000 * 1000L};
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

// Reads to the end of the stream. @return a terminated text to free(), or NULL
static char *receive_all(int fd, size_t most)
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
        if (room >= most) break;
        room *= 2;
        char *larger = realloc(text, room);
        if (!larger) break;
        text = larger;
    }
    free(text);
    return NULL;
}

void gn_control_serve(int fd, gn_nic *nic)
{
    const int client = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
    if (client < 0) return;
    set_deadline(client);
    char *request = receive_all(client, GN_CONTROL_REQUEST_MAX);
    char *answer = request ? gn_request_answer(request, strlen(request), nic) : NULL;
    if (answer) (void)send_all(client, answer, strlen(answer));
    free(answer);
    free(request);
    close(client);
}

char *gn_control_ask(const char *path, const char *request, gn_error *error)
{
    struct sockaddr_un address;
    char *answer = NULL;
    if (address_of(path, &address, error)) return NULL;
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        gn_error_set(error, "%s: %s", path, strerror(errno));
        return NULL;
    }
    set_deadline(fd);
    if (connect(fd, (struct sockaddr *)&address, sizeof address)) {
        const bool absent = errno == ENOENT || errno == ECONNREFUSED;
        gn_error_set(error, "%s: %s%s", path, strerror(errno),
                     absent ? " (is the NIC running? --control names its socket)" : "");
    } else if (!send_all(fd, request, strlen(request)) || shutdown(fd, SHUT_WR)) {
        gn_error_set(error, "%s: %s", path, strerror(errno));
    } else if (!(answer = receive_all(fd, 64 << 20)) || !*answer) {
        gn_error_set(error, "%s: no answer within %d ms", path, GN_CONTROL_DEADLINE_MS);
        free(answer);
        answer = NULL;
    }
    close(fd);
    return answer;
}
