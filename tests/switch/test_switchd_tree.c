// SPDX-License-Identifier: Apache-2.0
// Switches above and below each other. A tree that cannot be is refused, with both ends named. A
// child that is waited for is named at all switches. A child that goes is told of at the other end
// of the tree. Silence: test_switchd_silence.c.
#include <stdio.h>
#include <string.h>

#include "net/clock.h"
#include "tree.h"
#include "unit/free_port.h"
#include "unit/suite.h"
#include "wire_peer.h"

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
    uint16_t port;
    wire_peer above, back;
    const int listener = peer_listen(&port);
    snprintf(address, sizeof address, "127.0.0.1:%u", port);
    config.parent = address;
    config.place_fanin = 1;
    const running r = start(&config);
    const sw_client c = client_of(r.port, "itself", 0, 1);
    launch(0, &c);
    peer_accept(&above, listener);
    const ssize_t got = recv(above.fd, bytes, sizeof bytes, 0);
    ck_assert_int_gt(got, 0);
    peer_connect(&back, r.port, 0);
    ck_assert_int_eq(send(back.fd, bytes, (size_t)got, 0), got);
    const gn_admission answer = peer_hear(&back);
    ck_assert_int_eq(answer.type, GN_ADMISSION_REFUSED);
    ck_assert_msg(strstr(answer.text, "--parent 127.0.0.1:") && strstr(answer.text, " is this switch itself"), "%s",
                  answer.text);
    peer_close(&above);
    peer_close(&back);
    close(listener);
    await(0, 1);
    stop(&r);
}
END_TEST

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
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
