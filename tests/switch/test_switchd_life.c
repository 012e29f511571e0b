// SPDX-License-Identifier: Apache-2.0
// A worker that does not fit is refused and told why. A worker, switch or parameter server that
// goes or is killed is told of.
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "net/clock.h"
#include "switches.h"
#include "unit/suite.h"

static void refused_with(const char *what)
{
    await(1, 1);
    says(1, what);
}

START_TEST(a_lost_parameter_server_is_noticed)
{
    const running ps = start_ps(plain_switch.in);
    // It serves switches, no workers.
    sw_client c = client_of(ps.port, "direct", 0, 1);
    launch(0, &c);
    await(0, 1);
    says(0, "this is a parameter server");
    gn_switchd_config config = sharing(&ps, GN_SHARED, plain_switch.slots, 0);
    const running r = start(&config);
    launch_for_long(r.port, "lost", 2);
    slay(&ps);
    await(0, 2);
    for (unsigned i = 0; i < 2; i++) says(i, "gone: the connection to the parameter server 127.0.0.1:");
    // A worker that asks now is told, too.
    c = client_of(r.port, "none", 0, 1);
    launch(0, &c);
    await(0, 1);
    says(0, "parameter server");
    // When there is one again at that place, the same job can be had again.
    config = plain_switch;
    config.role = GN_SWITCHD_PS;
    config.listen.port = ps.port;
    const running again = start(&config);
    launch_all(r.port, "lost", 2);
    all_good(0, 2);
    stop(&r);
    stop(&again);
}
END_TEST

START_TEST(who_leaves_others_waiting_is_noticed_where_slots_are_shared)
{
    const running ps = start_ps(plain_switch.in);
    gn_switchd_config config = sharing(&ps, GN_SHARED, 4, 256);
    const running r = start(&config);
    for (unsigned i = 0; i < 3; i++) {
        sw_client c = client_of(r.port, "goes", i, 3);
        c.timeout_ms = 20000;
        if (i == 1) c.stop_after = 1;
        launch(i, &c);
    }
    await(0, 3);
    for (unsigned i = 0; i < 3; i += 2)
        says(i, "gone: rank 1 (127.0.0.1:"), says(i, ") has left, and its part of a sum is missing");
    stop(&r);
    stop(&ps);
}
END_TEST

START_TEST(who_does_not_fit_is_told_why)
{
    const running r = start(&plain_switch);
    sw_client first = client_of(r.port, "fit", 0, 2), other = client_of(r.port, "fit", 1, 2);
    launch(0, &first);
    has_asked(0);
    other.join.packet_values = 128;
    launch(1, &other);
    refused_with("packet_values of job 'fit': rank 0 (127.0.0.1:");
    says(1, "says 256, rank 1 (127.0.0.1:");
    other = client_of(r.port, "fit", 1, 2), other.join.bit = 0, other.join.rank = 1;
    launch(1, &other);
    refused_with("bit 0 of job 'fit' is taken by rank 0 (127.0.0.1:");
    other = client_of(r.port, "fit", 0, 2), other.join.bit = 1;
    launch(1, &other);
    refused_with("rank 0 of job 'fit' is there already: rank 0 (127.0.0.1:");
    other = client_of(r.port, "big", 1, 2), other.join.packet_values = 513;
    launch(1, &other);
    refused_with("slots have 512 values");
    other = client_of(r.port, "tree", 1, 2), other.join.parent_children = 2;
    launch(1, &other);
    refused_with("the ranks name 2 different switches");
    // And the job can still be had. A worker that comes late has to take another name.
    atomic_bool hold = true;
    other = client_of(r.port, "fit", 1, 2), other.hold = &hold;
    launch(1, &other);
    under_way(0, 1, 1);
    launch(2, &first);
    await(2, 1);
    says(2, "is complete already");
    hold = false;
    all_good(0, 2);
    stop(&r);
}
END_TEST

START_TEST(who_does_not_come_is_named)
{
    const running r = start(&plain_switch);
    for (unsigned i = 0; i < 2; i++) {
        const sw_client c = client_of(r.port, "late", i, 4);
        launch(i, &c);
    }
    await(0, 2);
    for (unsigned i = 0; i < 2; i++) says(i, "ranks 2-3 have not come within 2 s");
    stop(&r);
}
END_TEST

START_TEST(who_goes_is_told_of)
{
    const running r = start(&plain_switch);
    const uint64_t begin = gn_now();
    for (unsigned i = 0; i < 4; i++) {
        sw_client c = client_of(r.port, "goes", i, 4);
        if (i == 2) c.stop_after = 1;
        launch(i, &c);
    }
    await(0, 4);
    for (unsigned i = 0; i < 4; i++) {
        if (i == 2) continue;
        says(i, "gone: rank 2 (127.0.0.1:"), says(i, ") has left, and its part of a sum is missing");
    }
    ck_assert_uint_lt(gn_now() - begin, 5000000000);
    // Its slots are free again.
    for (unsigned i = 0; i < 2; i++) {
        sw_client c = client_of(r.port, "goes", i, 2);
        c.join.slots = 512;
        c.join.channels = 2;
        launch(i, &c);
    }
    all_good(0, 2);
    ck_assert_uint_eq(ones[0].result.welcome.slots, 512);
    stop(&r);
}
END_TEST

/// As when it has given up rank 3, which is silent: the job is not kept until all have gone.
START_TEST(who_gives_up_says_why)
{
    const running r = start(&plain_switch);
    for (unsigned i = 0; i < 4; i++) {
        sw_client c = client_of(r.port, "fails", i, 4);
        c.rounds = i == 3 ? 1 : 3;
        if (i == 3) c.pause_s = 2;  // neither sends nor leaves
        if (i == 2) c.stop_after = 1, c.last_word = "rank 3 lost";
        c.timeout_ms = 30000;
        launch(i, &c);
    }
    await(0, 4);
    for (unsigned i = 0; i < 2; i++) says(i, "gone: rank 2 (127.0.0.1:"), says(i, "): rank 3 lost");
    stop(&r);
}
END_TEST

/// What has no integers is summed by rank 0, past the slots: no slot tells who is waited for.
START_TEST(who_leaves_and_owes_more_than_a_slot_knows_is_told_of)
{
    gn_switchd_config config = plain_switch;
    config.stuck_ns = 1500000000;
    const running r = start(&config);
    for (unsigned i = 0; i < 2; i++) {
        sw_client c = client_of(r.port, "owes", i, 2);
        c.nan = true;
        c.rounds = 1;
        c.count = 8192;  // each slot once: rank 0 can be done alone
        c.deaf = i == 1;
        c.timeout_ms = 30000;
        launch(i, &c);
    }
    await(0, 2);
    ck_assert_msg(ones[0].result.good, "%s", ones[0].result.error);
    says(1, "gone: rank 0 (127.0.0.1:"), says(1, ") has left, and its part of a sum is missing");
    stop(&r);
}
END_TEST

/// As SIGSTOP does it: the worker that is left neither sends nor leaves.
START_TEST(a_job_whose_last_worker_is_silent_ends)
{
    gn_switchd_config config = plain_switch;
    config.abandoned_ns = 400000000;
    const running r = start(&config);
    for (unsigned i = 0; i < 3; i++) {
        sw_client c = client_of(r.port, "silent", i, 3);
        c.rounds = i == 2 ? 2 : 1;
        if (i == 2) c.pause_s = 1.2;
        launch(i, &c);
    }
    all_good(0, 2);
    await(2, 1);
    says(2, "gone: children 0-1 have left, and the others, 2, have sent nothing for 0.4 s");
    stop(&r);
}
END_TEST

START_TEST(slots_are_granted_within_the_quota)
{
    gn_switchd_config config = plain_switch;
    config.quota = 256;
    config.channels = 16;
    const running r = start(&config);
    atomic_bool hold = true;
    for (unsigned job = 0; job < 5; job++) {
        char name[8];
        snprintf(name, sizeof name, "q%u", job);
        sw_client c = client_of(r.port, name, 0, 1);
        c.join.slots = 512;
        c.join.channels = job == 4 ? 1 : 2;
        c.rounds = 1;
        c.hold = &hold;
        launch(job, &c);
        if (job < 4) under_way(job, 1, 1);
    }
    await(4, 1);
    hold = false;
    await(0, 4);
    for (unsigned job = 0; job < 4; job++) {
        ck_assert_msg(ones[job].result.good, "%s", ones[job].result.error);
        ck_assert_uint_eq(ones[job].result.welcome.slots, 128);
    }
    says(4, "no slots left");
    sw_client c = client_of(r.port, "none", 0, 1);
    c.join.channels = 16;
    stop(&r);
    config.quota = 8;
    const running small = start(&config);
    c.port = small.port;
    launch(5, &c);
    await(5, 1);
    says(5, "16 channels need a slot each, and a job has at most 8 here (--quota)");
    stop(&small);
}
END_TEST

START_TEST(slots_that_there_is_no_memory_for_are_not_made)
{
    gn_switchd_config config = plain_switch;
    config.memory = 3 << 20;
    does_not_start(&config,
                   "1024 slots of 512 values need 4 MiB of memory, and 3 MiB are available (--slots, --values)");
    config.role = GN_SWITCHD_PS;
    does_not_start(&config, "need 4 MiB of memory");
    config.slots = 700;
    const running ps = start(&config);
    slay(&ps);
}
END_TEST

START_TEST(a_killed_switch_is_noticed)
{
    running r = start(&plain_switch);
    const uint64_t begin = gn_now();
    launch_for_long(r.port, "killed", 2);
    slay(&r);
    await(0, 2);
    for (unsigned i = 0; i < 2; i++) says(i, "the switch 127.0.0.1:");
    ck_assert_uint_lt(gn_now() - begin, 5000000000);
    // At the same place again: another generation.
    gn_switchd_config config = plain_switch;
    config.listen.port = r.port;
    const uint16_t gen = ones[0].result.welcome.gen[0];
    sleep(1);
    r = start(&config);
    launch_all(r.port, "killed", 2);
    all_good(0, 2);
    ck_assert_uint_ne(ones[0].result.welcome.gen[0], gen);
    stop(&r);
}
END_TEST

START_TEST(a_switch_that_ends_says_so)
{
    const running r = start(&plain_switch);
    launch_for_long(r.port, "ends", 2);
    stop(&r);
    await(0, 2);
    for (unsigned i = 0; i < 2; i++) says(i, "gone: the switch was told to end");
}
END_TEST

int main(void)
{
    return RUN_TESTS("switchd_life", a_lost_parameter_server_is_noticed,
                     who_leaves_others_waiting_is_noticed_where_slots_are_shared, who_does_not_fit_is_told_why,
                     who_does_not_come_is_named, who_goes_is_told_of, who_gives_up_says_why,
                     who_leaves_and_owes_more_than_a_slot_knows_is_told_of, a_job_whose_last_worker_is_silent_ends,
                     slots_are_granted_within_the_quota, slots_that_there_is_no_memory_for_are_not_made,
                     a_killed_switch_is_noticed, a_switch_that_ends_says_so);
}
