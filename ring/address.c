// SPDX-License-Identifier: Apache-2.0
#include "ring/address.h"

#include <string.h>

gn_address gn_address_from(const gn_ip *ip)
{
    gn_address address = {.family = ip->version};
    memcpy(address.bytes, ip->bytes, gn_ip_bytes(ip));
    return address;
}

gn_endpoint gn_address_endpoint(const gn_address *from, uint16_t port, uint32_t scope)
{
    gn_endpoint endpoint = {.ip.version = from->family == 6 ? 6 : 4, .port = port};
    memcpy(endpoint.ip.bytes, from->bytes, gn_ip_bytes(&endpoint.ip));
    if (gn_ip_is_link_local(&endpoint.ip)) endpoint.scope = scope;
    return endpoint;
}

bool gn_address_same(const gn_address *a, const gn_address *b)
{
    return a->family == b->family && a->data_port == b->data_port && a->oob_port == b->oob_port &&
           !memcmp(a->bytes, b->bytes, sizeof a->bytes);
}

const char *gn_rank_name(const gn_rank_table *table, int rank, char name[GN_ENDPOINT_TEXT])
{
    const gn_endpoint endpoint = gn_address_endpoint(&table->address[rank], 0, 0);
    return gn_endpoint_format(&endpoint, name);
}
