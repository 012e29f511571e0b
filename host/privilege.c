// SPDX-License-Identifier: Apache-2.0
#include "host/privilege.h"

#include <cap-ng.h>
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

const char *gn_account_default(void)
{
    return getpwnam("gradnic") ? "gradnic" : "nobody";
}

const char *gn_account_name(uid_t user, char *text, size_t room)
{
    const struct passwd *entry = getpwuid(user);
    if (entry)
        (void)snprintf(text, room, "%s", entry->pw_name);
    else
        (void)snprintf(text, room, "%u", (unsigned)user);
    return text;
}

bool gn_account_trusts(uid_t user)
{
    const struct passwd *entry = getpwnam(gn_account_default());
    return !user || user == geteuid() || (entry && user == entry->pw_uid);
}

gn_status gn_account_find(gn_account *account, const char *user, gn_error *error)
{
    *account = (gn_account){.user = geteuid(), .group = getegid()};
    if (!user && geteuid()) return GN_OK;
    if (!user) user = gn_account_default();
    const struct passwd *entry = getpwnam(user);
    if (!entry) return gn_fail(error, GN_INVALID, "no user '%s' on this host", user);
    if (geteuid() && entry->pw_uid != geteuid())
        return gn_fail(error, GN_INVALID, "only root can become user '%s'", user);
    *account = (gn_account){.user = entry->pw_uid, .group = entry->pw_gid, .change = !geteuid()};
    return GN_OK;
}

gn_status gn_privilege_drop(const gn_account *account, bool keep_net_admin, gn_error *error)
{
    capng_clear(CAPNG_SELECT_BOTH);
    if (keep_net_admin) capng_update(CAPNG_ADD, CAPNG_PERMITTED, CAP_NET_ADMIN);
    const int failed = account->change ? capng_change_id((int)account->user, (int)account->group,
                                                         CAPNG_DROP_SUPP_GRP | CAPNG_CLEAR_BOUNDING)
                                       : capng_apply(CAPNG_SELECT_CAPS);
    if (failed) return gn_fail(error, GN_IO, "cannot give up privileges: %s (libcap-ng: %d)", strerror(errno), failed);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        return gn_fail(error, GN_IO, "cannot set no_new_privs: %s", strerror(errno));
    return GN_OK;
}

void gn_privilege_raise_net_admin(void)
{
    capng_get_caps_process();
    if (!capng_have_capability(CAPNG_PERMITTED, CAP_NET_ADMIN)) return;
    capng_update(CAPNG_ADD, CAPNG_EFFECTIVE, CAP_NET_ADMIN);
    (void)capng_apply(CAPNG_SELECT_CAPS);
}
