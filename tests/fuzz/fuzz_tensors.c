// SPDX-License-Identifier: Apache-2.0
// Any bytes as a file of tensors: .npz, .pt or .safetensors, by the first byte. Either there is a
// message, or every tensor has as many values as its shape says, one behind the other and on its
// own.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "fuzz.h"
#include "tools/files/values.h"

enum { LARGEST = 1 << 20 };  // values that are read; a small archive may hold many more

static gn_values *open_bytes(const uint8_t *data, size_t size, gn_format format, const char *tensor)
{
    gn_error error;
    gn_input *input;
    gn_values *values;
    FILE *stream = fmemopen((void *)(uintptr_t)data, size, "rb");
    const gn_values_choice choice = {.format = format, .tensor = tensor, .cast = true};
    if (!stream || gn_input_from_stream(&input, stream, "fuzz", &error)) abort();
    if (!gn_values_from_input(&values, input, &choice, &error)) return values;
    check(error.text[0] && error.status != GN_OK);
    return NULL;
}

/// Reads to the end or to a fault. @return whether it was good
static bool read_all(gn_values *values, uint64_t *count)
{
    gn_error error;
    *count = 0;
    for (;;) {
        float buffer[997];
        size_t got;
        if (gn_values_read(values, buffer, 997, &got, &error)) return false;
        *count += got;
        if (!got || *count > LARGEST) return true;
    }
}

static void read_each(const gn_tensor_list *list, const uint8_t *data, size_t size, gn_format format)
{
    for (size_t i = 0; i < list->count && i < 4; i++) {
        uint64_t count;
        char shape[64];
        gn_tensor_shape_text(&list->tensors[i], shape, sizeof shape);
        check(strlen(gn_cell(list->tensors[i].name).s) < GN_LABEL);
        if (!list->tensors[i].name || strpbrk(list->tensors[i].name, "*?[\\")) continue;
        gn_values *one = open_bytes(data, size, format, list->tensors[i].name);
        check(one && gn_values_count(one) == list->tensors[i].count);
        if (read_all(one, &count)) check(count == list->tensors[i].count || count > LARGEST);
        gn_values_close(one);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const gn_format formats[] = {GN_FORMAT_NPZ, GN_FORMAT_PT, GN_FORMAT_SAFETENSORS};
    if (size < 2) return 0;
    const gn_format format = formats[data[0] % 3];
    gn_values *values = open_bytes(data + 1, size - 1, format, NULL);
    if (!values) return 0;
    const gn_tensor_list *list = gn_values_tensors(values);
    uint64_t sum = 0, count;
    for (size_t i = 0; i < list->count; i++) {
        uint64_t product;
        check(list->tensors[i].is_float && list->tensors[i].shaped);
        check(gn_shape_count(list->tensors[i].shape, list->tensors[i].dimensions, &product));
        check(product == list->tensors[i].count);
        sum += product;
    }
    check(sum == gn_values_count(values));
    if (read_all(values, &count)) check(count == sum || count > LARGEST);
    read_each(list, data + 1, size - 1, format);
    gn_values_close(values);
    return 0;
}
