// SPDX-License-Identifier: Apache-2.0
#include "client_state.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <linux/udp.h>
#include <math.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <zlib.h>

#include "net/clock.h"

enum { ASK_MS = 100 };

static bool fail(client *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool fail(client *c, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (!*c->result->error) (void)vsnprintf(c->result->error, sizeof c->result->error, format, arguments);
    va_end(arguments);
    return false;
}

static bool switch_address(const sw_client *config, uint16_t port, struct sockaddr_storage *address, socklen_t *length)
{
    struct sockaddr_in *v4 = (struct sockaddr_in *)address;
    *address = (struct sockaddr_storage){0};
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    *length = sizeof *v4;
    return inet_pton(AF_INET, config->host, &v4->sin_addr) == 1;
}

/// The address to come from, with any port.
static struct sockaddr_in from_address(const sw_client *config)
{
    struct sockaddr_in own = {.sin_family = AF_INET};
    if (config->from) (void)inet_pton(AF_INET, config->from, &own.sin_addr);
    return own;
}

static bool open_channel(client *c, unsigned s)
{
    const int on = 1, bytes = 4 << 20;
    struct sockaddr_in own = from_address(c->config);
    socklen_t length = sizeof own;
    channel *t = &c->channels[s];
    t->fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    (void)setsockopt(t->fd, IPPROTO_UDP, UDP_GRO, &on, sizeof on);
    if (setsockopt(t->fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes))
        (void)setsockopt(t->fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
    if (setsockopt(t->fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof bytes))
        (void)setsockopt(t->fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    if (c->config->tos) (void)setsockopt(t->fd, IPPROTO_IP, IP_TOS, &(int){c->config->tos}, sizeof(int));
    if (bind(t->fd, (struct sockaddr *)&own, sizeof own) || getsockname(t->fd, (struct sockaddr *)&own, &length))
        return fail(c, "UDP: %s", strerror(errno));
    c->join.udp_port[s] = ntohs(own.sin_port);
    return true;
}

/// Takes a frame from the switch, waiting at most `wait_ms`.
/// @return 1; 0: none in time; -1: the connection is over
static int next_frame(client *c, gn_admission *frame, int wait_ms)
{
    const char *wrong;
    struct pollfd watched = {.fd = c->tcp, .events = POLLIN};
    for (;;) {
        const int length = gn_admission_parse(c->in, c->in_bytes, frame, &wrong);
        if (length < 0) return -1;
        if (length > 0) {
            c->in_bytes -= (size_t)length;
            memmove(c->in, c->in + length, c->in_bytes);
            return 1;
        }
        if (poll(&watched, 1, wait_ms) <= 0) return 0;
        const ssize_t got = recv(c->tcp, c->in + c->in_bytes, sizeof c->in - c->in_bytes, 0);
        if (got <= 0) return -1;
        c->in_bytes += (size_t)got;
    }
}

/// What comes of JOIN; until then asks whom the switch waits for. @return as next_frame()
static int await_answer(client *c, gn_admission *frame, char waits[GN_ADMISSION_TEXT])
{
    uint8_t ping[GN_ADMISSION_MAX];
    const size_t whole = gn_admission_write(&(gn_admission){.type = GN_ADMISSION_PING}, ping);
    const uint64_t until = gn_now() + (uint64_t)c->config->timeout_ms * 1000000;
    int got = 0;
    while (gn_now() < until && got >= 0) {
        got = next_frame(c, frame, ASK_MS);
        if (got > 0 && frame->type != GN_ADMISSION_PONG) return 1;
        if (got > 0) memcpy(waits, frame->text, sizeof frame->text);
        if (got > 0) c->result->asked = true;
        if (!got && send(c->tcp, ping, whole, MSG_NOSIGNAL) != (ssize_t)whole) return -1;
    }
    return got < 0 ? -1 : 0;
}

/// The greeting, where a secret is set.
static bool greet(client *c)
{
    gn_greeting_who who = {.role = (uint8_t)(GN_ROLE_CHILD + c->join.asker),
                           .rank = (uint16_t)(c->join.rank + c->config->as_another),
                           .size = c->join.ranks,
                           .to = GN_GREETING_ANYBODY};
    memcpy(who.name, c->join.name, sizeof who.name);
    gn_greeting_call(&c->greeting, c->config->secret, GN_GREETING_SWITCH, &who);
    if (!c->config->secret) return true;
    gn_framed *framed = gn_framed_new(c->tcp, GN_FRAMED_OPEN, 512, 512);
    const uint64_t until = gn_now() + 5 * GN_SECOND;
    while (framed && gn_now() < until && framed->state == GN_FRAMED_OPEN &&
           gn_greeting_advance(&c->greeting, framed) == GN_GREETING_PENDING) {
        struct pollfd p = gn_framed_poll(framed);
        (void)poll(&p, 1, 100);
        gn_framed_serve(framed, p.revents);
    }
    if (framed) c->tcp = gn_framed_release(framed);
    char why[GN_GREETING_WHY];
    return c->greeting.step == GN_GREETING_DONE ||
           fail(c, "greeting: %s", gn_greeting_why(&c->greeting, "this worker", "it", why));
}

static bool join(client *c)
{
    char waits[GN_ADMISSION_TEXT] = "";
    gn_admission frame = {.type = GN_ADMISSION_JOIN, .join = c->join};
    uint8_t bytes[GN_ADMISSION_MAX];
    struct sockaddr_storage address;
    socklen_t length;
    if (!switch_address(c->config, c->config->port, &address, &length))
        return fail(c, "no address: %s", c->config->host);
    c->tcp = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const struct sockaddr_in own = from_address(c->config);
    if (c->config->from && bind(c->tcp, (const struct sockaddr *)&own, sizeof own))
        return fail(c, "bind %s: %s", c->config->from, strerror(errno));
    if (connect(c->tcp, (struct sockaddr *)&address, length))
        return fail(c, "switch %s: %s", c->config->host, strerror(errno));
    if (!greet(c)) return false;
    const size_t whole = gn_admission_write(&frame, bytes);
    if (send(c->tcp, bytes, whole, MSG_NOSIGNAL) != (ssize_t)whole) return fail(c, "switch: %s", strerror(errno));
    const int got = await_answer(c, &frame, waits);
    if (got == 0) return fail(c, "no welcome within %d ms: %s", c->config->timeout_ms, waits);
    if (got < 0) return fail(c, "the switch closed the connection");
    if (frame.type == GN_ADMISSION_REFUSED || frame.type == GN_ADMISSION_GONE) return fail(c, "%s", frame.text);
    if (frame.type != GN_ADMISSION_WELCOME) return fail(c, "a frame of type %d", frame.type);
    c->result->welcome = frame.welcome;
    return true;
}

static bool start_channel(client *c, unsigned s)
{
    const gn_admission_join *j = &c->join;
    const gn_admission_welcome *w = &c->result->welcome;
    channel *t = &c->channels[s];
    const gn_worker_config config = {.job = w->job[s],
                                     .gen = w->gen[s],
                                     .rank = j->rank,
                                     .ranks = j->ranks,
                                     .bit = j->bit,
                                     .children = j->children,
                                     .format = (gn_agg_format)j->format,
                                     .bound_exp = j->bound_exp,
                                     .slots = w->slots,
                                     .packet_values = j->packet_values,
                                     .mode = (gn_memory_mode)w->mode,
                                     .priority = j->priority,
                                     .rto_min_ns = 20000000};
    if (c->config->secret) {
        gn_greeting_key_up(&c->greeting, s, t->up);
        gn_greeting_key_down(&c->greeting, j->name, w->job[s], w->gen[s], t->down);
        t->up[0] ^= c->config->forges;
    }
    t->to.port = (uint16_t)s;
    if (!switch_address(c->config, w->udp_port[s], &t->to.address, &t->to.length)) return false;
    if (gn_worker_new(&t->worker, &config)) return fail(c, "gn_worker_new");
    t->send = malloc(sizeof(float) * c->config->count);
    t->recv = malloc(sizeof(float) * c->config->count);
    return t->send && t->recv ? true : fail(c, "out of memory");
}

/// Small multiples of 2^-9, which all formats have exactly.
static int contribution(unsigned rank, unsigned s, size_t i)
{
    const uint32_t mixed = ((uint32_t)i * 2654435761u) ^ (rank * 40503u + s * 977u + 1);
    return (int)((mixed >> 7) % 1001) - 500;
}

/// Whether the vectors of a round travel in 16 bits.
static bool in_halves(const client *c, unsigned round)
{
    return c->join.format == GN_AGG_HALF && round % 4 != 3;
}

/// What 16 bits keep of a sum: 11 significant bits. Sums are below 4096.
static float in_eleven_bits(float sum)
{
    return fabsf(sum) > 2048 ? 2 * nearbyintf(sum / 2) : sum;
}

/// Vectors differ by this factor from one to the next, so that an old sum is not right.
static float factor(unsigned round)
{
    return (float)(1u << round % 3) * 0x1p-9f;
}

static void prepare(client *c, unsigned s)
{
    channel *t = &c->channels[s];
    for (size_t i = 0; i < c->config->count; i++) {
        int sum = 0;
        for (unsigned rank = 0; rank < c->join.ranks; rank++) sum += contribution(rank, s, i);
        const bool none = c->config->nan && i % 5000 == 17;
        t->own[i] = none && c->join.rank == 1 ? NAN : (float)contribution(c->join.rank, s, i);
        t->sum[i] = none ? NAN : (float)sum;
    }
}

static void make(client *c, unsigned s, unsigned round)
{
    const float by = factor(round);
    channel *t = &c->channels[s];
    for (size_t i = 0; i < c->config->count; i++) t->send[i] = t->own[i] * by;
}

static bool check(client *c, unsigned s, unsigned round)
{
    const float by = factor(round);
    const channel *t = &c->channels[s];
    for (size_t i = 0; i < c->config->count; i++) {
        const float sum = (in_halves(c, round) ? in_eleven_bits(t->sum[i]) : t->sum[i]) * by;
        if (isnan(sum) ? !isnan(t->recv[i]) : t->recv[i] != sum)
            return fail(c, "round %u, channel %u, value %zu: %g, not %g", round, s, i, (double)t->recv[i], (double)sum);
    }
    c->result->hash =
        (uint32_t)crc32(c->result->hash, (const Bytef *)t->recv, (uInt)(sizeof(float) * c->config->count));
    return true;
}

/// Sends a datagram again, and again with a bit of its header turned. Integers have no shim ahead.
static void spoil(client *c, channel *t, const uint8_t *datagram, size_t bytes)
{
    uint8_t copy[BUFFER];
    memcpy(copy, datagram, bytes);
    for (int turned = 0; turned < 2; turned++) {
        uint8_t *room = gn_outbox_room(c->box, bytes);
        if (turned) copy[c->spoilt / 8 % GN_AGG_HEADER] ^= (uint8_t)(1 << c->spoilt % 8);
        memcpy(room, copy, bytes);
        gn_outbox_keep(c->box, bytes);
        gn_outbox_post(c->box, t->fd, &t->to, room, bytes);
    }
    c->spoilt += 5;
}

static void transmit(client *c, channel *t)
{
    const size_t bound = gn_agg_bound(c->join.packet_values);
    for (;;) {
        uint8_t *room = gn_outbox_room(c->box, bound);
        const size_t bytes = gn_worker_send(t->worker, (int64_t)gn_now(), room, bound);
        if (!bytes) break;
        gn_outbox_keep(c->box, bytes);
        if (c->config->secret) gn_agg_seal(t->up, room, bytes);
        gn_outbox_post(c->box, t->fd, &t->to, room, bytes);
        if (c->config->copies) spoil(c, t, room, bytes);
    }
    gn_outbox_flush(c->box);
}

static size_t segment_size(struct msghdr *message, size_t bytes)
{
    for (struct cmsghdr *header = CMSG_FIRSTHDR(message); header; header = CMSG_NXTHDR(message, header)) {
        int size;
        if (header->cmsg_level != IPPROTO_UDP || header->cmsg_type != UDP_GRO) continue;
        memcpy(&size, CMSG_DATA(header), sizeof size);
        if (size > 0) return (size_t)size;
    }
    return bytes;
}

static bool is_binary32(const uint8_t *datagram, size_t bytes)
{
    gn_agg_packet packet;
    return !gn_agg_parse(datagram, bytes, &packet) && packet.flags & GN_AGG_FLOAT;
}

static void receive(client *c, channel *t)
{
    for (int i = 0; i < BURST; i++) {
        char control[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8)));
        struct iovec vector = {c->buffer, BUFFER};
        struct msghdr message = {
            .msg_iov = &vector, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
        const ssize_t got = recvmsg(t->fd, &message, MSG_DONTWAIT);
        if (got <= 0) return;
        const size_t segment = segment_size(&message, (size_t)got);
        for (size_t at = 0; at < (size_t)got; at += segment) {
            const size_t one = (size_t)got - at < segment ? (size_t)got - at : segment;
            if (c->config->secret && !gn_agg_unseal(t->down, c->buffer + at, one)) continue;
            if (c->config->deaf && is_binary32(c->buffer + at, one)) continue;
            if (gn_worker_rx(t->worker, (int64_t)gn_now(), c->buffer + at, one)) c->progress = gn_now();
        }
    }
}

static int time_left(const client *c)
{
    int64_t first = (int64_t)(c->progress + (uint64_t)c->config->timeout_ms * 1000000);
    for (unsigned s = 0; s < c->join.channels; s++) {
        const int64_t due = gn_worker_deadline(c->channels[s].worker);
        if (due != GN_NEVER && due < first) first = due;
    }
    const int64_t left = first - (int64_t)gn_now();
    return left <= 0 ? 0 : (int)(left / 1000000) + 1;
}

/// Waits for packets, timers and bad news, but not longer than `most_ms`. @return false: it is over
static bool wait_for_something(client *c, int most_ms)
{
    const int left = time_left(c);
    struct pollfd watched[1 + GN_ADMISSION_CHANNELS_MAX] = {{.fd = c->tcp, .events = POLLIN}};
    gn_admission frame;
    for (unsigned s = 0; s < c->join.channels; s++)
        watched[1 + s] = (struct pollfd){.fd = c->channels[s].fd, .events = POLLIN};
    (void)poll(watched, 1 + c->join.channels, left < most_ms ? left : most_ms);
    for (unsigned s = 0; s < c->join.channels; s++)
        if (watched[1 + s].revents) receive(c, &c->channels[s]);
    if (watched[0].revents) {
        const int got = next_frame(c, &frame, 0);
        if (got < 0) return fail(c, "the switch %s:%u closed the connection", c->config->host, c->config->port);
        if (got > 0 && frame.type == GN_ADMISSION_GONE) return fail(c, "gone: %s", frame.text);
    }
    if (gn_now() - c->progress > (uint64_t)c->config->timeout_ms * 1000000)
        return fail(c, "nothing came from the switch %s:%u for %d ms", c->config->host, c->config->port,
                    c->config->timeout_ms);
    return true;
}

static bool sum_once(client *c, unsigned round)
{
    bool done = false;
    for (unsigned s = 0; s < c->join.channels; s++) {
        make(c, s, round);
        gn_worker_set_halves(c->channels[s].worker, in_halves(c, round));
        if (gn_worker_post(c->channels[s].worker, c->channels[s].send, c->channels[s].recv, c->config->count))
            return fail(c, "gn_worker_post");
    }
    c->progress = gn_now();
    while (!done) {
        done = true;
        for (unsigned s = 0; s < c->join.channels; s++) {
            transmit(c, &c->channels[s]);
            done &= gn_worker_done(c->channels[s].worker);
        }
        if (!done && !wait_for_something(c, INT_MAX)) return false;
    }
    for (unsigned s = 0; s < c->join.channels; s++)
        if (!check(c, s, round)) return false;
    c->result->rounds++;
    return true;
}

/// What has no integers is known to rank 0 alone. It stays, as the library does, until all have it.
static bool stay(client *c)
{
    if (!c->config->done) return true;
    atomic_fetch_add(c->config->done, 1);
    while (atomic_load(c->config->done) < c->join.ranks) {
        for (unsigned s = 0; s < c->join.channels; s++) transmit(c, &c->channels[s]);
        if (!wait_for_something(c, 10)) return false;
    }
    return true;
}

static void add_stats(gn_worker_stats *to, const gn_worker_stats *from)
{
    to->sent += from->sent, to->resent += from->resent, to->received += from->received, to->ignored += from->ignored;
    to->up_bytes += from->up_bytes, to->down_bytes += from->down_bytes, to->late += from->late;
    to->fallback_chunks += from->fallback_chunks;
    to->marked += from->marked, to->cuts += from->cuts;
}

static bool go(client *c, unsigned round)
{
    gn_admission frame = {.type = GN_ADMISSION_GONE};
    uint8_t bytes[GN_ADMISSION_MAX];
    if (c->config->last_word) {
        snprintf(frame.text, sizeof frame.text, "%s", c->config->last_word);
        (void)!send(c->tcp, bytes, gn_admission_write(&frame, bytes), MSG_NOSIGNAL);
    }
    return fail(c, "goes after %u rounds", round);
}

static bool run(client *c)
{
    const sw_client *config = c->config;
    for (unsigned s = 0; s < c->join.channels; s++) {
        channel *t = &c->channels[s];
        t->own = malloc(sizeof(float) * config->count);
        t->sum = malloc(sizeof(float) * config->count);
        if (!t->own || !t->sum) return fail(c, "out of memory");
        prepare(c, s);
        if (!open_channel(c, s)) return false;
    }
    if (!join(c)) return false;
    for (unsigned s = 0; s < c->join.channels; s++)
        if (!start_channel(c, s)) return false;
    if (config->flood_s > 0) return sw_client_flood(c);
    const uint64_t begin = gn_now();
    for (unsigned round = 0; round < config->rounds; round++) {
        if (config->stop_after && round == config->stop_after) return go(c, round);
        if (!sum_once(c, round)) return false;
        while (config->hold && !round && *config->hold) usleep(1000);
        if (config->pause_s > 0 && (!config->pauses || round < config->pauses))
            usleep((useconds_t)(config->pause_s * 1e6));
    }
    c->result->seconds = (double)(gn_now() - begin) / 1e9;
    // The last results may be lost on their way to others. Those ask again, and the switch answers
    // them.
    return stay(c);
}

void sw_client_run(const sw_client *config, sw_result *result)
{
    client *c = calloc(1, sizeof *c);
    c->box = calloc(1, sizeof *c->box);
    c->config = config;
    c->result = result;
    c->join = config->join;
    c->join.patience_ms = (uint32_t)config->timeout_ms;
    c->tcp = -1;
    for (unsigned s = 0; s < GN_ADMISSION_CHANNELS_MAX; s++) c->channels[s].fd = -1;
    result->good = run(c);
    for (unsigned s = 0; s < GN_ADMISSION_CHANNELS_MAX; s++) {
        channel *t = &c->channels[s];
        if (t->worker) {
            const gn_worker_stats stats = gn_worker_get_stats(t->worker);
            add_stats(&result->stats, &stats);
        }
        if (t->fd >= 0) close(t->fd);
        gn_worker_free(t->worker);
        free(t->send);
        free(t->recv);
        free(t->own);
        free(t->sum);
    }
    if (c->tcp >= 0) close(c->tcp);
    free(c->box);
    free(c);
}
