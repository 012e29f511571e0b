// SPDX-License-Identifier: Apache-2.0
// gradnic: one program, one table of subcommands, one file for each.
#include <stddef.h>

#include "bench.h"
#include "command.h"
#include "commands.h"
#include "nic.h"
#include "pcap_filter.h"

static const gn_command commands[] = {
    {"compress", gn_command_compress, "values to a .gn file"},
    {"decompress", gn_command_decompress, "a .gn file to values"},
    {"ratio", gn_command_ratio, "what compressing a dump would give, beside other compressors"},
    {"pcap", gn_command_pcap, "what the NIC does, over a capture"},
    {"nic", gn_command_nic, "the NIC in user space; nic status, nic stats, nic set"},
    {"report", gn_command_report, "write a demo's results as an HTML page"},
    {"train", gn_command_train, "train a network with data-parallel workers"},
    {"demo", gn_command_demo, "train over compressing NICs, and see what they gain"},
    {"bench", gn_command_bench, "benchmarks: codec, allreduce, nic"},
    {0},
};

int main(int argc, char **argv)
{
    static char program[] = "gradnic";
    if (argc) argv[0] = program;
    return gn_command_dispatch(commands, "Gradient compression and exchange over compressing NICs.", argc, argv);
}
