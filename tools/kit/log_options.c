// SPDX-License-Identifier: Apache-2.0
#include "log_options.h"

#include "cli.h"
#include "option_values.h"

gn_log_settings gn_log_options_default(void)
{
    return (gn_log_settings){.level = GN_SEVERITY_INFO, .colour = gn_cli_colour(stderr)};
}

bool gn_log_option_parse(int key, const char *arg, const struct argp_state *state, gn_log_settings *settings)
{
    switch (key) {
    case 'q':
        settings->level = GN_SEVERITY_WARN;
        return true;
    case 'v':
        if (settings->level < GN_SEVERITY_DEBUG) settings->level++;
        return true;
    case GN_OPTION_LOG_LEVEL:
        settings->level = (gn_severity)gn_option_word(state, key, arg, gn_severity_names, GN_SEVERITIES);
        return true;
    case GN_OPTION_LOG_TIME:
        settings->time = true;
        return true;
    case GN_OPTION_LOG:
        settings->json = gn_option_choice(state, key, arg, "text", "json");
        return true;
    default:
        return false;
    }
}
