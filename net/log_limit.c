// SPDX-License-Identifier: Apache-2.0
#include "net/log_limit.h"

#include "net/clock.h"

static const uint64_t span = GN_LOG_SPAN_S * GN_SECOND;

uint64_t gn_log_limit_rest(gn_log_limit *limit, uint64_t now)
{
    if (gn_elapsed(limit->since, now) < span) return 0;
    const uint64_t held = limit->held;
    *limit = (gn_log_limit){.since = now};
    return held;
}

bool gn_log_limit_take(gn_log_limit *limit, uint64_t now)
{
    if (!limit->lines && !limit->held) limit->since = now;
    const bool allowed = limit->lines < GN_LOG_LINES;
    if (allowed)
        limit->lines++;
    else
        limit->held++;
    return allowed;
}

uint64_t gn_log_limit_due(const gn_log_limit *limit)
{
    return limit->held ? limit->since + span : UINT64_MAX;
}
