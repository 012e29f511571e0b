// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <jansson.h>

#include "net/clock.h"
#include "nic.h"
#include "tools/kit/cli.h"
#include "tools/kit/command.h"
#include "tools/kit/json.h"
#include "tools/kit/units.h"

static double now(void)
{
    return gn_seconds(gn_now());
}

static int connect_to(const gn_bench_nic *b, uint16_t port)
{
    union {
        struct sockaddr any;
        struct sockaddr_in in;
        struct sockaddr_in6 in6;
    } address;
    memset(&address, 0, sizeof address);
    const int family = strchr(b->host, ':') ? AF_INET6 : AF_INET;
    void *bytes = family == AF_INET6 ? (void *)&address.in6.sin6_addr : (void *)&address.in.sin_addr;
    if (inet_pton(family, b->host, bytes) != 1) {
        gn_cli_error(b->program, "'%s' is not an IP address", b->host);
        return -1;
    }
    address.any.sa_family = (sa_family_t)family;
    address.in.sin_port = htons(port);  // at the same offset in IPv4 and IPv6
    const int fd = gn_bench_nic_socket(family, b->tos);
    if (fd >= 0 && !connect(fd, &address.any, family == AF_INET6 ? sizeof address.in6 : sizeof address.in)) return fd;
    gn_cli_error(b->program, "%s port %u: %s (is gradnic bench nic --serve running there?)", b->host, port,
                 strerror(errno));
    if (fd >= 0) close(fd);
    return -1;
}

/// Why the last transfer has ended, in words.
static const char *why_ended(void)
{
    static char text[64];
    if (!errno) return "it has closed the connection";
    if (errno != EAGAIN) return strerror(errno);
    snprintf(text, sizeof text, "nothing has moved for %d s", GN_BENCH_NIC_DEADLINE_S);
    return text;
}

static bool send_all(int fd, const void *bytes, size_t length)
{
    for (const char *at = bytes; length;) {
        const ssize_t sent = send(fd, at, length, MSG_NOSIGNAL);
        if (sent <= 0) return false;
        at += sent;
        length -= (size_t)sent;
    }
    return true;
}

static bool receive_all(int fd, char *bytes, size_t length)
{
    while (length) {
        const ssize_t got = recv(fd, bytes, length, 0);
        if (!got) errno = 0;
        if (got <= 0) return false;
        bytes += got;
        length -= (size_t)got;
    }
    return true;
}

// The far end's result: one JSON object, sent after it has read everything.
static json_t *read_verdict(int fd)
{
    char text[512];
    size_t length = 0;
    ssize_t got;
    errno = 0;
    while (length + 1 < sizeof text && (got = recv(fd, text + length, sizeof text - 1 - length, 0)) > 0)
        length += (size_t)got;
    const int reason = errno;
    json_t *verdict = json_loadb(text, length, 0, NULL);
    errno = reason;
    return verdict;
}

static int report(gn_bench_nic *b, json_t *result, const char *line)
{
    gn_error error;
    if (!b->result.json) puts(line);
    const gn_status wrong = gn_result_write(&b->file, &b->result, result, stdout, &error);
    if (wrong) gn_cli_error(b->program, "%s", error.text);
    return wrong ? GN_EXIT_FAILED : GN_EXIT_OK;
}

static int finish_flow(gn_bench_nic *b, int fd, uint64_t sent, double started)
{
    char line[160];
    shutdown(fd, SHUT_WR);
    json_t *verdict = read_verdict(fd);
    if (!verdict) {
        gn_cli_error(b->program, "%s: does not say what it has got: %s", b->host, why_ended());
        return GN_EXIT_FAILED;
    }
    const double seconds = now() - started, gbit = (double)sent * 8e-9 / seconds;
    const uint64_t received = (uint64_t)json_integer_value(json_object_get(verdict, "bytes"));
    if (received != sent || json_is_true(json_object_get(verdict, "wrong"))) {
        gn_cli_error(b->program, "sent %llu bytes; the far end got %llu, largest error %g", (unsigned long long)sent,
                     (unsigned long long)received, json_number_value(json_object_get(verdict, "max_error")));
        json_decref(verdict);
        return GN_EXIT_FAILED;
    }
    json_object_set_new(verdict, "seconds", gn_json_real(seconds));
    json_object_set_new(verdict, "gbit_per_s", gn_json_real(gbit));
    snprintf(line, sizeof line, "%s in %.2f s: %s", gn_human_bytes(sent).s, seconds, gn_human_bits(gbit * 1e9).s);
    return report(b, verdict, line);
}

static int run_flow(gn_bench_nic *b)
{
    const int fd = connect_to(b, b->port);
    if (fd < 0) return GN_EXIT_FAILED;
    const size_t bytes = b->value_count * sizeof *b->values;
    const double started = now();
    uint64_t sent = 0;
    int status = GN_EXIT_FAILED;
    while (now() - started < gn_seconds(b->time_ns)) {
        const size_t at = sent % bytes, rest = bytes - at,
                     chunk = rest < GN_BENCH_NIC_CHUNK ? rest : GN_BENCH_NIC_CHUNK;
        if (!send_all(fd, (const char *)b->values + at, chunk)) {
            gn_cli_error(b->program, "%s: %s after %llu bytes", b->host, why_ended(), (unsigned long long)sent);
            goto done;
        }
        sent += chunk;
    }
    status = finish_flow(b, fd, sent, started);
done:
    close(fd);
    return status;
}

static int compare_times(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int run_round_trips(gn_bench_nic *b)
{
    int status = GN_EXIT_FAILED;
    char line[160];
    const int fd = connect_to(b, (uint16_t)(b->port + 1));
    char *message = calloc(1, b->round_trip);
    double *took = calloc(b->count, sizeof *took);
    if (fd < 0 || !message || !took) goto done;
    const uint32_t size = htonl((uint32_t)b->round_trip);
    bool well = send_all(fd, &size, sizeof size);
    for (uint64_t i = 0; well && i < b->count; i++) {
        const double started = now();
        well = send_all(fd, message, b->round_trip) && receive_all(fd, message, b->round_trip);
        took[i] = (now() - started) * 1e6;
    }
    if (!well) {
        gn_cli_error(b->program, "%s: %s", b->host, why_ended());
        goto done;
    }
    qsort(took, b->count, sizeof *took, compare_times);
    const double median = took[b->count / 2], high = took[b->count * 99 / 100];
    snprintf(line, sizeof line, "%llu round trips of %llu bytes: median %.1f us, 99 %% %.1f us",
             (unsigned long long)b->count, (unsigned long long)b->round_trip, median, high);
    status = report(b,
                    json_pack("{s:I,s:I,s:f,s:f,s:f}", "round_trip_bytes", (json_int_t)b->round_trip, "count",
                              (json_int_t)b->count, "median_us", median, "p99_us", high, "min_us", took[0]),
                    line);
done:
    free(took);
    free(message);
    if (fd >= 0) close(fd);
    return status;
}

int gn_bench_nic_client(gn_bench_nic *b)
{
    return b->round_trip ? run_round_trips(b) : run_flow(b);
}
