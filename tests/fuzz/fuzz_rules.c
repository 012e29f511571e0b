// SPDX-License-Identifier: Apache-2.0
// Any text as a rule: an error with a text, or a rule that survives being written and read again.
#include <stdlib.h>
#include <string.h>

#include "driver/rules.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (!text) abort();
    memcpy(text, data, size);
    text[size] = 0;
    gn_rule defaults = gn_rule_default(), rule, again;
    gn_error error = {0};
    char first[GN_RULE_TEXT], second[GN_RULE_TEXT];
    const gn_status status = gn_rule_parse(text, &defaults, &rule, &error);
    free(text);
    if (status) {
        if (status != error.status || !*error.text || strlen(error.text) >= sizeof error.text) abort();
        return 0;
    }
    if (gn_rule_parse(gn_rule_format(&rule, first), &defaults, &again, &error)) abort();
    if (strcmp(first, gn_rule_format(&again, second))) abort();
    return 0;
}
