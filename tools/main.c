// SPDX-License-Identifier: Apache-2.0
// gradnic: one program, one table of subcommands, one file for each.
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "nic.h"
#include "pcap_filter.h"

static int run_version(int argc, char **argv)
{
    (void)argc, (void)argv;
    puts("gradnic " GRADNIC_VERSION);
    return GN_EXIT_OK;
}

static const gn_command commands[] = {
    {"pcap", gn_command_pcap, "what the NIC does, over a capture"},
    {"nic", gn_command_nic, "the NIC in user space; nic status, nic stats, nic set"},
    {"version", run_version, "print the version"},
    {0},
};

int main(int argc, char **argv)
{
    static char program[] = "gradnic";
    if (argc) argv[0] = program;
    if (argc == 2 && !strcmp(argv[1], "--version")) return run_version(argc, argv);
    return gn_command_dispatch(commands, "Gradient compression and exchange over compressing NICs.", argc, argv);
}
