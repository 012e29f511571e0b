// SPDX-License-Identifier: Apache-2.0
// gradnic switch: runs the software switch. client.c asks a running one.
#include "switch.h"

#include <string.h>

#include "tools/commands.h"
#include "tools/kit/cli.h"
#include "tools/kit/units.h"

static void note(void *program, const char *text)
{
    gn_cli_note(program, "%s", text);
}

static const char *plural(unsigned count)
{
    return count == 1 ? "" : "s";
}

static void introduce(const char *program, const gn_switch_options *options, const gn_switchd *daemon)
{
    char listen[GN_ENDPOINT_TEXT];
    const gn_switchd_config *c = &options->config;
    gn_cli_note(program, "%slistening on %s: %u slot%s of %u value%s in %u shard%s, %s%s%s%s%s",
                c->role == GN_SWITCHD_PS ? "parameter server " : "", gn_switchd_address(daemon, listen), c->slots,
                plural(c->slots), c->slot_values, plural(c->slot_values), c->shards, plural(c->shards),
                c->role == GN_SWITCHD_PS ? "at most " : "", gn_human_bytes(gn_switchd_memory(c)).s,
                c->parent ? ", parent "
                : c->ps   ? ", parameter server "
                          : "",
                c->parent ? c->parent
                : c->ps   ? c->ps
                          : "",
                gn_switchd_has_secret(daemon) ? ", with a shared secret" : "");
}

int gn_command_switch(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(int argc, char **argv);
    } clients[] = {{"status", gn_command_switch_status},
                   {"jobs", gn_command_switch_jobs},
                   {"stats", gn_command_switch_stats},
                   {"end", gn_command_switch_end}};
    for (size_t i = 0; argc > 1 && i < sizeof clients / sizeof *clients; i++)
        if (!strcmp(argv[1], clients[i].name)) return clients[i].run(argc - 1, argv + 1);

    gn_switch_options options;
    gn_switchd *daemon = NULL;
    gn_error error = {0};
    gn_switch_options_parse(&options, argc, argv);
    if (!options.result.quiet) {
        options.config.log = note;
        options.config.log_context = argv[0];
    }
    const gn_status closed = gn_switchd_open(&daemon, &options.config, &error);
    if (closed) {
        gn_cli_error(argv[0], "%s", error.text);
        return closed == GN_INVALID ? GN_EXIT_USAGE : GN_EXIT_FAILED;
    }
    if (!options.result.quiet) introduce(argv[0], &options, daemon);
    const gn_status failed = gn_switchd_run(daemon, &error);
    if (failed) gn_cli_error(argv[0], "%s", error.text);
    gn_switchd_close(daemon);
    return failed ? GN_EXIT_FAILED : GN_EXIT_OK;
}
