// SPDX-License-Identifier: Apache-2.0
// Any bytes as the Accept header of a request for metrics: one of the two formats, and OpenMetrics
// only for who names it.
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "fuzz.h"
#include "host/metrics.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);  // exactly as long, so that a sanitizer sees every byte too far
    if (!text) return 0;
    memcpy(text, data, size);
    text[size] = 0;
    const gn_metrics_format format = gn_metrics_accepted(text);
    if (format != GN_METRICS_PROMETHEUS && format != GN_METRICS_OPENMETRICS) abort();
    if (format == GN_METRICS_OPENMETRICS && !strcasestr(text, "application/openmetrics-text")) abort();
    free(text);
    return 0;
}
