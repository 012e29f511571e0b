// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_COMMANDS_H
#define GRADNIC_TOOLS_COMMANDS_H
/// The subcommands; main.c has the table. Each takes its own argv, in which argv[0] is "gradnic
/// NAME", and returns an exit status.

#include "tools/kit/command.h"

int gn_command_bench(int argc, char **argv);
int gn_command_compress(int argc, char **argv);
int gn_command_decompress(int argc, char **argv);
int gn_command_demo(int argc, char **argv);
int gn_command_doctor(int argc, char **argv);
int gn_command_estimate(int argc, char **argv);
int gn_command_figures(int argc, char **argv);
int gn_command_nic(int argc, char **argv);
int gn_command_pcap(int argc, char **argv);
int gn_command_ratio(int argc, char **argv);
int gn_command_report(int argc, char **argv);
int gn_command_sim(int argc, char **argv);
int gn_command_switch(int argc, char **argv);
int gn_command_train(int argc, char **argv);

#endif
