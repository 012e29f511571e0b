// SPDX-License-Identifier: Apache-2.0
#include "ring/bootstrap/rendezvous.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "net/socket.h"
#include "ring/message.h"

/// FNV-1a. It only tells names apart. The token that rank 0 hands out is what guards.
static uint64_t hash_name(const char *name)
{
    uint64_t hash = 0xCBF29CE484222325u;
    for (; name && *name; name++) hash = (hash ^ (uint8_t)*name) * 0x100000001B3u;
    return hash;
}

bool gn_environment_number(const char *name, int limit, int *value)
{
    const char *text = getenv(name);
    if (!text || *text < '0' || *text > '9') return false;
    char *end;
    unsigned long number = strtoul(text, &end, 10);
    if (*end || number >= (unsigned long)limit) return false;
    *value = (int)number;
    return true;
}

static gn_status from_environment(gn_rendezvous *rendezvous, gn_error *error)
{
    const char *host = getenv("MASTER_ADDR");
    const char *name = getenv("GRADNIC_MASTER_PORT") ? "GRADNIC_MASTER_PORT" : "MASTER_PORT";
    if (!host || !*host || strlen(host) >= sizeof rendezvous->host)
        return gn_fail(error, GN_INVALID,
                       "MASTER_ADDR is not set: set it and MASTER_PORT (torchrun does), or give a rendezvous "
                       "(tcp://host:port, file:///path)");
    snprintf(rendezvous->host, sizeof rendezvous->host, "%s", host);
    if (!gn_port_parse(getenv(name), &rendezvous->port))
        return gn_fail(error, GN_INVALID, "%s is '%s': want a port, 1 to 65535", name,
                       getenv(name) ? getenv(name) : "");
    return GN_OK;
}

static gn_status from_tcp(const char *text, gn_rendezvous *rendezvous, gn_error *error)
{
    if (gn_host_and_port(text, rendezvous->host, &rendezvous->port)) return GN_OK;
    return gn_fail(error, GN_INVALID, "rendezvous 'tcp://%s': want tcp://host:port", text);
}

gn_status gn_rendezvous_parse(const char *spec, gn_rendezvous *rendezvous, gn_error *error)
{
    *rendezvous = (gn_rendezvous){.file_fd = -1};
    const char *job = getenv("GRADNIC_JOB");
    rendezvous->job = hash_name(job ? job : getenv("TORCHELASTIC_RUN_ID"));
    if (!spec || !strcmp(spec, "env")) return from_environment(rendezvous, error);
    if (!strncmp(spec, "tcp://", 6)) return from_tcp(spec + 6, rendezvous, error);
    if (!strncmp(spec, "file://", 7) && spec[7] == '/' && strlen(spec + 7) < sizeof rendezvous->path) {
        rendezvous->is_file = true;
        snprintf(rendezvous->path, sizeof rendezvous->path, "%s", spec + 7);
        return GN_OK;
    }
    return gn_fail(error, GN_INVALID, "rendezvous '%s': want env, tcp://host:port or file:///path", spec);
}

static gn_status write_line(gn_rendezvous *rendezvous, const gn_endpoint *address)
{
    char host[GN_IP_TEXT], line[GN_RENDEZVOUS_LINE];
    int length =
        snprintf(line, sizeof line, "gradnic-rendezvous 1 %s %u\n", gn_ip_format(&address->ip, host), address->port);
    if (ftruncate(rendezvous->file_fd, 0)) return GN_IO;
    return pwrite(rendezvous->file_fd, line, (size_t)length, 0) == length ? GN_OK : GN_IO;
}

/// Readers hold the lock for an instant each. Another rank 0 holds it for good.
static bool lock_soon(int fd)
{
    for (int tries = 0; tries < 100; tries++) {
        if (!flock(fd, LOCK_EX | LOCK_NB)) return true;
        usleep(10000);
    }
    return false;
}

gn_status gn_rendezvous_publish(gn_rendezvous *rendezvous, const gn_endpoint *address, gn_error *error)
{
    if (!rendezvous->is_file) return GN_OK;
    rendezvous->file_fd = open(rendezvous->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (rendezvous->file_fd < 0) return gn_fail(error, GN_IO, "%s: %s", rendezvous->path, strerror(errno));
    if (!lock_soon(rendezvous->file_fd)) {
        gn_close(&rendezvous->file_fd);
        return gn_fail(error, GN_MISMATCH,
                       "%s: another rank 0 holds this rendezvous file; use another path for each job",
                       rendezvous->path);
    }
    if (write_line(rendezvous, address) == GN_OK) return GN_OK;
    return gn_fail(error, GN_IO, "%s: %s", rendezvous->path, strerror(errno));
}

void gn_rendezvous_withdraw(gn_rendezvous *rendezvous)
{
    if (rendezvous->file_fd < 0) return;
    unlink(rendezvous->path);
    gn_close(&rendezvous->file_fd);
}

static bool find_in_file(const gn_rendezvous *rendezvous, gn_endpoint *address, gn_status *status, gn_error *error)
{
    int fd = open(rendezvous->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        if (errno != ENOENT) *status = gn_fail(error, GN_IO, "%s: %s", rendezvous->path, strerror(errno));
        return false;
    }
    char line[GN_RENDEZVOUS_LINE], host[GN_RENDEZVOUS_LINE];
    ssize_t length = read(fd, line, sizeof line);
    bool stale = !flock(fd, LOCK_SH | LOCK_NB);
    close(fd);
    uint16_t port;
    if (stale || length <= 0 || !gn_rendezvous_line_read(line, (size_t)length, host, &port)) return false;
    gn_error ignored;
    return gn_resolve(host, port, address, &ignored) == GN_OK;
}

bool gn_rendezvous_find(const gn_rendezvous *rendezvous, gn_endpoint *address, gn_status *status, gn_error *error)
{
    *status = GN_OK;
    if (rendezvous->is_file) return find_in_file(rendezvous, address, status, error);
    *status = gn_resolve(rendezvous->host, rendezvous->port, address, error);
    return *status == GN_OK;
}
