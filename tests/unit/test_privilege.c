// SPDX-License-Identifier: Apache-2.0
// Which account a daemon takes, what it can still do when it has given up root, and how it is told
// to end.
#include <errno.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/capability.h>

#include "host/ending.h"
#include "host/privilege.h"
#include "suite.h"

static gn_error error;

typedef struct rights {
    uint32_t effective, permitted, inheritable;
} rights;

static rights rights_now(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2];
    ck_assert(!syscall(SYS_capget, &header, data));
    return (rights){data[0].effective, data[0].permitted, data[0].inheritable};
}

START_TEST(accounts_of_root)
{
    gn_account account;
    char name[40];
    ck_assert(!strcmp(gn_account_default(), getpwnam("gradnic") ? "gradnic" : "nobody"));
    const struct passwd *nobody = getpwnam(gn_account_default());
    ck_assert(gn_account_trusts(0) && gn_account_trusts(geteuid()) && gn_account_trusts(nobody->pw_uid));
    ck_assert(!gn_account_trusts(123456) && !gn_account_trusts(getpwnam("daemon")->pw_uid));
    ck_assert_str_eq(gn_account_name(0, name, sizeof name), "root");
    ck_assert_str_eq(gn_account_name(123456, name, sizeof name), "123456");
    if (geteuid()) return;
    ck_assert_int_eq(gn_account_find(&account, NULL, &error), GN_OK);
    ck_assert(account.user == nobody->pw_uid && account.group == nobody->pw_gid && account.change);
    ck_assert_int_eq(gn_account_find(&account, "daemon", &error), GN_OK);
    ck_assert(account.user == getpwnam("daemon")->pw_uid && account.change);
    ck_assert_fails(gn_account_find(&account, "no-such-user", &error), "no user 'no-such-user' on this host");
}
END_TEST

START_TEST(accounts_of_others)
{
    gn_account account;
    if (!geteuid()) ck_assert(!setgid(1) && !setuid(1));
    ck_assert_int_eq(gn_account_find(&account, NULL, &error), GN_OK);
    ck_assert(account.user == geteuid() && account.group == getegid() && !account.change);
    ck_assert_int_eq(gn_account_find(&account, getpwuid(geteuid())->pw_name, &error), GN_OK);
    ck_assert(account.user == geteuid() && !account.change);
    ck_assert_fails(gn_account_find(&account, "nobody", &error), "only root can become user 'nobody'");
    ck_assert_fails(gn_account_find(&account, "root", &error), "only root can become user 'root'");
}
END_TEST

START_TEST(nothing_is_kept)
{
    gn_account account;
    if (geteuid()) return;
    ck_assert_int_eq(gn_account_find(&account, NULL, &error), GN_OK);
    ck_assert_int_eq(gn_privilege_drop(&account, false, &error), GN_OK);
    ck_assert(geteuid() == account.user && getegid() == account.group && getgroups(0, NULL) == 0);
    ck_assert_int_eq(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), 1);
    rights left = rights_now();
    ck_assert_uint_eq(left.effective | left.permitted | left.inheritable, 0);
    gn_privilege_raise_net_admin();
    left = rights_now();
    ck_assert_uint_eq(left.effective | left.permitted, 0);
    ck_assert(setuid(0));
}
END_TEST

// One right is kept, and does nothing until it is wanted.
START_TEST(the_network_is_kept)
{
    const uint32_t net_admin = 1u << CAP_NET_ADMIN;
    gn_account account;
    if (geteuid()) return;
    ck_assert_int_eq(gn_account_find(&account, NULL, &error), GN_OK);
    ck_assert_int_eq(gn_privilege_drop(&account, true, &error), GN_OK);
    ck_assert_uint_eq(geteuid(), account.user);
    ck_assert_int_eq(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), 1);
    rights left = rights_now();
    ck_assert_uint_eq(left.permitted, net_admin);
    ck_assert_uint_eq(left.effective, 0);
    gn_privilege_raise_net_admin();
    left = rights_now();
    ck_assert_uint_eq(left.permitted, net_admin);
    ck_assert_uint_eq(left.effective, net_admin);
}
END_TEST

// Without root, all rights go, and the account stays.
START_TEST(an_account_that_stays)
{
    gn_account account;
    if (!geteuid()) ck_assert(!setgid(1) && !setuid(1));
    ck_assert_int_eq(gn_account_find(&account, NULL, &error), GN_OK);
    ck_assert_int_eq(gn_privilege_drop(&account, false, &error), GN_OK);
    ck_assert_uint_eq(geteuid(), account.user);
    ck_assert_int_eq(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), 1);
    ck_assert_uint_eq(rights_now().permitted, 0);
}
END_TEST

START_TEST(signals_that_end_a_daemon)
{
    static const int ends[] = {SIGTERM, SIGINT, SIGHUP};
    struct signalfd_siginfo said;
    const int fd = gn_ending_open();
    struct pollfd watched = {.fd = fd, .events = POLLIN};
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(read(fd, &said, sizeof said), -1);  // it does not wait
    ck_assert_int_eq(errno, EAGAIN);
    kill(getpid(), SIGPIPE);  // these two do nothing
    kill(getpid(), SIGXFSZ);
    ck_assert_int_eq(poll(&watched, 1, 0), 0);
    for (unsigned i = 0; i < 3; i++) {
        kill(getpid(), ends[i]);
        ck_assert_int_eq(poll(&watched, 1, 5000), 1);
        ck_assert_int_eq(read(fd, &said, sizeof said), sizeof said);
        ck_assert_int_eq((int)said.ssi_signo, ends[i]);
    }
    close(fd);
}
END_TEST

int main(void)
{
    return RUN_TESTS("privilege", accounts_of_root, accounts_of_others, nothing_is_kept, the_network_is_kept,
                     an_account_that_stays, signals_that_end_a_daemon);
}
