// SPDX-License-Identifier: Apache-2.0
// What the daemons' control sockets refuse themselves, whatever the client's options let through.
#include <stdio.h>
#include <string.h>

#include "driver/request.h"
#include "suite.h"
#include "switch/daemon/request.h"

static gn_error error;

static gn_status nic(const char *text, gn_nic_request *request)
{
    return gn_nic_request_parse(text, strlen(text), request, &error);
}

static void nic_refuses(const char *text, const char *why)
{
    gn_nic_request request;
    ck_assert_msg(nic(text, &request) == GN_INVALID, "%s was taken", text);
    ck_assert_msg(strstr(error.text, why) != NULL, "%s: %s", text, error.text);
}

static void nic_takes(const char *text)
{
    gn_nic_request request;
    ck_assert_msg(nic(text, &request) == GN_OK, "%s: %s", text, error.text);
}

START_TEST(keys_that_come_twice)
{
    gn_switch_request request;
    static const char twice[] = "{\"command\": \"end\", \"job\": \"a\", \"job\": \"b\"}";
    nic_refuses("{\"command\": \"status\", \"command\": \"stats\"}", "duplicate object key");
    nic_refuses("{\"command\": \"set\", \"rate\": 1000, \"rate\": 2000}", "duplicate object key");
    ck_assert_int_eq(gn_switch_request_parse(twice, sizeof twice - 1, &request, &error), GN_INVALID);
    ck_assert_ptr_nonnull(strstr(error.text, "duplicate object key"));
}
END_TEST

// The least and the largest value that the NIC takes, and what lies beyond.
START_TEST(limits_of_the_nic)
{
    static const char *const times[] = {"delay_ns", "jitter_ns", "reorder_ns"}, *const shares[] = {"loss", "duplicate",
                                                                                                   "reorder"};
    char text[120];
    nic_takes("{\"command\": \"set\", \"rate\": 0}");
    nic_takes("{\"command\": \"set\", \"rate\": 1000}");
    nic_refuses("{\"command\": \"set\", \"rate\": 999}", "rate: must be at least 1000 bits per second");
    nic_refuses("{\"command\": \"set\", \"rate\": 1}", "rate: must be at least 1000 bits per second");
    nic_refuses("{\"command\": \"set\", \"rate\": -1}", "rate: must be a whole number of at least 0");
    nic_refuses("{\"command\": \"set\", \"rate\": 1000.0}", "rate: must be a whole number");
    nic_takes("{\"command\": \"set\", \"bound\": -127}");
    nic_takes("{\"command\": \"set\", \"bound\": 127}");
    nic_refuses("{\"command\": \"set\", \"bound\": -128}", "bound: must be a whole number");
    nic_refuses("{\"command\": \"set\", \"bound\": 128}", "bound: must be a whole number");
    nic_refuses("{\"command\": \"set\", \"seed\": -1}", "seed: must be a whole number of at least 0");
    nic_refuses("{\"command\": \"set\", \"rules\": []}", "rules: must be a list of 1 to ");
    for (int i = 0; i < 3; i++) {
        snprintf(text, sizeof text, "{\"command\": \"set\", \"%s\": 10000000000}", times[i]);
        nic_takes(text);
        snprintf(text, sizeof text, "{\"command\": \"set\", \"%s\": 10000000001}", times[i]);
        nic_refuses(text, "at most 10 seconds");
        snprintf(text, sizeof text, "{\"command\": \"set\", \"%s\": 1}", shares[i]);
        nic_takes(text);
        snprintf(text, sizeof text, "{\"command\": \"set\", \"%s\": 1.0001}", shares[i]);
        nic_refuses(text, "must be a probability from 0 to 1");
        snprintf(text, sizeof text, "{\"command\": \"set\", \"%s\": -0.0001}", shares[i]);
        nic_refuses(text, "must be a probability from 0 to 1");
    }
}
END_TEST

START_TEST(names_of_jobs)
{
    gn_switch_request request;
    char text[400], name[sizeof request.job + 1];
    memset(name, 'n', sizeof name);
    for (size_t length = 0; length <= sizeof request.job; length++) {
        const int bytes = snprintf(text, sizeof text, "{\"command\": \"end\", \"job\": \"%.*s\"}", (int)length, name);
        const gn_status status = gn_switch_request_parse(text, (size_t)bytes, &request, &error);
        ck_assert_int_eq(status, length && length < sizeof request.job ? GN_OK : GN_INVALID);
        if (!status) ck_assert_uint_eq(strlen(request.job), length);
    }
}
END_TEST

int main(void)
{
    return RUN_TESTS("requests", keys_that_come_twice, limits_of_the_nic, names_of_jobs);
}
