// SPDX-License-Identifier: Apache-2.0
// A switch in a tree that falls silent is named, and only that one.
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "tree.h"
#include "unit/suite.h"

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
    Suite *suite = suite_create("switchd silence");
    TCase *all = tcase_create("all");
    tcase_add_loop_test(all, a_silent_switch_is_named, 0, SILENCES);
    tcase_add_loop_test(all, a_slow_leader_is_no_silent_switch, 0, 2);
    tcase_add_test(all, a_silent_switch_that_is_asked_is_named);
    tcase_add_test(all, a_silence_that_ends_is_none);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
