// SPDX-License-Identifier: Apache-2.0
// Any bytes as a request to the switch's control socket: understood, or refused with a reason.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "switch/daemon/request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gn_switch_request request;
    gn_error error = {0};
    if (gn_switch_request_parse((const char *)data, size, &request, &error)) {
        if (!*error.text || strlen(error.text) >= sizeof error.text) abort();
        return 0;
    }
    if (request.metrics && request.command != GN_SWITCH_STATS) abort();
    if ((request.command == GN_SWITCH_END) != (*request.job != 0)) abort();
    if (strnlen(request.job, sizeof request.job) == sizeof request.job) abort();
    return 0;
}
