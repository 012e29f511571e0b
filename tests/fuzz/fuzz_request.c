// SPDX-License-Identifier: Apache-2.0
// Any bytes as a request to the control socket: understood, or refused with a reason.
#include <stdlib.h>
#include <string.h>

#include "driver/request.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gn_nic_request request;
    gn_error error = {0};
    if (gn_nic_request_parse((const char *)data, size, &request, &error)) {
        if (!*error.text || strlen(error.text) >= sizeof error.text) abort();
        return 0;
    }
    const gn_change *change = &request.change;
    if (request.command == GN_NIC_REQUEST_SET && !change->given) abort();
    if (change->given & GN_CHANGE_RULES && (!change->rule_count || change->rule_count > GN_RULES_MAX)) abort();
    if (change->given & GN_CHANGE_LOSS && !(change->fault.loss >= 0 && change->fault.loss <= 1)) abort();
    const uint64_t most = GN_FAULT_SECONDS_MAX * UINT64_C(1000000000);
    if (change->fault.delay_ns > most || change->fault.jitter_ns > most || change->fault.reorder_ns > most) abort();
    return 0;
}
