// SPDX-License-Identifier: Apache-2.0
#include <gradnic/status.h>

const char *gn_status_string(gn_status status)
{
    static const char *const text[GN_STATUS_COUNT] = {
        [GN_OK] = "success",
        [GN_INVALID] = "invalid argument",
        [GN_NO_SPACE] = "destination too small",
        [GN_NO_MEMORY] = "out of memory",
        [GN_CORRUPT] = "corrupt data",
        [GN_TRUNCATED] = "truncated data",
        [GN_UNSUPPORTED] = "not supported",
        [GN_IO] = "input/output error",
        [GN_TIMEOUT] = "deadline passed",
        [GN_PEER_LOST] = "peer lost",
        [GN_MISMATCH] = "peers disagree",
        [GN_ABORTED] = "aborted",
        [GN_DEAD] = "communicator is dead after an earlier error",
    };
    if ((unsigned)status >= GN_STATUS_COUNT) return "unknown status";
    return text[status];
}
