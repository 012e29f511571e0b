// SPDX-License-Identifier: Apache-2.0
// What the C side reads in payloads: the dissector has to say the same. Lines on stdin are `udp` or
// `tcp`, a space, and the payload in hexadecimal. Each gives a line of fields, with tabs between.

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <gradnic/aggregate.h>
#include <gradnic/shim.h>

static size_t read_hex(const char *text, uint8_t *out, size_t room)
{
    size_t count = 0;
    unsigned byte;
    for (; count < room && sscanf(text + 2 * count, "%2x", &byte) == 1; count++) out[count] = (uint8_t)byte;
    return count;
}

int main(void)
{
    static char line[140000];
    static uint8_t bytes[70000];
    while (fgets(line, sizeof line, stdin)) {
        const size_t count = read_hex(line + 4, bytes, sizeof bytes);
        gn_shim shim;
        gn_agg_packet p;
        if (count >= GN_SHIM_BYTES && gn_shim_read(bytes, &shim))
            printf("%u\t%u\t%d\t%u\t%u\t", shim.version, shim.kind, shim.bound_exp, shim.length, shim.head);
        else
            printf("\t\t\t\t\t");
        if (!strncmp(line, "udp ", 4) && gn_agg_parse(bytes, count, &p) == GN_AGG_FINE) {
            printf("%u\t0x%02x\t", p.type, p.flags);
            for (unsigned bit = 1; bit < GN_AGG_FLAGS; bit *= 2) printf("%d\t", (p.flags & bit) != 0);
            printf("%u\t%u\t%d\t%u\t%" PRIu32 "\t0x%016" PRIx64 "\t%u\t%u\t%u\t%d\t%d\t%u\n", p.job, p.gen, p.version,
                   p.slot, p.psn, p.bitmap, p.level, p.fanin, p.priority, p.exponent, p.next, p.values);
        } else {
            printf("\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\n");
        }
    }
    return 0;
}
