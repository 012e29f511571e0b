// SPDX-License-Identifier: Apache-2.0
// The far end of path.c. Strangers may send anything: it keeps nothing of what comes, and sends no
// more bytes than came, and at most so many datagrams a second.
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "doctor.h"
#include "host/ending.h"
#include "net/clock.h"
#include "net/udp.h"
#include "net/udp_in.h"
#include "net/udp_out.h"
#include "probe.h"

enum { ANSWERS_PER_SECOND = 4000 };

typedef struct listener {
    int fd;
    int family;
    uint8_t *in, *out;  ///< GN_UDP_MESSAGE_BYTES each
    uint64_t second;    ///< when the present second began
    unsigned sent;      ///< in it
    uint64_t answered, ignored, held_back;
} listener;

static bool may_send(listener *l, uint64_t now)
{
    if (now - l->second >= GN_SECOND) {
        l->second = now;
        l->sent = 0;
    }
    return l->sent++ < ANSWERS_PER_SECOND;
}

/// Sends with the ToS of the question, from the address that was asked. A failure is the asker's to
/// notice.
static void send_answer(listener *l, const gn_probe *answer, const gn_udp_arrival *question)
{
    gn_udp_message message;
    struct mmsghdr header;
    struct iovec piece;
    gn_udp_batch batch = {.message = &message,
                          .header = &header,
                          .piece = &piece,
                          .messages_max = 1,
                          .pieces_max = 1,
                          .flags = MSG_DONTWAIT};
    const gn_udp_to to = {.address = question->from,
                          .length = l->family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in),
                          .six = gn_udp_is_six(question->from),
                          .from = question->to};
    gn_probe_write(answer, l->out);
    gn_socket_set_tos(l->fd, answer->tos);
    gn_udp_batch_begin(&batch, &to);
    gn_udp_batch_add(&batch, l->out, answer->bytes);
    (void)gn_udp_batch_send(&batch, l->fd);
}

static void answer_all(listener *l)
{
    struct sockaddr_storage from;
    gn_udp_arrival arrival;
    // An end to it, so that a flood does not keep signals out.
    for (int i = 0; i < 64; i++) {
        const int count = gn_udp_receive(l->fd, l->in, GN_UDP_MESSAGE_BYTES, &from, &arrival);
        if (!count) return;
        if (count < 0) continue;  // what an earlier answer met with, such as a port that is closed
        gn_probe answer;
        if (!gn_probe_answer(arrival.data, arrival.bytes, arrival.tos, &answer)) {
            l->ignored++;
        } else if (!may_send(l, gn_now())) {
            l->held_back++;
        } else {
            send_answer(l, &answer, &arrival);
            l->answered++;
        }
    }
}

static void serve(listener *l, int ending, uint64_t until)
{
    struct pollfd set[2] = {{.fd = l->fd, .events = POLLIN}, {.fd = ending, .events = POLLIN}};
    for (uint64_t now = gn_now(); now < until; now = gn_now()) {
        if (gn_poll(set, 2, gn_ms_until(until, now)) < 0 && errno != EINTR) return;
        if (set[1].revents && gn_ending_next(ending, false) == GN_ENDING_NOW) return;
        if (set[0].revents) answer_all(l);
    }
}

gn_status gn_doctor_listen(const gn_endpoint *at, uint64_t span_ns, bool quiet, gn_error *error)
{
    listener l = {.fd = -1, .family = gn_ip_family(&at->ip)};
    gn_endpoint bound = *at;
    char text[GN_ENDPOINT_TEXT];
    int ending = -1;
    gn_status wrong = gn_udp_listen(
        &l.fd, &bound, &(gn_udp_options){.nonblocking = true, .whole = true, .read_tos = true, .read_to = true}, error);
    l.in = malloc(GN_UDP_MESSAGE_BYTES);
    l.out = malloc(GN_UDP_MESSAGE_BYTES);
    if (!wrong && (!l.in || !l.out)) wrong = gn_fail_memory(error);
    if (!wrong && (ending = gn_ending_open()) < 0) wrong = gn_fail(error, GN_IO, "signals: %s", strerror(errno));
    if (!wrong) {
        if (!quiet)
            printf("answers probes at UDP %s for %.0f s\n", gn_endpoint_format(&bound, text), gn_seconds(span_ns));
        fflush(stdout);
        serve(&l, ending, gn_now() + span_ns);
        if (!quiet)
            printf("%llu answered, %llu ignored, %llu held back\n", (unsigned long long)l.answered,
                   (unsigned long long)l.ignored, (unsigned long long)l.held_back);
    }
    gn_close(&ending);
    gn_close(&l.fd);
    free(l.in);
    free(l.out);
    return wrong;
}
