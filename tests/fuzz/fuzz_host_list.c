// SPDX-License-Identifier: Apache-2.0
// Any text as Slurm's list of hosts: refused, or a first host that is a list of itself alone.
#include <string.h>

#include "fuzz.h"
#include "net/host_list.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char host[GN_HOST_TEXT], again[GN_HOST_TEXT];
    char *text = exact(size + 1);
    bool only, alone;
    memcpy(text, data, size);
    text[size] = 0;
    const bool good = gn_host_list_first(text, host, &only);
    const bool has_more = strchr(text, ',') != NULL;
    free(text);
    if (!good) return 0;
    check(*host && strlen(host) < sizeof host);
    check(gn_host_list_first(host, again, &alone) && alone && !strcmp(host, again));
    check(!has_more || !only);
    return 0;
}
