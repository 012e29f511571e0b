// SPDX-License-Identifier: Apache-2.0
// gradnic bench: the table of benchmarks.
#include "bench.h"

#include "tools/commands.h"

static const gn_command benchmarks[] = {
    {"codec", gn_command_bench_codec, "compress and decompress values in memory"},
    {"allreduce", gn_command_bench_allreduce, "allreduce over all ranks, in the form of nccl-tests"},
    {"switch", gn_command_bench_switch, "the switch's core alone: values added per second"},
    {"nic", gn_command_bench_nic, "a flow of gradients, or round trips, from host to host"},
    {0},
};

int gn_command_bench(int argc, char **argv)
{
    return gn_command_dispatch(benchmarks, "Benchmarks. Each one checks its results.", argc, argv);
}
