// SPDX-License-Identifier: Apache-2.0
#include "net/number.h"

#include <stdlib.h>
#include <string.h>

enum { DIGITS_MAX = 9 };

bool gn_number_parse(const char *text, unsigned most, unsigned *number)
{
    const size_t digits = strspn(text, "0123456789");  // strtoul() would take signs, spaces and "0x"
    if (!digits || digits > DIGITS_MAX || text[digits]) return false;
    const unsigned long value = strtoul(text, NULL, 10);
    if (value > most) return false;
    *number = (unsigned)value;
    return true;
}
