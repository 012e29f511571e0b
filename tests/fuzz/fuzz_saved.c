// SPDX-License-Identifier: Apache-2.0
// Any bytes as a checkpoint of a training: read, or refused with a reason. What is read is written
// again as the same bytes.
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "tools/train/saved.h"

enum { PARAMETERS = 3 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    float values[3][PARAMETERS];
    const unsigned arrays = size > 68 ? data[64] : 2;
    gn_saved_task task = {
        .rank = 1, .size = 2, .parameters = PARAMETERS, .residual = arrays & 1, .scales = arrays > 3 ? 2 : 0};
    gn_saved_state state = {.weights = values[0], .velocity = values[1], .residual = task.residual ? values[2] : NULL};
    gn_error error = {0};
    for (unsigned i = 0; i < GN_SAVED_SETTINGS; i++)
        task.setting[i] = (gn_saved_setting){"setting", (gn_saved_kind)(i % GN_SAVED_KINDS), i};
    FILE *file = size ? fmemopen((void *)(uintptr_t)data, size, "rb") : NULL;
    if (!file) return 0;
    const gn_status wrong = gn_saved_read(file, &task, &state, &error);
    fclose(file);
    if (wrong && !*error.text) abort();
    if (wrong || data[48] != GN_SAVED_SETTINGS) return 0;  // an older version's is not written again
    char *copy = NULL;
    size_t length = 0;
    file = open_memstream(&copy, &length);
    if (!file) return 0;
    if (gn_saved_write(file, &task, &state, &error) || fclose(file) || length != size || memcmp(copy, data, size) != 0)
        abort();
    free(copy);
    return 0;
}
