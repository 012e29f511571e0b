// SPDX-License-Identifier: Apache-2.0
// Any datagram at the listener of gradnic doctor. The first byte is the ToS with which it comes.
// What is read is written as the same head, and an answer is never longer than its question.
#include <string.h>

#include "fuzz.h"
#include "tools/doctor/probe.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gn_probe probe, answer, again;
    if (!size) return 0;
    const size_t length = size - 1;
    uint8_t *bytes = exact(length);
    memcpy(bytes, data + 1, length);
    if (gn_probe_read(bytes, length, &probe)) {
        check(probe.bytes == length);
        uint8_t *out = exact(length);
        gn_probe_write(&probe, out);
        check(!memcmp(out, bytes, GN_PROBE_HEAD));
        free(out);
    }
    if (gn_probe_answer(bytes, length, *data, &answer)) {
        check(answer.bytes <= length && answer.bytes >= GN_PROBE_HEAD && answer.tos_seen == *data);
        uint8_t *out = exact(answer.bytes);
        gn_probe_write(&answer, out);
        check(gn_probe_read(out, answer.bytes, &again) && !gn_probe_answer(out, answer.bytes, 0, &again));
        free(out);
    }
    free(bytes);
    return 0;
}
