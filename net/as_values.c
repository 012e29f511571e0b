// SPDX-License-Identifier: Apache-2.0
#include "net/as_values.h"

void gn_as_values_write(const uint8_t *bytes, size_t count, uint8_t *values)
{
    for (size_t i = 0; i < count; i++, bytes += GN_AS_VALUES_IN, values += GN_AS_VALUES_OUT) {
        values[0] = bytes[0];
        values[1] = bytes[1];
        values[2] = (uint8_t)(bytes[2] | 0x80);  // lowest exponent bit
        values[3] = (uint8_t)((bytes[2] & 0x80) | 0x7F);
    }
}

bool gn_as_values_read(const uint8_t *values, size_t count, uint8_t *bytes)
{
    for (size_t i = 0; i < count; i++, bytes += GN_AS_VALUES_IN, values += GN_AS_VALUES_OUT) {
        if ((values[3] & 0x7F) != 0x7F || !(values[2] & 0x80)) return false;
        bytes[0] = values[0];
        bytes[1] = values[1];
        bytes[2] = (uint8_t)((values[2] & 0x7F) | (values[3] & 0x80));
    }
    return true;
}
