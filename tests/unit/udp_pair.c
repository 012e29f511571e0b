// SPDX-License-Identifier: Apache-2.0
#include "udp_pair.h"

#include <check.h>

uint8_t data[DATA];
int from = -1, to = -1;
gn_endpoint here;
struct sockaddr_storage address;
gn_udp_to where;
gn_udp_inbox *inbox;
gn_udp_message message[MESSAGES];
static struct mmsghdr header[MESSAGES];
static struct iovec piece[MESSAGES * GN_UDP_SEGMENTS_MAX];
gn_udp_batch batch;

gn_udp_batch new_batch(void)
{
    return (gn_udp_batch){.message = message,
                          .header = header,
                          .piece = piece,
                          .messages_max = MESSAGES,
                          .pieces_max = MESSAGES * GN_UDP_SEGMENTS_MAX,
                          .bytes_max = GN_UDP_OUT_BYTES,
                          .flags = MSG_DONTWAIT};
}

void udp_begin(void)
{
    inbox = gn_udp_inbox_new(true);
    batch = new_batch();
    ck_assert_ptr_nonnull(inbox);
    for (size_t i = 0; i < DATA; i++) data[i] = (uint8_t)(i * 31 + i / 251);
}

void udp_end(void)
{
    gn_udp_inbox_free(inbox);
    gn_close(&from);
    gn_close(&to);
}

void open_pair(const char *at, const gn_udp_options *receiver, const gn_udp_options *sender)
{
    gn_error error;
    ck_assert_int_eq(gn_endpoint_parse(at, &here, &error), GN_OK);
    here.port = 0;
    ck_assert_msg(gn_udp_listen(&to, &here, receiver, &error) == GN_OK, "%s", error.text);
    from = gn_udp_open(gn_ip_family(&here.ip), sender);
    ck_assert_int_ge(from, 0);
    where = (gn_udp_to){.address = &address};
    where.length = gn_endpoint_to_sockaddr(&here, gn_ip_family(&here.ip), &address);
    where.six = gn_udp_is_six(&address);
}

void put(const size_t *lengths, size_t count)
{
    size_t at = 0;
    for (size_t i = 0; i < count; at += lengths[i++]) {
        if (gn_udp_batch_join(&batch, data + at, lengths[i])) continue;
        ck_assert(gn_udp_batch_has_room(&batch));
        gn_udp_batch_begin(&batch, &where);
        gn_udp_batch_add(&batch, data + at, lengths[i]);
    }
}

int expect(const size_t *lengths, size_t count, int tos)
{
    size_t at = 0, seen = 0;
    int messages = 0, got;
    while ((got = gn_udp_inbox_receive(inbox, to, GN_UDP_INBOX_MESSAGES)) > 0) {
        messages += got;
        for (int i = 0; i < got; i++) {
            const gn_udp_arrival a = gn_udp_inbox_at(inbox, i);
            ck_assert_int_eq(a.tos, tos);
            for (size_t in = 0; in < a.bytes; in += a.segment) {
                const size_t bytes = gn_udp_piece(&a, in);
                ck_assert_uint_lt(seen, count);
                ck_assert_uint_eq(bytes, lengths[seen]);
                ck_assert_mem_eq(a.data + in, data + at, bytes);
                at += lengths[seen++];
            }
        }
    }
    ck_assert_int_eq(got, 0);
    ck_assert_uint_eq(seen, count);
    return messages;
}
