// SPDX-License-Identifier: Apache-2.0
#include "service_options.h"

#include "host/metrics.h"
#include "option_values.h"

bool gn_service_option_parse(int key, const char *arg, const struct argp_state *state, const char **user,
                             gn_endpoint *metrics)
{
    gn_error error;
    switch (key) {
    case 'u':
        *user = gn_option_user(state, key, arg);
        return true;
    case GN_OPTION_METRICS:
        gn_option_check(state, key, gn_metrics_parse(arg, metrics, &error), &error);
        return true;
    default:
        return false;
    }
}
