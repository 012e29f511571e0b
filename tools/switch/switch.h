// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_SWITCH_SWITCH_H
#define GRADNIC_TOOLS_SWITCH_SWITCH_H
/// `gradnic switch`, and the commands that ask a running switch.

#include <stdbool.h>

#include "host/control_socket.h"
#include "switch/daemon/switchd.h"
#include "tools/kit/log_options.h"
#include "tools/kit/settings.h"

/// The default control socket.
#define GN_SWITCH_CONTROL GN_CONTROL_FOLDER "/switch.sock"

typedef struct gn_switch_options {
    gn_switchd_config config;
    gn_log_settings log;
    bool has_slots;                   ///< --slots was given
    bool starting;                    ///< files that are read once, at the start, are looked at
    unsigned reorder, reorder_delay;  ///< directions that these were given for: 1 in, 2 out
} gn_switch_options;

/// Reads the command line and its file; ends the program on wrong usage.
void gn_switch_options_parse(gn_switch_options *options, gn_settings *settings, int argc, char **argv);

/// Reads them again (gn_settings_reread()).
gn_status gn_switch_options_reread(gn_switch_options *options, gn_settings *settings);

int gn_command_switch_status(int argc, char **argv);
int gn_command_switch_jobs(int argc, char **argv);
int gn_command_switch_stats(int argc, char **argv);
int gn_command_switch_end(int argc, char **argv);

#endif
