// SPDX-License-Identifier: Apache-2.0
// gradnic nic: runs the NIC. client.c asks a running one.
#include "nic.h"

#include <inttypes.h>
#include <string.h>

#include "driver/rules.h"
#include "options.h"
#include "tools/commands.h"
#include "tools/kit/cli.h"
#include "tools/kit/output.h"

/// Other programs may mark their packets, too. Their bytes would be changed.
static void warn_of_ports(const char *program, const gn_rule *rule, bool guard)
{
    if (rule->port_low || rule->port_high != UINT16_MAX) return;
    gn_cli_note(program,
                "that rule takes every port: whatever is marked with ToS 0x%02x%s %s is compressed with loss; "
                "tos=... and port=... in --rule choose others",
                rule->tos, rule->tos == 0x28 ? " (DSCP AF11)" : "",
                guard ? "and looks like gradients" : "(--guard off)");
}

static void introduce(const char *program, const gn_nic_options *options, const gn_nic *nic)
{
    char rule[GN_RULE_TEXT];
    const gn_nic_config *config = &options->config;
    gn_cli_note(program, "%s is up: MTU %u, %zu peer(s), engine %s, cut %s", gn_nic_device(nic), gn_nic_mtu(nic),
                gn_peers_count(config->peers), config->engine->name, config->cut == GN_CUT_FILL ? "fill" : "mtu");
    for (size_t i = 0; i < config->rule_count; i++) {
        gn_cli_note(program, "rule %s", gn_rule_format(&config->rules[i], rule));
        warn_of_ports(program, &config->rules[i], config->guard);
    }
}

static void conclude(const char *program, const gn_nic *nic)
{
    gn_comparison c;
    if (gn_nic_comparison(nic, &c))
        gn_cli_note(program, "%" PRIu64 " packets transmitted and %" PRIu64 " received, %" PRIu64 " differences",
                    c.tx_packets, c.rx_packets, c.differences);
}

/// The driver looks again when it opens them. Here nothing has been made yet.
static gn_status check_captures(const gn_nic_options *options, gn_error *error)
{
    const char *const captures[] = {options->config.pcap_host, options->config.pcap_wire};
    for (int i = 0; i < 2; i++)
        if (captures[i] && gn_output_check_exists(captures[i], options->result.force, error)) return GN_IO;
    return GN_OK;
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
    gn_nic *nic = NULL;
    gn_error error = {0};
    gn_nic_options_parse(&options, argc, argv);
    options.config.overwrite = options.result.force;
    gn_status wrong = check_captures(&options, &error);
    if (!wrong) wrong = gn_nic_open(&nic, &options.config, &error);
    if (wrong) {
        gn_cli_error(argv[0], "%s", error.text);
        return wrong == GN_INVALID ? GN_EXIT_USAGE : GN_EXIT_FAILED;
    }
    if (!options.result.quiet) introduce(argv[0], &options, nic);
    const gn_status failed = gn_nic_run(nic, &error);
    if (failed) gn_cli_error(argv[0], "%s", error.text);
    if (!failed && !options.result.quiet) conclude(argv[0], nic);
    gn_nic_close(nic);
    return failed ? GN_EXIT_FAILED : GN_EXIT_OK;
}
