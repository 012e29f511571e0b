// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_BENCH_BENCH_H
#define GRADNIC_TOOLS_BENCH_BENCH_H
/// Benchmarks. bench.c has the table of `gradnic bench`, with a row for each.

int gn_command_bench_allreduce(int argc, char **argv);
int gn_command_bench_codec(int argc, char **argv);
int gn_command_bench_nic(int argc, char **argv);
int gn_command_bench_switch(int argc, char **argv);

#endif
