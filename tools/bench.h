// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_BENCH_H
#define GRADNIC_TOOLS_BENCH_H
/// `gradnic bench ...`: a table of its own.
int gn_command_bench(int argc, char **argv);
#endif
