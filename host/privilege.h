// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_HOST_PRIVILEGE_H
#define GRADNIC_HOST_PRIVILEGE_H
/// Giving up root (capabilities(7)) after the devices have been opened.

#include <stdbool.h>
#include <sys/types.h>

#include "net/error.h"

typedef struct gn_account {
    uid_t user;
    gid_t group;
    bool change;  ///< false: this process is not root, and keeps its account
} gn_account;

/// The account that daemons become when root starts them: gradnic, or nobody where there is no
/// such account.
const char *gn_account_default(void);

/// Whether what this account says may be believed by who runs this process: root, the own account,
/// and the default one.
bool gn_account_trusts(uid_t user);

/// An account's name, or its number. @return text
const char *gn_account_name(uid_t user, char *text, size_t room);

/// Looks up `user` (NULL: gn_account_default()). Without root, it can only be NULL or the own
/// account.
gn_status gn_account_find(gn_account *account, const char *user, gn_error *error);

/// Becomes that account for good, and gives up all capabilities. With `keep_net_admin`,
/// CAP_NET_ADMIN stays permitted, though not effective. Sets no_new_privs. Call it before any
/// thread is made.
gn_status gn_privilege_drop(const gn_account *account, bool keep_net_admin, gn_error *error);

/// Makes the kept capability effective for the calling thread, for cleaning up. Without one it does
/// nothing.
void gn_privilege_raise_net_admin(void);

#endif
