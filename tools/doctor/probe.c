// SPDX-License-Identifier: Apache-2.0
#include "probe.h"

#include <endian.h>
#include <string.h>

enum { VERSION = 1 };

typedef struct head {
    char magic[4];
    uint8_t version, type, tos, tos_seen;
    uint64_t run;
    uint32_t number, bytes, answer_bytes, zero;
} head;

_Static_assert(sizeof(head) == GN_PROBE_HEAD, "as the table says");

static const char magic[4] = {'G', 'N', 'd', 'r'};

void gn_probe_write(const gn_probe *probe, uint8_t *out)
{
    head h = {.version = VERSION,
              .type = probe->type,
              .tos = probe->tos,
              .tos_seen = probe->tos_seen,
              .run = htobe64(probe->run),
              .number = htobe32(probe->number),
              .bytes = htobe32(probe->bytes),
              .answer_bytes = htobe32(probe->answer_bytes)};
    memcpy(h.magic, magic, sizeof magic);
    memcpy(out, &h, sizeof h);
    memset(out + sizeof h, 0, probe->bytes - sizeof h);
}

bool gn_probe_read(const uint8_t *data, size_t bytes, gn_probe *probe)
{
    head h;
    if (bytes < sizeof h || bytes > GN_PROBE_MAX) return false;
    memcpy(&h, data, sizeof h);
    *probe = (gn_probe){.type = h.type,
                        .tos = h.tos,
                        .tos_seen = h.tos_seen,
                        .run = be64toh(h.run),
                        .number = be32toh(h.number),
                        .bytes = be32toh(h.bytes),
                        .answer_bytes = be32toh(h.answer_bytes)};
    return !memcmp(h.magic, magic, sizeof magic) && h.version == VERSION && probe->bytes == bytes && !h.zero &&
           probe->answer_bytes >= sizeof h && probe->answer_bytes <= bytes &&
           (h.type == GN_PROBE_ANSWER || (h.type == GN_PROBE_QUESTION && !h.tos_seen));
}

bool gn_probe_answer(const uint8_t *data, size_t bytes, uint8_t tos, gn_probe *answer)
{
    if (!gn_probe_read(data, bytes, answer) || answer->type != GN_PROBE_QUESTION) return false;
    answer->type = GN_PROBE_ANSWER;
    answer->tos_seen = tos;
    answer->bytes = answer->answer_bytes;
    return true;
}
