// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_NIC_OPTIONS_H
#define GRADNIC_TOOLS_NIC_OPTIONS_H
/// Options of `gradnic nic`.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "driver/nic.h"
#include "net/error.h"
#include "tools/kit/log_options.h"
#include "tools/kit/settings.h"

typedef struct gn_nic_options {
    gn_nic_config config;
    const char *control;     ///< path of the socket; NULL: the device's default, or none
    bool no_control;         ///< there is to be none
    char control_path[108];  ///< the device's default
    bool force;              ///< captures replace files
    char captures[2][4096];  ///< names with their times: host, wire
    gn_log_settings log;
} gn_nic_options;

/// Reads the command line and its file; ends the program on wrong usage. `options->config.peers` is
/// to be handed to gn_nic_open(). The configuration points into `options`, which stay where they
/// are.
void gn_nic_options_parse(gn_nic_options *options, gn_settings *settings, int argc, char **argv);

/// Reads them again (gn_settings_reread()). Only what a reload changes is good for more than to be
/// looked at: the peers are gone.
gn_status gn_nic_options_reread(gn_nic_options *options, gn_settings *settings);

/// The speed of a link: a rate of at least 1kbit, or 0 or "unlimited".
gn_status gn_nic_rate_parse(const char *text, uint64_t *rate, gn_error *error);

/// The default control socket of the NIC with this device: /run/gradnic/DEVICE.sock.
void gn_nic_control_default(const char *device, char *path, size_t room);

#endif
