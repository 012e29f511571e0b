// SPDX-License-Identifier: Apache-2.0
// Any bytes at the port where a switch admits workers, and at a worker that waits there. A frame
// that is accepted is written back as it was. For any other, something is said to be wrong.
#include <stdlib.h>
#include <string.h>

#include <gradnic/admission.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gn_admission frame;
    uint8_t again[GN_ADMISSION_MAX];
    const char *wrong;
    char text[GN_ADMISSION_FAULT];
    for (size_t at = 0; at < size;) {
        const int length = gn_admission_parse(data + at, size - at, &frame, &wrong);
        if ((length < 0) != (wrong != NULL)) abort();
        if ((length < 0) != (*gn_admission_fault(data + at, size - at, text) != 0)) abort();
        if (length <= 0) break;
        if (gn_admission_write(&frame, again) != (size_t)length || memcmp(again, data + at, (size_t)length)) abort();
        at += (size_t)length;
    }
    return 0;
}
