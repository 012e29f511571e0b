// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_HOST_PRIVILEGE_H
#define GRADNIC_HOST_PRIVILEGE_H
/// Giving up root (capabilities(7)) once the devices are open.

#include <stdbool.h>
#include <sys/types.h>

#include "net/error.h"

typedef struct gn_account {
    uid_t user;
    gid_t group;
    bool change;  ///< false: we are not root and stay who we are
} gn_account;

/// Looks up `user` (NULL: nobody). Without root it may only be NULL or ourselves.
gn_status gn_account_find(gn_account *account, const char *user, gn_error *error);

/// Becomes that account for good, without capabilities but CAP_NET_ADMIN if `keep_net_admin` (permitted, not effective), and
/// sets no_new_privs. Call before any thread is made.
gn_status gn_privilege_drop(const gn_account *account, bool keep_net_admin, gn_error *error);

/// Makes the kept capability effective for the calling thread, for cleaning up. Does nothing without one.
void gn_privilege_raise_net_admin(void);

#endif
