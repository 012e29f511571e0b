// SPDX-License-Identifier: Apache-2.0
// Reads the Accept header (RFC 9110, 12.5.1): a list of media ranges, each with a weight `q`.
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "host/metrics.h"

enum { ALL = 1000 };  ///< the weight 1

/// "0.75" is 750. Anything else than digits ends it.
static int weight(const char *at, const char *end)
{
    int value = 0, unit = ALL;
    bool point = false;
    for (; at < end && unit > 0; at++) {
        if (*at == '.' && !point) {
            point = true;
            unit /= 10;
        } else if (*at >= '0' && *at <= '9') {
            value += (*at - '0') * unit;
            if (point) unit /= 10;
            if (!point && value > ALL) return ALL;
        } else {
            break;
        }
    }
    return value > ALL ? ALL : value;
}

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t')) at++;
    return at;
}

static bool is(const char *at, const char *end, const char *name)
{
    const size_t length = strlen(name);
    return (size_t)(end - at) == length && !strncasecmp(at, name, length);
}

/// One media range: its weight, if it is `type`.
static int range(const char *at, const char *end, const char *type)
{
    const char *stop = memchr(at, ';', (size_t)(end - at));
    const char *name_end = stop ? stop : end;
    at = skip_blanks(at, end);
    while (name_end > at && (name_end[-1] == ' ' || name_end[-1] == '\t')) name_end--;
    if (!is(at, name_end, type)) return 0;
    while (stop) {
        const char *parameter = skip_blanks(stop + 1, end);
        if (end - parameter >= 2 && (*parameter == 'q' || *parameter == 'Q') && parameter[1] == '=')
            return weight(parameter + 2, end);
        stop = memchr(parameter, ';', (size_t)(end - parameter));
    }
    return ALL;
}

/// The highest weight of `type` in the list.
static int weight_of(const char *accept, const char *type)
{
    int best = 0;
    const char *const end = accept + strlen(accept);
    for (const char *at = accept; at < end;) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        const int found = range(at, comma ? comma : end, type);
        if (found > best) best = found;
        at = comma ? comma + 1 : end;
    }
    return best;
}

gn_metrics_format gn_metrics_accepted(const char *accept)
{
    const int open = accept ? weight_of(accept, "application/openmetrics-text") : 0;
    return open && open >= weight_of(accept, "text/plain") ? GN_METRICS_OPENMETRICS : GN_METRICS_PROMETHEUS;
}
