// SPDX-License-Identifier: Apache-2.0
// Switches above and below each other. A tree that cannot be is refused, with both ends named. A
// child that is waited for is named at all switches. A child that goes is told of at the other end
// of the tree.
#include <arpa/inet.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/control.h"
#include "net/clock.h"
#include "switches.h"
#include "unit/free_port.h"
#include "unit/suite.h"

/// One worker of a job of its own; the answer comes at once.
static void ask(const running *at, unsigned place_of, const char *name)
{
    sw_client c = client_of(at->port, name, 0, 1);
    c.join.parent_children = (uint8_t)place_of;
    const uint64_t begin = gn_now();
    launch(0, &c);
    await(0, 1);
    ck_assert_uint_lt(gn_now() - begin, 1500000000);  // less than the job's time to form, and the worker's
}

static void says_address(unsigned i, const char *format, const running *r)
{
    char text[100];
    snprintf(text, sizeof text, format, r->address);
    says(i, text);
}

START_TEST(who_is_taken_for_something_else_says_so)
{
    const running plain = start(&plain_switch), ps = start_ps(plain_switch.in);
    gn_switchd_config config = sharing(&plain, GN_SHARED, 64, 0);
    const running root = start(&config);
    ask(&root, 0, "ps");
    says_address(0, "parameter server %s: this is a switch", &plain);
    says_address(0, "and the switch %s asks it as its parameter server (--ps)", &root);
    for (unsigned i = 0; i < 2; i++) {
        config = plain_switch;
        config.mode = i ? GN_SHARED : GN_PARTITIONED;
        config.parent = ps.address;
        const running leaf = start(&config);
        ask(&leaf, 1, "parent");
        says_address(0, "parent switch %s: this is a parameter server", &ps);
        says_address(0, "and the switch %s asks it as its parent (--parent)", &leaf);
        stop(&leaf);
    }
    stop(&root);
    stop(&ps);
    stop(&plain);
}
END_TEST

/// The address above is the switch's own. Another name for it counts too. So does an address of
/// this host, where the switch listens at any.
START_TEST(a_switch_above_itself_does_not_start)
{
    static const struct {
        const char *above;
        gn_ip listen;
    } cases[] = {{"127.0.0.1", {.version = 4, .bytes = {127, 0, 0, 1}}},
                 {"localhost", {.version = 4, .bytes = {127, 0, 0, 1}}},
                 {"0.0.0.0", {.version = 4, .bytes = {127, 0, 0, 1}}},
                 {"127.0.0.1", {.version = 4}},
                 {"0.0.0.0", {.version = 4}},
                 {"127.77.0.1", {.version = 4}},
                 {"127.0.0.1", {.version = 6}},
                 {"[::1]", {.version = 6}}};
    for (unsigned i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        char above[32], what[64];
        gn_switchd_config config = plain_switch;
        config.listen = (gn_endpoint){.ip = cases[i / 2].listen, .port = free_port()};
        snprintf(above, sizeof above, "%s:%u", cases[i / 2].above, config.listen.port);
        snprintf(what, sizeof what, "%s %s is this switch itself", i & 1 ? "--ps" : "--parent", above);
        if (i & 1)
            config.ps = above, config.mode = GN_SHARED;
        else
            config.parent = above;
        does_not_start(&config, what);
    }
    // One that only could be: another address of this host, the same port.
    gn_switchd_config config = plain_switch;
    char above[32];
    config.listen.port = free_port();
    snprintf(above, sizeof above, "127.77.0.1:%u", config.listen.port);
    config.parent = above;
    const running r = start(&config);
    slay(&r);
}
END_TEST

START_TEST(switches_above_each_other_are_refused)
{
    gn_switchd_config config = plain_switch;
    char address[24];
    config.listen.port = free_port();
    snprintf(address, sizeof address, "127.0.0.1:%u", config.listen.port);
    gn_switchd_config second = plain_switch;
    second.parent = address;
    second.place_fanin = 1;
    const running upper = start(&second);
    config.parent = upper.address;
    config.place_fanin = 1;
    const running lower = start(&config);
    config = plain_switch;
    config.parent = lower.address;
    const running leaf = start(&config);
    ask(&leaf, 1, "circle");
    says_address(0, "parent switch %s", &upper);
    says_address(0, "job 'circle' comes back from the switch %s", &upper);
    says(0, "rank 0 is below this one already");
    // Each has a worker, and waits for the other as its child.
    for (unsigned i = 0; i < 2; i++) {
        sw_client c = client_of(i ? upper.port : lower.port, "both", i, 2);
        c.join.bit = 0, c.join.children = 1;
        c.join.leader = i ? GN_AGG_WORKERS_MAX : 0;
        launch(i, &c);
    }
    await(0, 2);
    for (unsigned i = 0; i < 2; i++) says(i, "has a worker here, rank ");
    stop(&leaf);
    stop(&lower);
    stop(&upper);
}
END_TEST

/// The way from a switch to itself may be longer than it can see, for example where addresses are
/// translated.
START_TEST(a_switch_that_comes_to_itself_is_refused)
{
    gn_switchd_config config = plain_switch;
    char address[24];
    uint8_t bytes[2 * GN_ADMISSION_MAX];
    gn_admission answer;
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in own = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof own;
    ck_assert(!bind(listener, (struct sockaddr *)&own, length) && !listen(listener, 1));
    ck_assert(!getsockname(listener, (struct sockaddr *)&own, &length));
    snprintf(address, sizeof address, "127.0.0.1:%u", ntohs(own.sin_port));
    config.parent = address;
    config.place_fanin = 1;
    const running r = start(&config);
    const sw_client c = client_of(r.port, "itself", 0, 1);
    launch(0, &c);
    const int above = accept(listener, NULL, NULL), back = socket(AF_INET, SOCK_STREAM, 0);
    const ssize_t got = recv(above, bytes, sizeof bytes, 0);
    ck_assert_int_gt(got, 0);
    own.sin_port = htons(r.port);
    ck_assert(!connect(back, (struct sockaddr *)&own, sizeof own));
    ck_assert_int_eq(send(back, bytes, (size_t)got, 0), got);
    const ssize_t said = recv(back, bytes, sizeof bytes, 0);
    ck_assert_int_gt(said, 0);
    ck_assert_int_gt(gn_admission_parse(bytes, (size_t)said, &answer, NULL), 0);
    ck_assert_int_eq(answer.type, GN_ADMISSION_REFUSED);
    ck_assert_msg(strstr(answer.text, "--parent 127.0.0.1:") && strstr(answer.text, " is this switch itself"), "%s",
                  answer.text);
    close(above);
    close(back);
    close(listener);
    await(0, 1);
    stop(&r);
}
END_TEST

/// A root and two leaves, each with two workers.
typedef struct tree {
    running ps, root, leaf[2];
    bool shares;
    char folder[32], control[4][48];  ///< sockets of root, leaves, parameter server
} tree;

enum { ROOT, LEAF, PS = LEAF + 2 };

static void plant(tree *t, bool shares)
{
    *t = (tree){.shares = shares, .folder = "/tmp/gradnic-tree-XXXXXX"};
    ck_assert_ptr_nonnull(mkdtemp(t->folder));
    for (unsigned i = 0; i < 4; i++) snprintf(t->control[i], sizeof t->control[i], "%s/%u", t->folder, i);
    gn_switchd_config config = plain_switch;
    config.user = getpwuid(geteuid())->pw_name;  // who may ask
    config.stuck_ns = 1500000000;
    if (shares) {
        config.role = GN_SWITCHD_PS;
        config.control = t->control[PS];
        t->ps = start(&config);
        const char *user = config.user;
        config = sharing(&t->ps, GN_SHARED, 4, 256);
        config.user = user;
        config.stuck_ns = 1500000000;
    }
    config.control = t->control[ROOT];
    t->root = start(&config);
    config.ps = NULL;
    config.parent = t->root.address;
    for (unsigned i = 0; i < 2; i++) {
        config.control = t->control[LEAF + i];
        t->leaf[i] = start(&config);
    }
}

static sw_client worker_of(const tree *t, const char *name, unsigned rank)
{
    sw_client c = client_of(t->leaf[rank / 2].port, name, rank, 4);
    c.join.bit = (uint8_t)(rank % 2);
    c.join.children = 2;
    c.join.parent_bit = (uint8_t)(rank / 2);
    c.join.parent_children = 2;
    c.join.leader = rank / 2 ? GN_AGG_WORKERS_MAX : 0;
    c.timeout_ms = 20000;
    c.rounds = 1000;
    c.pause_s = 0.02;
    return c;
}

static void fell(const tree *t)
{
    for (unsigned i = 0; i < 2; i++)
        if (t->leaf[i].pid) slay(&t->leaf[i]);
    slay(&t->root);
    if (t->shares) slay(&t->ps);
    for (unsigned i = 0; i < 4; i++) unlink(t->control[i]);
    rmdir(t->folder);
}

static void squeeze(char *text)
{
    char *to = text;
    for (; *text; text++)
        if (*text != ' ' && *text != '\n') *to++ = *text;
    *to = 0;
}

/// Status of one of them says in the end: it takes until reminders have been answered.
static void status_says(const tree *t, unsigned whose, const char *format, const running *named)
{
    gn_error error;
    char what[100];
    char *answer = NULL;
    snprintf(what, sizeof what, format, named ? named->address : "");
    for (unsigned i = 0; i < 500; i++) {
        free(answer);
        answer = gn_control_ask(t->control[whose], "switch", "{\"command\": \"status\"}", &error);
        ck_assert_msg(answer != NULL, "%s", error.text);
        squeeze(answer);
        if (strstr(answer, what)) break;
        usleep(20000);
    }
    ck_assert_msg(strstr(answer, what) != NULL, "'%s' says nothing of '%s'", answer, what);
    free(answer);
}

/// Below one of the root's children a leaf has slots of its own, below the other there are workers.
START_TEST(kinds_of_children_that_are_mixed)
{
    tree t;
    plant(&t, _i);
    gn_switchd_config config = plain_switch;
    config.mode = _i ? GN_SHARED : GN_PARTITIONED;
    config.parent = t.root.address;
    config.place_fanin = 2;
    const running middle = start(&config);
    config = plain_switch;
    config.parent = middle.address;
    const running low = start(&config);
    sw_client c = client_of(low.port, "kinds", 0, 2);
    c.join.children = c.join.parent_children = 1;
    launch(0, &c);
    status_says(&t, ROOT, "\"job\":\"kinds\"", NULL);
    c = client_of(t.leaf[1].port, "kinds", 1, 2);
    c.join.bit = 0, c.join.children = 1;
    c.join.parent_bit = 1, c.join.parent_children = 2;
    launch(1, &c);
    await(1, 1);
    if (_i) {
        says_address(1, "kinds of children are mixed (--mode): switch %s with rank 0 has ", &middle);
        says(1, " has switches of level 0 with slots of their own, switch ");
        says_address(1, "switch %s with rank 1 has workers", &t.leaf[1]);
    } else {
        says(1, "switches below one have to be at the same height above the workers: ");
        says_address(1, "switch %s with rank 0 has level 2, switch ", &middle);
        says_address(1, "switch %s with rank 1 1", &t.leaf[1]);
    }
    stop(&low);
    await(0, 1);
    slay(&middle);
    fell(&t);
}
END_TEST

START_TEST(status_names_the_rank_that_is_waited_for)
{
    tree t;
    plant(&t, _i);
    atomic_bool hold = true;
    for (unsigned i = 0; i < 4; i++) {
        sw_client c = worker_of(&t, "waits", i);
        c.rounds = 2;
        c.pause_s = 0;
        if (i == 3) c.hold = &hold;
        launch(i, &c);
    }
    if (t.shares) {
        status_says(&t, PS, "\"waits_for\":[{\"ranks\":[3],\"below\":\"%s\"}]", &t.root);
    } else {
        status_says(&t, ROOT, "\"waits_for\":[{\"ranks\":[2,3],\"below\":\"%s\"}]", &t.leaf[1]);
        status_says(&t, LEAF, "\"waits_for\":[{\"above\":\"%s\"}]", &t.root);
        status_says(&t, LEAF + 1, "\"waits_for\":[{\"rank\":3,\"address\":\"127.0.0.1:", NULL);
    }
    hold = false;
    all_good(0, 4);
    status_says(&t, ROOT, "\"why\":\"allhaveleft\"", NULL);  // leaves that go when all is done are not lost
    fell(&t);
}
END_TEST

/// While there is no job yet, whoever asks is told who has not come. A leaf says it by number. The
/// root says it by rank, and so does a leaf that waits for the root.
START_TEST(who_has_not_come_is_told_at_once)
{
    tree t;
    plant(&t, _i);
    for (unsigned i = 0; i < 3; i++) {
        sw_client c = worker_of(&t, "forms", i);
        c.timeout_ms = i == 1 ? 4000 : 3000;  // once rank 0 has gone, that is what is told
        launch(i, &c);
    }
    status_says(&t, ROOT, "\"absent\":\"noswitchhascomethathasranks2-3belowit\"", NULL);
    status_says(&t, LEAF, "\"absent\":\"parentswitch%s:noswitchhascomethathasranks2-3belowit\"", &t.root);
    status_says(&t, LEAF + 1, "\"absent\":\"child1of0-1hasnotcome\"", NULL);
    await(0, 3);
    says_address(0, "parent switch %s: no switch has come that has ranks 2-3 below it", &t.root);
    says(2, "child 1 of 0-1 has not come");
    fell(&t);
}
END_TEST

START_TEST(a_lost_leaf_is_told_of_with_all_who_were_below_it)
{
    tree t;
    plant(&t, _i);
    for (unsigned i = 0; i < 4; i++) {
        const sw_client c = worker_of(&t, "leaf", i);
        launch(i, &c);
    }
    under_way(0, 4, 1);
    slay(&t.leaf[1]);
    await(0, 4);
    for (unsigned i = 0; i < 2; i++) {
        says_address(i, "gone: parent switch %s: ", &t.root);
        says_address(i, "switch %s with ranks 2-3 is lost: it has closed the connection without a word", &t.leaf[1]);
    }
    status_says(&t, ROOT, "\"why\":\"switch%swithranks2-3islost:ithasclosedtheconnectionwithoutaword\"", &t.leaf[1]);
    t.leaf[1].pid = 0;
    fell(&t);
}
END_TEST

/// A leaf that still lives says why it has ended the job.
START_TEST(who_leaves_a_leaf_is_told_of_at_the_others)
{
    tree t;
    plant(&t, _i);
    for (unsigned i = 0; i < 4; i++) {
        sw_client c = worker_of(&t, "goes", i);
        if (i == 2) c.stop_after = 3;
        launch(i, &c);
    }
    await(0, 4);
    for (unsigned i = 0; i < 4; i++) {
        if (i == 2) continue;
        says(i, "rank 2 (127.0.0.1:");
        says(i, ") has left, and its part of a sum is missing");
    }
    for (unsigned i = 0; i < 2; i++) says_address(i, "switch %s with ranks 2-3: rank 2 (", &t.leaf[1]);
    fell(&t);
}
END_TEST

/// Starts workers that are at work, with so much patience. `floats`: soon they wait only for sums
/// in binary32, which never come, and go on asking.
static void at_work(const tree *t, const char *name, int timeout_ms, bool floats)
{
    for (unsigned i = 0; i < 4; i++) {
        sw_client c = worker_of(t, name, i);
        c.timeout_ms = timeout_ms;
        c.pause_s = 0;
        c.nan = c.deaf = floats;
        launch(i, &c);
    }
    if (floats)
        usleep(800000);
    else
        under_way(0, 4, 1);
}

static const running *whose(const tree *t, unsigned number)
{
    return number == ROOT ? &t->root : number == PS ? &t->ps : &t->leaf[number - LEAF];
}

static const struct {
    unsigned stopped;
    bool shares, floats;
    const char *said;  ///< to ranks 0 and 1
} silences[] = {{ROOT, false, false, "no sign of life from the parent switch %s for "},
                {ROOT, true, false, "no sign of life from the parent switch %s for "},
                {ROOT, false, true, "no sign of life from the parent switch %s for "},
                {ROOT, true, true, "no sign of life from the parent switch %s for "},
                {PS, true, false, "no sign of life from the parameter server %s for "},
                {PS, true, true, "no sign of life from the parameter server %s for "},
                {LEAF + 1, false, false, "no sign of life from switch %s with ranks 2-3 for "},
                {LEAF + 1, true, false, "no sign of life from switch %s with ranks 2-3 for "}};
enum { SILENCES = sizeof silences / sizeof *silences };

/// As SIGSTOP does it: all connections stand. The silent switch is named before the workers' own
/// deadline has passed.
START_TEST(a_silent_switch_is_named)
{
    tree t;
    plant(&t, silences[_i].shares);
    at_work(&t, "silent", silences[_i].floats ? 6000 : 2500, silences[_i].floats);
    const running *stopped = whose(&t, silences[_i].stopped);
    kill(stopped->pid, SIGSTOP);
    await(0, 4);
    for (unsigned i = 0; i < (silences[_i].stopped == LEAF + 1 ? 2 : 4); i++) {
        says(i, "gone: ");
        says_address(i, silences[_i].said, stopped);
    }
    fell(&t);
}
END_TEST

/// All switches answer. Workers ask for long without getting anything, as from a leader that
/// computes. That is no reason to accuse a switch.
START_TEST(a_slow_leader_is_no_silent_switch)
{
    tree t;
    plant(&t, _i);
    at_work(&t, "slow", 4000, true);
    await(0, 4);
    for (unsigned i = 0; i < 4; i++) {
        ck_assert(!ones[i].result.good);
        ck_assert_msg(!strstr(ones[i].result.error, "no sign of life"), "%s", ones[i].result.error);
    }
    fell(&t);
}
END_TEST

START_TEST(a_silent_switch_that_is_asked_is_named)
{
    gn_switchd_config config = plain_switch;
    config.join_timeout_ns = 60000000000;
    const running root = start(&config);
    config.parent = root.address;
    const running leaf = start(&config);
    kill(root.pid, SIGSTOP);
    sw_client c = client_of(leaf.port, "asks", 0, 1);
    c.join.parent_children = 1;
    c.timeout_ms = 2000;
    launch(0, &c);
    await(0, 1);
    says_address(0, "no sign of life from the parent switch %s for ", &root);
    slay(&leaf);
    slay(&root);
}
END_TEST

/// A root that nobody wants anything of may be silent; and who stood still itself accuses nobody.
START_TEST(a_silence_that_ends_is_none)
{
    tree t;
    plant(&t, false);
    for (unsigned i = 0; i < 4; i++) {
        sw_client c = worker_of(&t, "pause", i);
        c.timeout_ms = 2000;
        c.rounds = 2;
        c.pause_s = 2.5;
        c.pauses = 1;
        launch(i, &c);
    }
    under_way(0, 4, 1);
    kill(t.root.pid, SIGSTOP);
    usleep(1000000);
    status_says(&t, LEAF, "\"silent\":[{\"who\":\"%s\",\"for_s\":", &t.root);
    kill(t.root.pid, SIGCONT);
    all_good(0, 4);
    for (unsigned i = 0; i < 4; i++) {
        sw_client c = worker_of(&t, "still", i);
        c.timeout_ms = 3000;
        c.rounds = 60;
        launch(i, &c);
    }
    under_way(0, 4, 1);
    const running *all[] = {&t.root, &t.leaf[0], &t.leaf[1]};
    for (unsigned i = 0; i < 3; i++) kill(all[i]->pid, SIGSTOP);
    usleep(1800000);  // more than half of the workers' patience
    for (unsigned i = 0; i < 3; i++) kill(all[i]->pid, SIGCONT);
    all_good(0, 4);
    fell(&t);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("switchd tree");
    TCase *all = tcase_create("all");
    tcase_add_test(all, who_is_taken_for_something_else_says_so);
    tcase_add_test(all, a_switch_above_itself_does_not_start);
    tcase_add_test(all, switches_above_each_other_are_refused);
    tcase_add_test(all, a_switch_that_comes_to_itself_is_refused);
    tcase_add_loop_test(all, kinds_of_children_that_are_mixed, 0, 2);
    tcase_add_loop_test(all, status_names_the_rank_that_is_waited_for, 0, 2);
    tcase_add_loop_test(all, who_has_not_come_is_told_at_once, 0, 2);
    tcase_add_loop_test(all, a_lost_leaf_is_told_of_with_all_who_were_below_it, 0, 2);
    tcase_add_loop_test(all, who_leaves_a_leaf_is_told_of_at_the_others, 0, 2);
    tcase_add_loop_test(all, a_silent_switch_is_named, 0, SILENCES);
    tcase_add_loop_test(all, a_slow_leader_is_no_silent_switch, 0, 2);
    tcase_add_test(all, a_silent_switch_that_is_asked_is_named);
    tcase_add_test(all, a_silence_that_ends_is_none);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
