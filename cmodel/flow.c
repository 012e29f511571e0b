// SPDX-License-Identifier: Apache-2.0
// A chained hash table over a fixed array of entries, with LRU lists through the same array: one,
// or one for each set of a table that is divided as hardware does it.
// Random bytes are the key of the hash (SipHash-1-3, Aumasson and Bernstein 2012). So nobody can
// choose ports or addresses that all land in one chain. The key decides only where an entry lies,
// never what is found. Sets are another matter: a flow's set decides which flow gives way to it.
#include "flow.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "addresses.h"
#include "little_endian.h"

enum {
    NONE = 0,  // entry 0 is the head of an LRU list, never a flow
    ROW = 10   // words of a row of the hash that chooses sets
};

typedef struct flow_key {
    uint8_t addresses[32];  // source, destination; IPv4 in bytes 4 to 11, as rtl/nic/gn_tcp_flows.v
    uint8_t ports[4];
    uint32_t version;  // keeps IPv4 and IPv6 apart
} flow_key;

typedef struct flow {
    flow_key key;
    uint32_t isn;
    uint32_t chain;         // next in the bucket (or in the free list)
    uint32_t newer, older;  // LRU list
} flow;

struct gn_flow_table {
    flow *flows;         // the heads of the LRU lists, then the flows
    uint32_t *in_set;    // of each set: flows
    uint32_t ways;       // the most flows of a set
    unsigned sets_log2;  // 0: one set
    uint32_t (*rows)[ROW];
    uint32_t *buckets;
    uint32_t mask;
    uint32_t free;
    size_t count;
    uint64_t secret[2];
};

static uint64_t rotate(uint64_t x, int by)
{
    return x << by | x >> (64 - by);
}

static void sip_round(uint64_t v[4])
{
    v[0] += v[1];
    v[1] = rotate(v[1], 13) ^ v[0];
    v[0] = rotate(v[0], 32);
    v[2] += v[3];
    v[3] = rotate(v[3], 16) ^ v[2];
    v[0] += v[3];
    v[3] = rotate(v[3], 21) ^ v[0];
    v[2] += v[1];
    v[1] = rotate(v[1], 17) ^ v[2];
    v[2] = rotate(v[2], 32);
}

static uint32_t *bucket_of(gn_flow_table *table, const flow_key *key)
{
    uint64_t v[4] = {table->secret[0] ^ 0x736f6d6570736575, table->secret[1] ^ 0x646f72616e646f6d,
                     table->secret[0] ^ 0x6c7967656e657261, table->secret[1] ^ 0x7465646279746573};
    for (size_t i = 0; i < sizeof *key; i += 8) {
        uint64_t word;
        memcpy(&word, (const uint8_t *)key + i, 8);
        v[3] ^= word;
        sip_round(v);
        v[0] ^= word;
    }
    v[2] ^= 0xff;
    for (int i = 0; i < 3; i++) sip_round(v);
    return &table->buckets[(v[0] ^ v[1] ^ v[2] ^ v[3]) & table->mask];
}

// The rows of the matrix that makes a set's number of a key, as rtl/nic/gn_tcp_flows.v has them.
static void make_row(uint32_t row[ROW], uint32_t seed, uint32_t i)
{
    uint32_t x = (seed + i * 0x9e3779b9u) | 1;
    for (int w = 0; w < ROW; w++) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        row[w] = x;
    }
}

// Each bit is the parity of some of the key's bits.
static uint32_t set_of(const gn_flow_table *table, const flow_key *key)
{
    uint32_t set = 0;
    for (unsigned i = 0; i < table->sets_log2; i++) {
        const uint32_t *row = table->rows[i];
        uint32_t bits = key->version == 6 ? row[9] & 1 : 0;
        for (int w = 0; w < 8; w++) bits ^= row[w] & gn_load32(key->addresses + 4 * w);
        bits ^= row[8] & gn_load32(key->ports);
        set |= (uint32_t)(__builtin_popcount(bits) & 1) << i;
    }
    return set;
}

static void make_key(flow_key *key, const uint8_t *packet, const gn_headers *h)
{
    memset(key, 0, sizeof *key);
    size_t bytes = h->version == 4 ? 4 : 16;
    const uint8_t *source = packet + (h->version == 4 ? GN_IPV4_SOURCE : GN_IPV6_SOURCE);
    memcpy(key->addresses + (h->version == 4 ? 4 : 0), source, 2 * bytes);
    memcpy(key->ports, packet + h->l4, 4);
    key->version = h->version;
}

static void unlink_lru(gn_flow_table *table, uint32_t i)
{
    flow *f = table->flows;
    f[f[i].newer].older = f[i].older;
    f[f[i].older].newer = f[i].newer;
}

static void make_newest(gn_flow_table *table, uint32_t set, uint32_t i)
{
    flow *f = table->flows;
    f[i].newer = set;
    f[i].older = f[set].older;  // the list's head: older = newest entry, newer = oldest entry
    f[f[i].older].newer = i;
    f[set].older = i;
}

// The link that points to the entry of `key`. It holds NONE when there is no such entry.
static uint32_t *find_link(gn_flow_table *table, const flow_key *key)
{
    uint32_t *link = bucket_of(table, key);
    while (*link != NONE && memcmp(&table->flows[*link].key, key, sizeof *key) != 0) link = &table->flows[*link].chain;
    return link;
}

static void release(gn_flow_table *table, uint32_t set, uint32_t *link)
{
    uint32_t i = *link;
    table->in_set[set]--;
    *link = table->flows[i].chain;
    unlink_lru(table, i);
    table->flows[i].chain = table->free;
    table->free = i;
    table->count--;
}

static gn_flow_table *new_table(size_t capacity, unsigned sets_log2, uint32_t seed)
{
    const uint32_t sets = 1u << sets_log2;
    size_t buckets = 1;
    while (buckets < capacity) buckets *= 2;
    gn_flow_table *table = calloc(1, sizeof *table);
    if (!table) return NULL;
    table->flows = calloc(sets + capacity, sizeof *table->flows);
    table->in_set = calloc(sets, sizeof *table->in_set);
    table->rows = calloc(sets_log2 + 1, sizeof *table->rows);
    table->buckets = calloc(buckets, sizeof *table->buckets);
    table->mask = (uint32_t)(buckets - 1);
    table->ways = (uint32_t)(capacity >> sets_log2);
    table->sets_log2 = sets_log2;
    if (!table->flows || !table->in_set || !table->rows || !table->buckets ||
        getentropy(table->secret, sizeof table->secret)) {
        gn_flow_free(table);
        return NULL;
    }
    for (unsigned i = 0; i < sets_log2; i++) make_row(table->rows[i], seed, i);
    for (uint32_t i = 0; i < sets; i++) table->flows[i].older = table->flows[i].newer = i;
    const uint32_t end = (uint32_t)(sets + capacity);
    for (uint32_t i = sets; i < end; i++) table->flows[i].chain = i + 1 < end ? i + 1 : NONE;
    table->free = sets;
    return table;
}

gn_flow_table *gn_flow_new(size_t capacity)
{
    return !capacity || capacity >= UINT32_MAX / 4 ? NULL : new_table(capacity, 0, 0);
}

gn_flow_table *gn_flow_new_sets(unsigned log2, uint32_t seed)
{
    if (log2 < GN_FLOW_LOG2_MIN || log2 > GN_FLOW_LOG2_MAX) return NULL;
    return new_table((size_t)1 << log2, log2 - GN_FLOW_WAYS_LOG2, seed);
}

void gn_flow_free(gn_flow_table *table)
{
    if (!table) return;
    free(table->flows);
    free(table->in_set);
    free(table->rows);
    free(table->buckets);
    free(table);
}

gn_flow_added gn_flow_add(gn_flow_table *table, const uint8_t *packet, const gn_headers *headers, uint32_t isn)
{
    flow_key key;
    make_key(&key, packet, headers);
    const uint32_t set = set_of(table, &key);
    uint32_t *link = find_link(table, &key);
    if (*link != NONE) {
        table->flows[*link].isn = isn;
        unlink_lru(table, *link);
        make_newest(table, set, *link);
        return GN_FLOW_AGAIN;
    }
    bool evict = table->in_set[set] == table->ways;
    if (evict) release(table, set, find_link(table, &table->flows[table->flows[set].newer].key));
    uint32_t i = table->free;
    flow *f = &table->flows[i];
    table->free = f->chain;
    f->key = key;
    f->isn = isn;
    uint32_t *bucket = bucket_of(table, &key);
    f->chain = *bucket;
    *bucket = i;
    make_newest(table, set, i);
    table->in_set[set]++;
    table->count++;
    return evict ? GN_FLOW_EVICTED : GN_FLOW_NEW;
}

bool gn_flow_find(gn_flow_table *table, const uint8_t *packet, const gn_headers *headers, uint32_t *isn)
{
    flow_key key;
    make_key(&key, packet, headers);
    uint32_t i = *find_link(table, &key);
    if (i == NONE) return false;
    unlink_lru(table, i);
    make_newest(table, set_of(table, &key), i);
    *isn = table->flows[i].isn;
    return true;
}

bool gn_flow_remove(gn_flow_table *table, const uint8_t *packet, const gn_headers *headers)
{
    flow_key key;
    make_key(&key, packet, headers);
    uint32_t *link = find_link(table, &key);
    if (*link == NONE) return false;
    release(table, set_of(table, &key), link);
    return true;
}

size_t gn_flow_count(const gn_flow_table *table)
{
    return table->count;
}
