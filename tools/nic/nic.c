// SPDX-License-Identifier: Apache-2.0
// gradnic nic: runs the NIC. client.c asks a running one.
#include "nic.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "driver/request.h"
#include "driver/rules.h"
#include "host/ending.h"
#include "host/log.h"
#include "options.h"
#include "tools/commands.h"
#include "tools/kit/output.h"

/// Other programs may mark their packets, too. Their bytes would be changed.
static void warn_of_ports(const gn_rule *rule, bool guard)
{
    if (rule->port_low || rule->port_high != UINT16_MAX) return;
    gn_log(GN_SEVERITY_INFO,
           "that rule takes every port: whatever is marked with ToS 0x%02x%s %s is compressed with loss; "
           "tos=... and port=... in --rule choose others",
           rule->tos, rule->tos == 0x28 ? " (DSCP AF11)" : "", guard ? "and looks like gradients" : "(--guard off)");
}

static void introduce_rules(const gn_nic_config *config)
{
    char rule[GN_RULE_TEXT];
    for (size_t i = 0; i < config->rule_count; i++) {
        gn_log(GN_SEVERITY_INFO, "rule %s", gn_rule_format(&config->rules[i], rule));
        if (!config->bypass) warn_of_ports(&config->rules[i], config->guard);
    }
}

static void introduce(const gn_nic_config *config, const gn_nic *nic)
{
    gn_log(GN_SEVERITY_INFO, "%s is up: MTU %u, %zu peer(s), engine %s, cut %s", gn_nic_device(nic), gn_nic_mtu(nic),
           gn_peers_count(config->peers), config->engine->name, config->cut == GN_CUT_FILL ? "fill" : "mtu");
    introduce_rules(config);
}

static void conclude(const gn_nic *nic)
{
    gn_comparison c;
    if (gn_nic_comparison(nic, &c))
        gn_log(GN_SEVERITY_INFO, "%" PRIu64 " packets transmitted and %" PRIu64 " received, %" PRIu64 " differences",
               c.tx_packets, c.rx_packets, c.differences);
}

typedef struct reloading {
    gn_settings *settings;
    gn_nic_config *config;  ///< with the rules that have been introduced
} reloading;

static void introduce_new_rules(gn_nic_config *config, const gn_nic_config *now)
{
    char before[GN_RULE_TEXT], after[GN_RULE_TEXT];
    bool same = config->rule_count == now->rule_count;
    for (size_t i = 0; i < now->rule_count && same; i++)
        same = !strcmp(gn_rule_format(&config->rules[i], before), gn_rule_format(&now->rules[i], after));
    memcpy(config->rules, now->rules, sizeof config->rules);
    config->rule_count = now->rule_count;
    if (!same) introduce_rules(config);
}

/// SIGHUP.
static void reload(void *context, gn_nic *nic)
{
    const reloading *r = context;
    gn_settings *settings = r->settings;
    gn_nic_options options;
    gn_error error;
    if (gn_nic_options_reread(&options, settings)) {
        gn_settings_reject(settings, NULL);
    } else if (gn_nic_reconfigure(nic, &options.config, &error)) {
        gn_settings_reject(settings, error.text);
    } else {
        gn_log_set(settings->program, &options.log);
        gn_settings_accept(settings);
        introduce_new_rules(r->config, &options.config);
    }
}

/// The driver looks again when it opens them. Here nothing has been made yet. An empty file is one
/// that a NIC which did not start could not remove, because it had become another user.
static gn_status check_captures(const gn_nic_options *options, gn_error *error)
{
    const char *const captures[] = {options->config.pcap_host, options->config.pcap_wire};
    struct stat file;
    for (int i = 0; i < 2; i++)
        if (captures[i] && !stat(captures[i], &file) && file.st_size &&
            gn_output_check_exists(captures[i], options->force, error))
            return GN_IO;
    return GN_OK;
}

/// @return exit status
static int run(gn_nic_options *options, gn_settings *settings)
{
    gn_nic *nic = NULL;
    gn_error error = {0};
    gn_status wrong = check_captures(options, &error);
    if (!wrong) wrong = gn_nic_open(&nic, &options->config, &error);
    if (wrong && gn_ending_waits()) {
        gn_log(GN_SEVERITY_INFO, "ended while it started (%s)", error.text);
        return GN_EXIT_OK;
    }
    if (wrong) {
        gn_log(GN_SEVERITY_ERROR, "%s", error.text);
        return wrong == GN_INVALID ? GN_EXIT_USAGE : GN_EXIT_FAILED;
    }
    gn_settings_check_access(settings);
    introduce(&options->config, nic);
    const gn_status failed = gn_nic_run(nic, &error);
    if (failed) gn_log(GN_SEVERITY_ERROR, "%s", error.text);
    if (!failed) conclude(nic);
    gn_nic_close(nic);
    return failed ? GN_EXIT_FAILED : GN_EXIT_OK;
}

int gn_command_nic(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(int argc, char **argv);
    } clients[] = {{"status", gn_command_nic_status}, {"stats", gn_command_nic_stats}, {"set", gn_command_nic_set}};
    for (size_t i = 0; argc > 1 && i < sizeof clients / sizeof *clients; i++)
        if (!strcmp(argv[1], clients[i].name)) return clients[i].run(argc - 1, argv + 1);

    gn_nic_options options;
    gn_settings settings;
    gn_nic_options_parse(&options, &settings, argc, argv);
    gn_log_set(argv[0], &options.log);
    options.config.overwrite = options.force;
    if (settings.path) options.config.reload = reload;
    options.config.reload_context = &(reloading){&settings, &options.config};
    const int status = run(&options, &settings);
    gn_settings_free(&settings);
    return status;
}
