// SPDX-License-Identifier: Apache-2.0
// The table of rivals. Each library has four methods.
#include "rivals.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "tools/kit/units.h"

#ifdef GRADNIC_HAVE_ZSTD
#include <zstd.h>
#endif
#ifdef GRADNIC_HAVE_LZ4
#include <lz4.h>
#endif
#ifdef GRADNIC_HAVE_SNAPPY
#include <snappy-c.h>
#endif
#ifdef GRADNIC_HAVE_ZFP
#include <zfp.h>
#endif

struct gn_rival_context {
    const gn_rival *rival;
    int level;
    int bound_exp;
    void *compressor, *decompressor;  // the library's own, kept between calls
};

/// The methods of a rival. `bytes` is the size of the values.
typedef struct gn_rival_methods {
    bool (*open)(gn_rival_context *context);
    void (*close)(gn_rival_context *context);
    size_t (*bound)(const gn_rival_context *context, size_t bytes);
    size_t (*compress)(gn_rival_context *context, const float *values, size_t bytes, void *packed, size_t capacity);
    bool (*decompress)(gn_rival_context *context, const void *packed, size_t packed_bytes, float *values, size_t bytes);
} gn_rival_methods;

static bool fits_int(size_t bytes)
{
    return bytes <= 0x7e000000;  // LZ4_MAX_INPUT_SIZE; zlib's unsigned is larger
}

// zlib

static bool zlib_open(gn_rival_context *context)
{
    z_stream *c = context->compressor = calloc(1, sizeof *c), *d = context->decompressor = calloc(1, sizeof *d);
    return c && d && deflateInit(c, context->level) == Z_OK && inflateInit(d) == Z_OK;
}

static void zlib_close(gn_rival_context *context)
{
    if (context->compressor) deflateEnd(context->compressor);
    if (context->decompressor) inflateEnd(context->decompressor);
    free(context->compressor);
    free(context->decompressor);
}

static size_t zlib_bound(const gn_rival_context *context, size_t bytes)
{
    return deflateBound(context->compressor, bytes);
}

static size_t zlib_compress(gn_rival_context *context, const float *values, size_t bytes, void *packed, size_t capacity)
{
    z_stream *z = context->compressor;
    if (!fits_int(bytes) || !fits_int(capacity) || deflateReset(z) != Z_OK) return 0;
    z->next_in = (z_const Bytef *)(uintptr_t)values;
    z->avail_in = (uInt)bytes;
    z->next_out = packed;
    z->avail_out = (uInt)capacity;
    return deflate(z, Z_FINISH) == Z_STREAM_END ? (size_t)z->total_out : 0;
}

static bool zlib_decompress(gn_rival_context *context, const void *packed, size_t packed_bytes, float *values,
                            size_t bytes)
{
    z_stream *z = context->decompressor;
    if (!fits_int(bytes) || !fits_int(packed_bytes) || inflateReset(z) != Z_OK) return false;
    z->next_in = (z_const Bytef *)(uintptr_t)packed;
    z->avail_in = (uInt)packed_bytes;
    z->next_out = (Bytef *)values;
    z->avail_out = (uInt)bytes;
    return inflate(z, Z_FINISH) == Z_STREAM_END && z->total_out == bytes;
}

static const gn_rival_methods zlib_methods = {zlib_open, zlib_close, zlib_bound, zlib_compress, zlib_decompress};

#ifdef GRADNIC_HAVE_ZSTD
static bool zstd_open(gn_rival_context *context)
{
    context->compressor = ZSTD_createCCtx();
    context->decompressor = ZSTD_createDCtx();
    return context->compressor && context->decompressor;
}

static void zstd_close(gn_rival_context *context)
{
    ZSTD_freeCCtx(context->compressor);
    ZSTD_freeDCtx(context->decompressor);
}

static size_t zstd_bound(const gn_rival_context *context, size_t bytes)
{
    (void)context;
    return ZSTD_compressBound(bytes);
}

static size_t zstd_compress(gn_rival_context *context, const float *values, size_t bytes, void *packed, size_t capacity)
{
    const size_t n = ZSTD_compressCCtx(context->compressor, packed, capacity, values, bytes, context->level);
    return ZSTD_isError(n) ? 0 : n;
}

static bool zstd_decompress(gn_rival_context *context, const void *packed, size_t packed_bytes, float *values,
                            size_t bytes)
{
    return ZSTD_decompressDCtx(context->decompressor, values, bytes, packed, packed_bytes) == bytes;
}

static const gn_rival_methods zstd_methods = {zstd_open, zstd_close, zstd_bound, zstd_compress, zstd_decompress};
#endif

#ifdef GRADNIC_HAVE_LZ4
static bool lz4_open(gn_rival_context *context)
{
    context->compressor = malloc((size_t)LZ4_sizeofState());
    return context->compressor != NULL;
}

static void lz4_close(gn_rival_context *context)
{
    free(context->compressor);
}

static size_t lz4_bound(const gn_rival_context *context, size_t bytes)
{
    (void)context;
    return fits_int(bytes) ? (size_t)LZ4_compressBound((int)bytes) : 0;
}

static size_t lz4_compress(gn_rival_context *context, const float *values, size_t bytes, void *packed, size_t capacity)
{
    if (!fits_int(bytes)) return 0;
    const int room = fits_int(capacity) ? (int)capacity : 0x7e000000;
    const int n = LZ4_compress_fast_extState(context->compressor, (const char *)values, packed, (int)bytes, room, 1);
    return n > 0 ? (size_t)n : 0;
}

static bool lz4_decompress(gn_rival_context *context, const void *packed, size_t packed_bytes, float *values,
                           size_t bytes)
{
    (void)context;
    if (!fits_int(bytes) || packed_bytes > 0x7fffffff) return false;
    return LZ4_decompress_safe(packed, (char *)values, (int)packed_bytes, (int)bytes) == (int)bytes;
}

static const gn_rival_methods lz4_methods = {lz4_open, lz4_close, lz4_bound, lz4_compress, lz4_decompress};
#endif

#ifdef GRADNIC_HAVE_SNAPPY
static bool snappy_open(gn_rival_context *context)
{
    (void)context;  // snappy's C interface keeps nothing between calls
    return true;
}

static void snappy_close(gn_rival_context *context)
{
    (void)context;
}

static size_t snappy_bound(const gn_rival_context *context, size_t bytes)
{
    (void)context;
    return snappy_max_compressed_length(bytes);
}

static size_t snappy_pack(gn_rival_context *context, const float *values, size_t bytes, void *packed, size_t capacity)
{
    (void)context;
    size_t n = capacity;
    return bytes <= UINT32_MAX && snappy_compress((const char *)values, bytes, packed, &n) == SNAPPY_OK ? n : 0;
}

static bool snappy_unpack(gn_rival_context *context, const void *packed, size_t packed_bytes, float *values,
                          size_t bytes)
{
    (void)context;
    size_t n = bytes;
    return snappy_uncompress(packed, packed_bytes, (char *)values, &n) == SNAPPY_OK && n == bytes;
}

static const gn_rival_methods snappy_methods = {snappy_open, snappy_close, snappy_bound, snappy_pack, snappy_unpack};
#endif

#ifdef GRADNIC_HAVE_ZFP
static bool zfp_rival_open(gn_rival_context *context)
{
    zfp_stream *zfp = context->compressor = zfp_stream_open(NULL);
    if (!zfp) return false;
    zfp_stream_set_accuracy(zfp, ldexp(1, -context->bound_exp));
    return true;
}

static void zfp_rival_close(gn_rival_context *context)
{
    if (context->compressor) zfp_stream_close(context->compressor);
}

/// The parameters are the same for both directions. Only compressing writes to `packed`.
static size_t zfp_run(gn_rival_context *context, const float *values, size_t bytes, void *packed, size_t capacity,
                      bool compress)
{
    zfp_stream *zfp = context->compressor;
    zfp_field *field = zfp_field_1d((void *)(uintptr_t)values, zfp_type_float, bytes / sizeof(float));
    bitstream *bits = stream_open(packed, capacity);
    size_t n = 0;
    if (field && bits) {
        zfp_stream_set_bit_stream(zfp, bits);
        zfp_stream_rewind(zfp);
        n = compress ? zfp_compress(zfp, field) : zfp_decompress(zfp, field);
    }
    if (bits) stream_close(bits);
    zfp_field_free(field);
    return n;
}

static size_t zfp_rival_bound(const gn_rival_context *context, size_t bytes)
{
    zfp_field *field = zfp_field_1d(NULL, zfp_type_float, bytes / sizeof(float));
    const size_t n = field ? zfp_stream_maximum_size(context->compressor, field) : 0;
    zfp_field_free(field);
    return n;
}

static size_t zfp_rival_compress(gn_rival_context *context, const float *values, size_t bytes, void *packed,
                                 size_t capacity)
{
    return zfp_run(context, values, bytes, packed, capacity, true);
}

static bool zfp_rival_decompress(gn_rival_context *context, const void *packed, size_t packed_bytes, float *values,
                                 size_t bytes)
{
    return zfp_run(context, values, bytes, (void *)(uintptr_t)packed, packed_bytes, false) != 0;
}

static const gn_rival_methods zfp_methods = {zfp_rival_open, zfp_rival_close, zfp_rival_bound, zfp_rival_compress,
                                             zfp_rival_decompress};
#endif

static const gn_rival rivals[] = {
#ifdef GRADNIC_HAVE_ZSTD
    {"zstd", true, true, 1, 1, 19, &zstd_methods},
#else
    {"zstd", false, true, 1, 1, 19, NULL},
#endif
#ifdef GRADNIC_HAVE_LZ4
    {"lz4", true, true, 0, 0, 0, &lz4_methods},
#else
    {"lz4", false, true, 0, 0, 0, NULL},
#endif
#ifdef GRADNIC_HAVE_SNAPPY
    {"snappy", true, true, 0, 0, 0, &snappy_methods},
#else
    {"snappy", false, true, 0, 0, 0, NULL},
#endif
    {"zlib", true, true, 6, 1, 9, &zlib_methods},
#ifdef GRADNIC_HAVE_ZFP
    {"zfp", true, false, 0, 0, 0, &zfp_methods},
#else
    {"zfp", false, false, 0, 0, 0, NULL},
#endif
};
enum { RIVALS = sizeof rivals / sizeof *rivals };

const gn_rival *gn_rival_at(unsigned index)
{
    return index < RIVALS ? &rivals[index] : NULL;
}

const char *gn_rivals_missing(void)
{
    static char names[64];
    names[0] = 0;
    for (unsigned i = 0; i < RIVALS; i++) {
        if (rivals[i].available) continue;
        const size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", rivals[i].name);
    }
    return names;
}

static gn_rival_choice choose(const gn_rival *rival, int level)
{
    gn_rival_choice choice = {.rival = rival, .level = level};
    if (rival->level_high)
        snprintf(choice.name, sizeof choice.name, "%.8s:%d", rival->name, level);
    else
        snprintf(choice.name, sizeof choice.name, "%s", rival->name);
    return choice;
}

static gn_status parse_rival(char *item, gn_rival_choice *choice, gn_error *error)
{
    char *colon = strchr(item, ':');
    if (colon) *colon = 0;
    unsigned i = 0;
    while (i < RIVALS && strcmp(rivals[i].name, item) != 0) i++;
    if (i == RIVALS)
        return gn_fail(error, GN_INVALID, "'%s' is not a compressor; there are zstd, lz4, snappy, zlib, zfp, all, none",
                       item);
    if (!rivals[i].available) return gn_fail(error, GN_INVALID, "%s was not found when gradnic was built", item);
    uint64_t level = (uint64_t)rivals[i].level;
    if (colon && !rivals[i].level_high) return gn_fail(error, GN_INVALID, "%s has no levels", item);
    if (colon) {
        gn_status wrong =
            gn_parse_number(colon + 1, (uint64_t)rivals[i].level_low, (uint64_t)rivals[i].level_high, &level, error);
        if (wrong) return gn_fail(error, GN_INVALID, "level of %s: %s", item, error->text);
    }
    *choice = choose(&rivals[i], (int)level);
    return GN_OK;
}

gn_status gn_parse_rivals(const char *text, gn_rival_choice choices[GN_RIVALS_MAX], size_t *count, gn_error *error)
{
    size_t n = 0;
    if (!strcmp(text, "all")) {
        for (unsigned i = 0; i < RIVALS; i++)
            if (rivals[i].available) choices[n++] = choose(&rivals[i], rivals[i].level);
    } else if (strcmp(text, "none") != 0) {
        for (const char *at = text;; at++) {
            char item[32];
            at = gn_list_item(at, item, sizeof item);
            if (n == GN_RIVALS_MAX) return gn_fail(error, GN_INVALID, "too many compressors");
            gn_status wrong = parse_rival(item, &choices[n++], error);
            if (wrong) return wrong;
            if (!*at) break;
        }
    }
    *count = n;
    return GN_OK;
}

gn_rival_context *gn_rival_context_new(const gn_rival_choice *choice, int bound_exp)
{
    if (!choice->rival->available) return NULL;
    gn_rival_context *context = calloc(1, sizeof *context);
    if (!context) return NULL;
    context->rival = choice->rival;
    context->level = choice->level;
    context->bound_exp = bound_exp;
    if (choice->rival->methods->open(context)) return context;
    gn_rival_context_free(context);
    return NULL;
}

void gn_rival_context_free(gn_rival_context *context)
{
    if (!context) return;
    context->rival->methods->close(context);
    free(context);
}

size_t gn_rival_bound(const gn_rival_context *context, size_t count)
{
    return context->rival->methods->bound(context, count * sizeof(float));
}

size_t gn_rival_compress(gn_rival_context *context, const float *values, size_t count, void *packed, size_t capacity)
{
    return context->rival->methods->compress(context, values, count * sizeof *values, packed, capacity);
}

bool gn_rival_decompress(gn_rival_context *context, const void *packed, size_t bytes, float *values, size_t count)
{
    return context->rival->methods->decompress(context, packed, bytes, values, count * sizeof *values);
}
