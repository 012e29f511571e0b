// SPDX-License-Identifier: Apache-2.0
// gradnic switch: runs the software switch. client.c asks a running one.
#include "switch.h"

#include <string.h>

#include "host/log.h"
#include "tools/commands.h"
#include "tools/kit/units.h"

static void note(void *unused, const char *text)
{
    (void)unused;
    gn_log(GN_SEVERITY_INFO, "%s", text);
}

/// SIGHUP.
static void reload(void *context, gn_switchd *daemon)
{
    gn_settings *settings = context;
    gn_switch_options options;
    gn_error error;
    if (gn_switch_options_reread(&options, settings)) {
        gn_settings_reject(settings, NULL);
    } else if (gn_switchd_reconfigure(daemon, &options.config, &error)) {
        gn_settings_reject(settings, error.text);
    } else {
        gn_log_set(settings->program, &options.log);
        gn_settings_accept(settings);
    }
}

static const char *plural(unsigned count)
{
    return count == 1 ? "" : "s";
}

static void introduce(const gn_switch_options *options, const gn_switchd *daemon)
{
    char listen[GN_ENDPOINT_TEXT];
    const gn_switchd_config *c = &options->config;
    gn_log(GN_SEVERITY_INFO, "%slistening on %s: %u slot%s of %u value%s in %u shard%s, %s%s%s%s%s%s%s",
           c->role == GN_SWITCHD_PS ? "parameter server " : "", gn_switchd_address(daemon, listen), c->slots,
           plural(c->slots), c->slot_values, plural(c->slot_values), c->shards, plural(c->shards),
           c->role == GN_SWITCHD_PS ? "at most " : "", gn_human_bytes(gn_switchd_memory(c)).s,
           c->parent ? ", parent "
           : c->ps   ? ", parameter server "
                     : "",
           c->parent ? c->parent
           : c->ps   ? c->ps
                     : "",
           c->engine->limits ? ", engine " : "", c->engine->limits ? c->engine->name : "",
           gn_switchd_has_secret(daemon) ? ", with a shared secret" : "");
}

/// @return exit status
static int run(const gn_switch_options *options, const gn_settings *settings)
{
    gn_switchd *daemon = NULL;
    gn_error error = {0};
    const gn_status closed = gn_switchd_open(&daemon, &options->config, &error);
    if (closed) {
        gn_log(GN_SEVERITY_ERROR, "%s", error.text);
        return closed == GN_INVALID ? GN_EXIT_USAGE : GN_EXIT_FAILED;
    }
    gn_settings_check_access(settings);
    introduce(options, daemon);
    const gn_status failed = gn_switchd_run(daemon, &error);
    if (failed) gn_log(GN_SEVERITY_ERROR, "%s", error.text);
    gn_switchd_close(daemon);
    return failed ? GN_EXIT_FAILED : GN_EXIT_OK;
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
    gn_settings settings;
    gn_switch_options_parse(&options, &settings, argc, argv);
    gn_log_set(argv[0], &options.log);
    options.config.log = note;
    if (settings.path) options.config.reload = reload;
    options.config.reload_context = &settings;
    const int status = run(&options, &settings);
    gn_settings_free(&settings);
    return status;
}
