// SPDX-License-Identifier: Apache-2.0
#include "switch_host.h"

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <gradnic/admission.h>
#include <gradnic/switch.h>

enum { CHILDREN_MAX = 8, SLOTS = 2048, VALUES = GN_AGG_VALUES_MAX, DATAGRAM = 16384 };

typedef struct child {
    int fd;
    bool joined;
    struct sockaddr_in address;
    gn_admission_join join;
    size_t used;
    uint8_t in[GN_ADMISSION_MAX];
} child;

typedef struct host {
    switch_faults faults;
    int listener, udp[GN_ADMISSION_STREAMS_MAX];
    unsigned children, streams, heard;
    bool admitted;
    uint16_t gen;
    child child[CHILDREN_MAX];
    gn_switch sw;
    uint64_t random;
} host;

static int bound(int type, uint16_t *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    const int fd = socket(AF_INET, type, 0);
    int room = 8 << 20;
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, length) ||
        getsockname(fd, (struct sockaddr *)&address, &length))
        abort();
    *port = ntohs(address.sin_port);
    return fd;
}

static void say(int fd, const gn_admission *frame)
{
    uint8_t out[GN_ADMISSION_MAX];
    const size_t bytes = gn_admission_write(frame, out);
    (void)!send(fd, out, bytes, MSG_NOSIGNAL);
}

static void end_job(host *h, const char *why)
{
    gn_admission gone = {.type = GN_ADMISSION_GONE};
    snprintf(gone.text, sizeof gone.text, "%s", why);
    for (unsigned i = 0; i < h->children; i++) {
        say(h->child[i].fd, &gone);
        close(h->child[i].fd);
    }
    for (unsigned s = 0; h->admitted && s < h->streams; s++) {
        gn_switch_remove_job(&h->sw, (uint16_t)(s + 1));
        close(h->udp[s]);
    }
    h->children = 0;
    h->admitted = false;
}

static void admit(host *h)
{
    const gn_admission_join *asked = &h->child[0].join;
    gn_admission welcome = {.type = GN_ADMISSION_WELCOME,
                            .welcome = {.streams = asked->streams, .slots = asked->slots}};
    h->streams = asked->streams;
    h->gen++;
    for (unsigned s = 0; s < h->streams; s++) {
        gn_switch_job job = {.job = (uint16_t)(s + 1),
                             .gen = h->gen,
                             .format = (gn_agg_format)asked->format,
                             .bound_exp = asked->bound_exp,
                             .slots = asked->slots,
                             .children = asked->children};
        for (uint16_t i = 0; i < CHILDREN_MAX; i++) job.port[i] = i;
        if (gn_switch_add_job(&h->sw, &job)) abort();
        h->udp[s] = bound(SOCK_DGRAM, &welcome.welcome.udp_port[s]);
        welcome.welcome.job[s] = job.job;
        welcome.welcome.gen[s] = job.gen;
    }
    for (unsigned i = 0; i < h->children; i++) say(h->child[i].fd, &welcome);
    h->admitted = true;
}

static bool all_joined(const host *h)
{
    for (unsigned i = 0; i < h->children; i++)
        if (!h->child[i].joined) return false;
    return h->children && h->children == h->child[0].join.children;
}

static void take_frame(host *h, child *c, const gn_admission *frame)
{
    if (frame->type == GN_ADMISSION_PING) say(c->fd, &(gn_admission){.type = GN_ADMISSION_PONG});
    if (frame->type == GN_ADMISSION_GONE && h->faults.told)
        snprintf(h->faults.told, sizeof frame->text, "%s", frame->text);
    if (frame->type != GN_ADMISSION_JOIN) return;
    if (h->faults.refuse) {
        gn_admission refused = {.type = GN_ADMISSION_REFUSED};
        snprintf(refused.text, sizeof refused.text, "%s", h->faults.refuse);
        say(c->fd, &refused);
        return;
    }
    c->join = frame->join;
    c->joined = true;
    if (all_joined(h)) admit(h);
}

/// @return false when the child is gone, and the job with it.
static bool read_child(host *h, child *c)
{
    gn_admission frame;
    bool leaves = false;
    const ssize_t got = recv(c->fd, c->in + c->used, sizeof c->in - c->used, MSG_DONTWAIT);
    if (got < 0 && errno == EAGAIN) return true;
    if (got > 0) c->used += (size_t)got;
    for (int bytes; (bytes = gn_admission_parse(c->in, c->used, &frame, NULL)) > 0;) {
        memmove(c->in, c->in + bytes, c->used -= (size_t)bytes);
        take_frame(h, c, &frame);
        leaves |= frame.type == GN_ADMISSION_LEAVE || frame.type == GN_ADMISSION_GONE;
    }
    // A child that leaves is gone at once. Otherwise it might come again before its end is seen,
    // and be sent away with the others.
    if (got > 0 && !leaves) return true;
    char why[64];
    snprintf(why, sizeof why, "rank %u has left", c->join.rank);
    end_job(h, why);
    return false;
}

static bool lost(host *h)
{
    h->random = h->random * 6364136223846793005u + 1442695040888963407u;
    return h->random >> 33 & 1023 && (h->random >> 33) % 1000 < h->faults.loss;
}

static void carry_out(host *h, unsigned stream, const gn_action *action)
{
    static uint8_t out[DATAGRAM];
    if (action->kind == GN_TO_NOBODY) return;
    const size_t bytes = gn_action_write(&h->sw, action, out, sizeof out);
    for (unsigned i = 0; i < h->children; i++) {
        const child *c = &h->child[i];
        struct sockaddr_in to = c->address;
        to.sin_port = htons(c->join.udp_port[stream]);
        if ((action->kind == GN_TO_PORT && action->port != c->join.bit) || lost(h)) continue;
        if (c->join.rank + 1u == h->faults.mute_to) continue;
        (void)!sendto(h->udp[stream], out, bytes, 0, (struct sockaddr *)&to, sizeof to);
    }
}

static void read_datagrams(host *h, unsigned stream)
{
    static uint8_t in[DATAGRAM];
    struct sockaddr_in from;
    for (socklen_t length = sizeof from;; length = sizeof from) {
        const ssize_t got = recvfrom(h->udp[stream], in, sizeof in, MSG_DONTWAIT, (struct sockaddr *)&from, &length);
        if (got < 0) return;
        if (lost(h) || (h->faults.deaf_after && ++h->heard > h->faults.deaf_after)) continue;
        gn_action actions[GN_SWITCH_ACTIONS_MAX];
        for (unsigned i = 0; i < h->children; i++) {
            if (ntohs(from.sin_port) != h->child[i].join.udp_port[stream]) continue;
            const unsigned count = gn_switch_rx(&h->sw, 0, h->child[i].join.bit, in, (size_t)got, actions);
            for (unsigned a = 0; a < count; a++) carry_out(h, stream, &actions[a]);
        }
    }
}

static void serve(host *h)
{
    struct pollfd set[1 + CHILDREN_MAX + GN_ADMISSION_STREAMS_MAX] = {{.fd = h->listener, .events = POLLIN}};
    nfds_t n = 1;
    const unsigned children = h->children, streams = h->admitted ? h->streams : 0;
    for (unsigned i = 0; i < children; i++) set[n++] = (struct pollfd){.fd = h->child[i].fd, .events = POLLIN};
    for (unsigned s = 0; s < streams; s++) set[n++] = (struct pollfd){.fd = h->udp[s], .events = POLLIN};
    (void)poll(set, n, -1);
    for (unsigned s = 0; s < streams; s++)
        if (set[1 + children + s].revents) read_datagrams(h, s);
    for (unsigned i = 0; i < children; i++)
        if (set[1 + i].revents && !read_child(h, &h->child[i])) return;
    if (!set[0].revents || h->children == CHILDREN_MAX) return;
    child *c = &h->child[h->children];
    socklen_t length = sizeof c->address;
    *c = (child){.fd = -1};
    c->fd = accept(h->listener, (struct sockaddr *)&c->address, &length);
    if (c->fd >= 0) h->children++;
}

static void run(int listener, const switch_faults *faults)
{
    static host h;
    const gn_switch_config config = {.slots = SLOTS, .slot_values = VALUES, .jobs = GN_ADMISSION_STREAMS_MAX};
    const size_t bytes = gn_switch_bytes(&config);
    h = (host){.faults = *faults, .listener = listener, .random = 1};
    if (gn_switch_init(&h.sw, &config, malloc(bytes), bytes)) abort();
    for (;;) serve(&h);
}

void switch_start(switch_host *host_of, const switch_faults *faults)
{
    uint16_t port;
    const int listener = bound(SOCK_STREAM, &port);
    ck_assert(!listen(listener, CHILDREN_MAX));
    snprintf(host_of->address, sizeof host_of->address, "127.0.0.1:%u", port);
    fflush(NULL);
    host_of->pid = fork();
    if (!host_of->pid) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        run(listener, faults ? faults : &(switch_faults){0});
    }
    // Not in the child: every ck_assert writes to the file that Check's runner may be reading.
    ck_assert(host_of->pid > 0);
    close(listener);
}

void switch_stop(switch_host *host_of, int signal_number)
{
    int status;
    kill(host_of->pid, signal_number);
    waitpid(host_of->pid, &status, 0);
}
