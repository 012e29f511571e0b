// SPDX-License-Identifier: Apache-2.0
// The server's side. It never waits for a client, so a slow client holds up neither the others nor
// the end of the daemon.
#include "host/control.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/control_socket.h"
#include "host/json.h"
#include "net/clock.h"
#include "net/socket.h"

typedef struct client {
    int fd;             // -1: a free place
    uint64_t deadline;  // gn_now()
    char *text;         // the request, as far as it has come; then the answer
    size_t length;      // of the whole text; of a long request, not all is kept
    size_t sent;
    bool answering;
} client;

struct gn_control {
    int fd;
    char *path;
    dev_t device;  // of the socket's file: only our own is removed
    ino_t inode;
    uint64_t shut_until;  // gn_now(); until then nobody comes in
    client clients[GN_CONTROL_CLIENTS];
};

static const uint64_t deadline_ns = GN_CONTROL_DEADLINE_MS * GN_MILLISECOND;

gn_control *gn_control_open(const char *path, const gn_account *account, gn_error *error)
{
    struct stat file;
    gn_control *control = calloc(1, sizeof *control);
    char *copy = strdup(path);
    if (!control || !copy) {
        gn_fail_memory(error);
        goto failed;
    }
    control->path = copy;
    for (size_t i = 0; i < GN_CONTROL_CLIENTS; i++) control->clients[i].fd = -1;
    control->fd = gn_control_listen(path, account, error);
    if (control->fd < 0) goto failed;
    if (!lstat(path, &file)) control->device = file.st_dev, control->inode = file.st_ino;
    return control;
failed:
    free(copy);
    free(control);
    return NULL;
}

static void hang_up(client *c)
{
    gn_close(&c->fd);
    free(c->text);
    *c = (client){.fd = -1};
}

void gn_control_close(gn_control *control)
{
    struct stat file;
    if (!control) return;
    for (size_t i = 0; i < GN_CONTROL_CLIENTS; i++) hang_up(&control->clients[i]);
    if (!lstat(control->path, &file) && file.st_dev == control->device && file.st_ino == control->inode)
        (void)unlink(control->path);
    close(control->fd);
    free(control->path);
    free(control);
}

int gn_control_prepare(const gn_control *control, struct pollfd *watched)
{
    uint64_t first = GN_FOREVER;
    const uint64_t now = gn_now();
    const bool shut = control && control->shut_until > now;
    if (shut) first = control->shut_until;
    watched[0] = (struct pollfd){.fd = control && !shut ? control->fd : -1, .events = POLLIN};
    for (size_t i = 0; i < GN_CONTROL_CLIENTS; i++) {
        watched[1 + i] = (struct pollfd){.fd = -1};
        const client *c = control ? &control->clients[i] : NULL;
        if (!c || c->fd < 0) continue;
        watched[1 + i] = (struct pollfd){.fd = c->fd, .events = c->answering ? POLLOUT : POLLIN};
        if (c->deadline < first) first = c->deadline;
    }
    return gn_ms_until(first, now);
}

// Without a descriptor or memory for it, who knocks has to wait. poll() would report it at once,
// again and again.
static void accept_client(gn_control *control)
{
    client *place = &control->clients[0];
    const int fd = accept4(control->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0 && errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
        control->shut_until = gn_now() + GN_CONTROL_SHUT_MS * GN_MILLISECOND;
    if (fd < 0) return;
    for (size_t i = 0; i < GN_CONTROL_CLIENTS && place->fd >= 0; i++) {
        client *other = &control->clients[i];
        if (other->fd < 0 || other->deadline < place->deadline) place = other;
    }
    hang_up(place);
    *place = (client){.fd = fd, .deadline = gn_now() + deadline_ns, .text = malloc(GN_CONTROL_REQUEST_MAX)};
    if (!place->text) hang_up(place);
}

static void send_answer(client *c)
{
    const ssize_t sent = send(c->fd, c->text + c->sent, c->length - c->sent, MSG_NOSIGNAL);
    if (sent < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (sent > 0) c->sent += (size_t)sent;
    if (sent <= 0 || c->sent == c->length) hang_up(c);
}

static void answer_with(client *c, char *answer)
{
    if (!answer) {
        hang_up(c);
        return;
    }
    free(c->text);
    c->text = answer;
    c->length = strlen(answer);
    c->answering = true;
    c->deadline = gn_now() + deadline_ns;
    send_answer(c);
}

// A request that is too long is still read to its end: to hang up on a client that sends would lose
// the answer.
static void receive_request(client *c, gn_control_answer *answer, void *context)
{
    char excess[4096];
    const size_t room = c->length < GN_CONTROL_REQUEST_MAX ? GN_CONTROL_REQUEST_MAX - c->length : 0;
    const ssize_t got = recv(c->fd, room ? c->text + c->length : excess, room ? room : sizeof excess, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got < 0) {
        hang_up(c);
    } else if (got > 0) {
        c->length += (size_t)got;
    } else if (c->length > GN_CONTROL_REQUEST_MAX) {
        answer_with(c, gn_json_refuse("the request is longer than %d bytes", GN_CONTROL_REQUEST_MAX));
    } else {
        answer_with(c, answer(context, c->text, c->length));
    }
}

static void expire(client *c)
{
    if (!c->answering) answer_with(c, gn_json_refuse("no whole request within %d ms", GN_CONTROL_DEADLINE_MS));
    hang_up(c);
}

void gn_control_serve(gn_control *control, const struct pollfd *watched, gn_control_answer *answer, void *context)
{
    if (!control) return;
    const uint64_t now = gn_now();
    for (size_t i = 0; i < GN_CONTROL_CLIENTS; i++) {
        client *c = &control->clients[i];
        if (c->fd < 0) continue;
        if (watched[1 + i].revents) {
            if (c->answering)
                send_answer(c);
            else
                receive_request(c, answer, context);
        }
        if (c->fd >= 0 && c->deadline <= now) expire(c);
    }
    if (watched[0].revents) accept_client(control);
}
