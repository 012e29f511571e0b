// SPDX-License-Identifier: Apache-2.0
#include "ring/bootstrap/job_meeting.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "net/host_list.h"
#include "net/launcher.h"

enum { FOLDER_TEXT = 400 };

// The job's name ----------------------------------------------------------------------------------

/// When a process began, in ticks since the host did. 0: not known. Numbers of processes come
/// again.
static uint64_t began(long pid)
{
    char path[64], line[1024];
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    FILE *file = fopen(path, "re");
    const size_t length = file ? fread(line, 1, sizeof line - 1, file) : 0;
    if (file) fclose(file);
    line[length] = 0;
    const char *at = strrchr(line, ')');  // the name before it may hold anything
    for (int field = 2; at && field < 22; field++) at = strchr(at + 1, ' ');
    return at ? strtoull(at, NULL, 10) : 0;
}

/// Hydra names no job. But its proxy has made the socket PMI_FD, one for each rank of this host.
static bool hash_proxy(uint64_t *hash)
{
    struct ucred maker = {0};
    socklen_t length = sizeof maker;
    const char *text = getenv("PMI_FD");
    char *end;
    const long fd = text && *text ? strtol(text, &end, 10) : -1;
    if (fd < 0 || fd > 65535 || *end) return false;
    if (getsockopt((int)fd, SOL_SOCKET, SO_PEERCRED, &maker, &length) || maker.pid <= 0) return false;
    char name[64];
    snprintf(name, sizeof name, "%ld %" PRIu64, (long)maker.pid, began(maker.pid));
    *hash = gn_name_hash(*hash, name);
    return true;
}

static bool hash_job(const gn_launcher *l, uint64_t *hash)
{
    bool known = false;
    *hash = gn_name_hash(GN_NAME_HASH, l->name);
    for (size_t i = 0; i < sizeof l->job / sizeof *l->job && l->job[i]; i++) {
        const char *text = getenv(l->job[i]);
        if (!text || !*text) continue;
        *hash = gn_name_hash(gn_name_hash(*hash, "/"), text);
        known = true;
    }
    return known || (l->kind == GN_BY_PMI && hash_proxy(hash));
}

// On one host: a file -----------------------------------------------------------------------------

/// A folder itself, and this user's alone: nobody else can lay a file into it.
static bool is_safe(const char *path)
{
    struct stat s;
    return *path == '/' && !lstat(path, &s) && S_ISDIR(s.st_mode) && s.st_uid == geteuid() && !(s.st_mode & 077);
}

/// A folder in the user's home, where no stranger can make it first. Hosts may share a home.
static bool find_in_home(char folder[FOLDER_TEXT], bool make)
{
    char host[HOST_NAME_MAX + 1] = "";
    const char *home = getenv("HOME");
    struct stat s;
    if (!home || *home != '/' || gethostname(host, sizeof host - 1) || !*host || strchr(host, '/')) return false;
    if (stat(home, &s) || s.st_uid != geteuid() || s.st_mode & S_IWOTH) return false;
    if (snprintf(folder, FOLDER_TEXT, "%s/.gradnic-%s", home, host) >= FOLDER_TEXT) return false;
    if (make) (void)mkdir(folder, 0700);
    return is_safe(folder);
}

/// All ranks find the same one. Anybody can make the one in /tmp, and so keep its user out. That in
/// the home is made only then, and is found ahead of it from then on.
static gn_status find_folder(char folder[FOLDER_TEXT], gn_error *error)
{
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    char home[FOLDER_TEXT];
    snprintf(folder, FOLDER_TEXT, "%s", runtime && strlen(runtime) < FOLDER_TEXT ? runtime : "");
    if (is_safe(folder)) return GN_OK;
    snprintf(folder, FOLDER_TEXT, "/run/user/%lu", (unsigned long)geteuid());
    if (is_safe(folder) || find_in_home(folder, false)) return GN_OK;
    snprintf(folder, FOLDER_TEXT, "/tmp/gradnic-%lu", (unsigned long)geteuid());
    const int reason = mkdir(folder, 0700) ? errno : 0;
    if (is_safe(folder)) return GN_OK;
    if (find_in_home(home, true)) {
        memcpy(folder, home, sizeof home);
        return GN_OK;
    }
    if (reason && reason != EEXIST)
        return gn_fail(error, GN_IO, "%s: %s (a folder for the ranks to meet in; XDG_RUNTIME_DIR names another)",
                       folder, strerror(reason));
    return gn_fail(error, GN_IO,
                   "%s: is not a folder that belongs to user %lu with mode 0700, so the ranks do not meet in it; "
                   "remove it, or set XDG_RUNTIME_DIR to such a folder",
                   folder, (unsigned long)geteuid());
}

static gn_status meet_in_file(const gn_launcher *l, uint64_t hash, gn_rendezvous *r, gn_error *error)
{
    char folder[FOLDER_TEXT];
    const gn_status status = find_folder(folder, error);
    if (status) return status;
    r->is_file = r->one_host = true;
    snprintf(r->file.path, sizeof r->file.path, "%s/" GN_MEETING_JOB, folder, hash);
    snprintf(r->text, sizeof r->text, "all ranks of %s's job are on this host, and meet at %.300s", l->name,
             r->file.path);
    return GN_OK;
}

// On several hosts: Slurm's first -----------------------------------------------------------------

static gn_status several_hosts(const gn_launcher *l, const char *how_many, gn_error *error)
{
    return gn_fail(error, GN_INVALID,
                   "%s, and %s does not say where rank 0 is: set MASTER_ADDR to its host, and MASTER_PORT (%s)",
                   how_many, l->name, l->pass);
}

static bool number_of(const char *name, uint64_t *number)
{
    const char *text = getenv(name);
    char *end;
    if (!text || *text < '0' || *text > '9') return false;
    *number = strtoull(text, &end, 10);
    return !*end;
}

static gn_status choose_port(uint64_t job, gn_rendezvous *r, gn_error *error)
{
    const char *given = getenv("GRADNIC_MASTER_PORT");
    if (given && !gn_port_parse(given, &r->port))
        return gn_fail(error, GN_INVALID, "GRADNIC_MASTER_PORT is '%.60s': want a port, 1 to 65535", given);
    uint64_t step = 0;
    (void)number_of("SLURM_STEP_ID", &step);
    if (!given) r->port = (uint16_t)(GN_JOB_PORT_FIRST + (16 * job + step) % GN_JOB_PORTS);
    return GN_OK;
}

static gn_status meet_in_step(const gn_launcher *l, uint64_t hash, gn_rendezvous *r, gn_error *error)
{
    const char *name = getenv("SLURM_STEP_NODELIST") ? "SLURM_STEP_NODELIST" : "SLURM_JOB_NODELIST";
    const char *list = getenv(name), *order = getenv("SLURM_DISTRIBUTION");
    uint64_t job;
    bool only;
    if (!number_of("SLURM_JOB_ID", &job))
        return gn_fail(error, GN_INVALID, "SLURM_JOB_ID is '%.60s': want a number",
                       getenv("SLURM_JOB_ID") ? getenv("SLURM_JOB_ID") : "");
    if (!list || !gn_host_list_first(list, r->host, &only))
        return gn_fail(error, GN_INVALID, "%s is '%.100s': want Slurm's list of hosts, as n[1-3,7]", name,
                       list ? list : "");
    if (only) return meet_in_file(l, hash, r, error);
    if (order && !strncmp(order, "arbitrary", 9))
        return several_hosts(l, "the ranks are on several hosts in an arbitrary order (SLURM_DISTRIBUTION)", error);
    r->several_hosts = true;
    const gn_status status = choose_port(job, r, error);
    snprintf(r->text, sizeof r->text, "ranks meet at %.255s:%u, the first host of %s", r->host, r->port, name);
    return status;
}

// Beside torchrun's store -------------------------------------------------------------------------

static gn_status meet_beside_store(int rank, int size, gn_rendezvous *r, gn_error *error)
{
    uint64_t hash;
    int local = 0;
    gn_status status = gn_rendezvous_parse(NULL, r, error);  // MASTER_ADDR and MASTER_PORT: the store
    const gn_launcher *l = gn_torchrun_of(rank, size);
    if (!status && l) status = gn_launcher_local_size(l, size, &local, error);
    if (status) return status;
    if (local == size && hash_job(l, &hash)) return meet_in_file(l, hash, r, error);
    const unsigned store = r->port;
    r->port = (uint16_t)(GN_JOB_PORT_FIRST + (store + GN_JOB_PORTS / 2) % GN_JOB_PORTS);
    snprintf(r->text, sizeof r->text, "ranks meet at %.255s:%u, as torchrun has its store at MASTER_PORT, %u", r->host,
             r->port, store);
    return GN_OK;
}

// -------------------------------------------------------------------------------------------------

static gn_status meet_in_job(int rank, int size, gn_rendezvous *r, bool *found, gn_error *error)
{
    uint64_t hash;
    int local;
    const gn_launcher *l = gn_launcher_of(rank, size);
    *found = l != NULL;
    if (!l) return GN_OK;
    if (!hash_job(l, &hash))
        return gn_fail(error, GN_INVALID, "%s does not say which job this is: set MASTER_ADDR and MASTER_PORT (%s)",
                       l->name, l->pass);
    if (r->job == GN_NAME_HASH) r->job = hash;  // nobody has named it
    if (l->kind == GN_BY_SLURM) return meet_in_step(l, hash, r, error);
    const gn_status status = gn_launcher_local_size(l, size, &local, error);
    if (status) return status;
    if (local == size) return meet_in_file(l, hash, r, error);
    char how_many[80] = "the ranks may be on several hosts";
    if (local) snprintf(how_many, sizeof how_many, "%d of %d ranks are on this host", local, size);
    return several_hosts(l, how_many, error);
}

gn_status gn_meeting_choose(const char *spec, int rank, int size, gn_rendezvous *r, gn_error *error)
{
    bool found = false;
    gn_status status = GN_OK;
    const bool env = !spec || !strcmp(spec, "env");
    if (env && gn_torchrun_has_store() && !getenv("GRADNIC_MASTER_PORT"))
        return meet_beside_store(rank, size, r, error);
    if (env && !getenv("MASTER_ADDR") && !getenv("MASTER_PORT")) {
        gn_rendezvous_init(r);
        status = meet_in_job(rank, size, r, &found, error);
    }
    return found ? status : gn_rendezvous_parse(spec, r, error);
}
