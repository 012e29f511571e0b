// SPDX-License-Identifier: Apache-2.0
#include "mpi/settings.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "net/number.h"

enum { LEAST = 64 << 10, MOST = 999999999, TIMEOUT_MS = 300000 };

/// An empty variable is one that is not set.
static const char *find(const char *name)
{
    const char *text = getenv(name);
    return text && *text ? text : NULL;
}

static gn_status read_number(const char *name, unsigned *number, gn_error *error)
{
    const char *text = find(name);
    if (!text || (gn_number_parse(text, MOST, number) && *number)) return GN_OK;
    return gn_fail(error, GN_INVALID, "%s is '%.60s': want a number, 1 to %d", name, text, MOST);
}

static gn_status read_yes_or_no(const char *name, bool *yes, gn_error *error)
{
    const char *text = find(name);
    if (!text) return GN_OK;
    *yes = !strcmp(text, "yes") || !strcmp(text, "1");
    if (*yes || !strcmp(text, "no") || !strcmp(text, "0")) return GN_OK;
    return gn_fail(error, GN_INVALID, "%s is '%.60s': want yes or no", name, text);
}

static gn_status read_algorithm(gn_algorithm *algorithm, gn_error *error)
{
    const char *text = find("GRADNIC_ALGORITHM");
    if (!text) return GN_OK;
    for (gn_algorithm a = 0; a < GN_ALGORITHMS; a++) {
        if (strcmp(text, gn_algorithm_name(a)) != 0) continue;
        *algorithm = a;
        return GN_OK;
    }
    return gn_fail(error, GN_INVALID, "GRADNIC_ALGORITHM is '%.60s': want ring, direct, auto, switch, ...", text);
}

/// Sums are compressed only where the profile or the bound is named. A program may need them exact.
static gn_status read_codec(gn_comm_config *comm, gn_error *error)
{
    const char *name = find("GRADNIC_CODEC"), *bound = find("GRADNIC_BOUND");
    gn_profile profile = comm->codec.profile;
    unsigned k = (unsigned)comm->codec.bound_exp;
    int lowest, highest;
    comm->quantise = name || bound;
    if (name && !strcmp(name, "none")) comm->quantise = false;
    if (!comm->quantise) return GN_OK;
    if (name && gn_profile_parse(name, &profile))
        return gn_fail(error, GN_INVALID, "GRADNIC_CODEC is '%.60s': want dense, lattice, paper or none", name);
    if (gn_profile_range(profile, &lowest, &highest)) lowest = highest = 0;
    if (bound && (strncmp(bound, "2^-", 3) != 0 || !gn_number_parse(bound + 3, (unsigned)highest, &k) ||
                  gn_codec_init(&comm->codec, profile, (int)k)))
        return gn_fail(error, GN_INVALID, "GRADNIC_BOUND is '%.60s': want 2^-%d to 2^-%d with %s", bound,
                       lowest > 0 ? lowest : 0, highest, gn_profile_name(profile));
    return gn_codec_init(&comm->codec, profile, (int)k);
}

static gn_status read_scale(gn_comm_config *comm, gn_error *error)
{
    const char *text = find("GRADNIC_SCALE");
    if (!text || !strcmp(text, "none")) return GN_OK;
    if (strcmp(text, "auto") != 0)
        return gn_fail(error, GN_INVALID, "GRADNIC_SCALE is '%.60s': want auto or none", text);
    if (!comm->quantise)
        return gn_fail(error, GN_INVALID, "GRADNIC_SCALE is auto, but nothing is compressed: set GRADNIC_BOUND, too");
    comm->scale = GN_SCALE_AUTO;
    return GN_OK;
}

gn_status gn_mpi_settings_read(gn_mpi_settings *s, gn_error *error)
{
    unsigned least = LEAST, timeout = TIMEOUT_MS;
    bool takes = true;
    *s = (gn_mpi_settings){.comm = gn_comm_config_default()};
    gn_status status = read_yes_or_no("GRADNIC_MPI", &takes, error);
    if (!status) status = read_yes_or_no("GRADNIC_SUMMARY", &s->summary, error);
    if (!status) status = read_number("GRADNIC_MIN_BYTES", &least, error);
    if (!status) status = read_number("GRADNIC_TIMEOUT_MS", &timeout, error);
    if (!status) status = read_algorithm(&s->comm.algorithm, error);
    if (!status) status = read_codec(&s->comm, error);
    if (!status) status = read_scale(&s->comm, error);
    s->least = takes ? least : SIZE_MAX;
    s->comm.timeout_ms = (int)timeout;
    s->comm.interface = find("GRADNIC_INTERFACE");
    s->comm.switch_address = find("GRADNIC_SWITCH");
    return status;
}

const char *gn_mpi_settings_unknown(char *const *environment, size_t *at)
{
    static const char prefix[] = "GRADNIC_";
    static const char *const known[] = {"ALGORITHM",   "BOUND",         "CODEC",   "INTERFACE", "JOB",
                                        "MASTER_PORT", "MIN_BYTES",     "MPI",     "OFFLOAD",   "SCALE",
                                        "SECRET_FILE", "SHARED_MEMORY", "SUMMARY", "SWITCH",    "TIMEOUT_MS"};
    while (environment[*at]) {
        const char *entry = environment[(*at)++], *name = entry + sizeof prefix - 1;
        if (strncmp(entry, prefix, sizeof prefix - 1) != 0) continue;
        const size_t length = strcspn(name, "=");
        size_t i = 0;
        while (i < sizeof known / sizeof *known && (strlen(known[i]) != length || strncmp(known[i], name, length) != 0))
            i++;
        if (i == sizeof known / sizeof *known) return entry;
    }
    return NULL;
}
