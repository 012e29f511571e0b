// SPDX-License-Identifier: Apache-2.0
#include "bench.h"

#include "allreduce/allreduce.h"
#include "command.h"

static const gn_command benchmarks[] = {
    {"allreduce", gn_command_bench_allreduce, "the exchange, as nccl-tests show it"},
    {0},
};

int gn_command_bench(int argc, char **argv)
{
    return gn_command_dispatch(benchmarks, "Measures; every benchmark checks its results.", argc, argv);
}
