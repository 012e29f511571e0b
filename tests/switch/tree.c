// SPDX-License-Identifier: Apache-2.0
#include "tree.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <check.h>

#include "host/control.h"

void plant(tree *t, bool shares)
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

sw_client worker_of(const tree *t, const char *name, unsigned rank)
{
    sw_client c = leaf_client(t->leaf[rank / 2].port, name, rank);
    c.timeout_ms = 20000;
    c.rounds = 1000;
    c.pause_s = 0.02;
    return c;
}

void fell(const tree *t)
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

void status_says(const tree *t, unsigned whose, const char *format, const running *named)
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
