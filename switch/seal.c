// SPDX-License-Identifier: Apache-2.0
// The keyed check of a datagram, which stands where otherwise the header's CRC stands.
//
// Everything behind the seal works with the CRC, as without a key: the switch, the worker, the
// parameter server. So a datagram gets its seal as it leaves, and loses it as it comes in.
#include <sodium.h>

#include "packet.h"

_Static_assert((int)GN_AGG_KEY == (int)crypto_shorthash_KEYBYTES, "SipHash-2-4 has such keys");

/// The header in a datagram; NULL: there is none.
static uint8_t *header_of(uint8_t *datagram, size_t bytes)
{
    const size_t ahead = bytes >= 2 && gn_get16(datagram) == GN_SHIM_MAGIC ? GN_SHIM_BYTES : 0;
    return bytes < ahead + GN_AGG_HEADER ? NULL : datagram + ahead;
}

/// SipHash-2-4 of the bytes before the CRC, cut to 32 bits.
static uint32_t keyed_check(const uint8_t key[GN_AGG_KEY], const uint8_t *header)
{
    uint8_t hash[crypto_shorthash_BYTES];
    (void)crypto_shorthash(hash, header, AT_CRC, key);
    return gn_get32(hash);
}

void gn_agg_seal(const uint8_t key[GN_AGG_KEY], void *datagram, size_t bytes)
{
    uint8_t *header = header_of(datagram, bytes);
    if (header) gn_put32(header + AT_CRC, keyed_check(key, header));
}

bool gn_agg_unseal(const uint8_t key[GN_AGG_KEY], void *datagram, size_t bytes)
{
    uint8_t *header = header_of(datagram, bytes);
    if (!header || gn_get32(header + AT_CRC) != keyed_check(key, header)) return false;
    gn_put32(header + AT_CRC, gn_agg_check(header));
    return true;
}
