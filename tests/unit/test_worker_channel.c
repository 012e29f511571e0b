// SPDX-License-Identifier: Apache-2.0
// A channel of the algorithm switch, with a test in place of the switch: datagrams of a job with a
// secret are sealed both ways, and a result with another seal is none.
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/clock.h"
#include "net/socket.h"
#include "ring/route.h"
#include "ring/worker_channel.h"
#include "suite.h"

enum { VALUES = 16, ROOM = 2048 };

static gn_worker_channel channel;
static int far;  ///< the switch's end
static float send_values[VALUES], recv_values[VALUES];
static gn_bucket bucket = {.send = send_values, .recv = recv_values, .count = VALUES};
static gn_codec codec;
static gn_comm comm;  ///< what the exchange asks for its codec
static gn_exchange exchange = {.comm = &comm, .bucket = &bucket, .divisor = 1};

static int bound(gn_endpoint *at)
{
    *at = (gn_endpoint){.ip = {.version = 4, .bytes = {127, 0, 0, 1}}};
    const int fd = gn_route_socket(NULL, at);
    ck_assert(fd >= 0 && gn_socket_local(fd, at));
    return fd;
}

static void begin(void)
{
    gn_endpoint here, there;
    channel = (gn_worker_channel){.fd = bound(&here), .keys = {.sealed = true, .up = {1}, .down = {2}}};
    far = bound(&there);
    ck_assert(!gn_socket_connect(channel.fd, &there) && !gn_socket_connect(far, &here));
    gn_codec_init(&codec, GN_DENSE, 10);
    for (int i = 0; i < VALUES; i++) send_values[i] = (float)i * 0x1p-10f;
    const gn_worker_config config = {.job = 3,
                                     .gen = 4,
                                     .ranks = 1,
                                     .children = 1,
                                     .format = GN_AGG_DENSE,
                                     .bound_exp = 10,
                                     .slots = 1,
                                     .packet_values = VALUES};
    ck_assert_int_eq(gn_worker_channel_open(&channel, &config, 0), GN_OK);
    comm.config.codec = codec;
    ck_assert_int_eq(gn_worker_channel_post(&channel, &exchange, 0, VALUES), GN_OK);
}

static void end(void)
{
    gn_worker_channel_close(&channel);
    close(far);
}

/// The switch's answer to the contribution, not sealed yet. @return its bytes
static size_t result(const gn_agg_packet *contribution, uint8_t *out)
{
    gn_agg_packet header = *contribution;
    int32_t sums[VALUES];
    for (int i = 0; i < VALUES; i++) sums[i] = 2 * i;
    header.type = GN_AGG_RESULT;
    return gn_agg_write_stream(&header, &codec, sums, NULL, out, ROOM);
}

/// Says this to the worker. @return whether it has all results now
static bool tell(const uint8_t *datagram, size_t bytes)
{
    ck_assert_int_eq(send(far, datagram, bytes, 0), (ssize_t)bytes);
    struct pollfd p = {.fd = channel.fd, .events = POLLIN};
    ck_assert_int_eq(poll(&p, 1, 5000), 1);
    (void)gn_worker_channel_move(&channel, gn_now());
    return atomic_load(&channel.done);
}

START_TEST(sealed_both_ways)
{
    uint8_t in[ROOM], out[ROOM], sealed[ROOM];
    gn_agg_packet packet;
    struct pollfd p = {.fd = far, .events = POLLIN};
    (void)gn_worker_channel_move(&channel, gn_now());
    ck_assert_int_eq(poll(&p, 1, 5000), 1);
    const ssize_t got = recv(far, in, sizeof in, 0);
    ck_assert_int_gt(got, 0);
    ck_assert_int_eq(gn_agg_parse(in, (size_t)got, &packet), GN_AGG_BROKEN);
    ck_assert(!gn_agg_unseal(channel.keys.down, in, (size_t)got));
    ck_assert(gn_agg_unseal(channel.keys.up, in, (size_t)got));
    ck_assert_int_eq(gn_agg_parse(in, (size_t)got, &packet), GN_AGG_FINE);
    const size_t bytes = result(&packet, out);
    ck_assert_uint_gt(bytes, 0);
    ck_assert_msg(!tell(out, bytes), "a result with a CRC was taken");
    memcpy(sealed, out, bytes);
    gn_agg_seal(channel.keys.up, sealed, bytes);
    ck_assert_msg(!tell(sealed, bytes), "a result with the key of contributions was taken");
    gn_agg_seal(channel.keys.down, sealed, bytes);
    sealed[GN_AGG_HEADER] ^= 1;  // in the header, behind the shim
    ck_assert_msg(!tell(sealed, bytes), "a result with a turned bit was taken");
    const uint64_t before = gn_now();
    ck_assert_uint_le(atomic_load(&channel.moved), before);
    memcpy(sealed, out, bytes);
    gn_agg_seal(channel.keys.down, sealed, bytes);
    ck_assert_msg(tell(sealed, bytes), "the right result was not taken");
    ck_assert_uint_gt(atomic_load(&channel.moved), before);  // deadlines begin anew
    for (int i = 0; i < VALUES; i++) ck_assert(recv_values[i] == (float)(2 * i) * 0x1p-9f);
}
END_TEST

int main(void)
{
    return RUN_SUITE("worker_channel", begin, end, sealed_both_ways);
}
