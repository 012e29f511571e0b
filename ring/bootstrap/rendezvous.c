// SPDX-License-Identifier: Apache-2.0
#include "ring/bootstrap/rendezvous.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

void gn_rendezvous_init(gn_rendezvous *rendezvous)
{
    const char *job = getenv("GRADNIC_JOB");
    *rendezvous = (gn_rendezvous){.file.fd = -1};
    rendezvous->job = gn_name_hash(GN_NAME_HASH, job ? job : getenv("TORCHELASTIC_RUN_ID"));
}

gn_status gn_rendezvous_parse(const char *spec, gn_rendezvous *rendezvous, gn_error *error)
{
    gn_rendezvous_init(rendezvous);
    if (!spec || !strcmp(spec, "env")) return from_environment(rendezvous, error);
    if (!strncmp(spec, "tcp://", 6)) return from_tcp(spec + 6, rendezvous, error);
    if (!strncmp(spec, "file://", 7) && spec[7] == '/' && strlen(spec + 7) < sizeof rendezvous->file.path) {
        rendezvous->is_file = true;
        snprintf(rendezvous->file.path, sizeof rendezvous->file.path, "%s", spec + 7);
        return GN_OK;
    }
    return gn_fail(error, GN_INVALID, "rendezvous '%s': want env, tcp://host:port or file:///path", spec);
}

gn_status gn_rendezvous_publish(gn_rendezvous *rendezvous, const gn_endpoint *address, gn_error *error)
{
    if (rendezvous->one_host) gn_meeting_file_sweep(&rendezvous->file);  // the folder is ours
    return rendezvous->is_file ? gn_meeting_file_write(&rendezvous->file, address, error) : GN_OK;
}

void gn_rendezvous_withdraw(gn_rendezvous *rendezvous)
{
    if (rendezvous->is_file) gn_meeting_file_remove(&rendezvous->file);
}

gn_status gn_rendezvous_addresses(const gn_rendezvous *rendezvous, gn_addresses *found, gn_error *error)
{
    gn_error why;
    const gn_status wrong = gn_resolve_all(rendezvous->host, rendezvous->port, AF_UNSPEC, found, &why);
    return wrong ? gn_fail(error, wrong, "rendezvous: %s", why.text) : GN_OK;
}

size_t gn_rendezvous_find(const gn_rendezvous *rendezvous, unsigned attempt, gn_endpoint *address, gn_status *status,
                          gn_error *error)
{
    gn_addresses found;
    *status = GN_OK;
    if (rendezvous->is_file) return gn_meeting_file_find(&rendezvous->file, address, status, error);
    *status = gn_rendezvous_addresses(rendezvous, &found, error);
    if (*status) return 0;
    *address = found.at[attempt % found.count];
    return found.count;
}
