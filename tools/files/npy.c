// SPDX-License-Identifier: Apache-2.0
#include "npy.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "little.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "files hold little-endian values; swap them here for this machine");

static const uint64_t COUNT_MAX = UINT64_C(1) << 60;  // of a dimension

enum { PREFIX = 10 };  // bytes before the dictionary of version 1.0

// The header is a Python literal: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
typedef struct parser {
    const char *text;  // NUL-terminated
    size_t length;
    size_t at;
    size_t base;  // offset of text[0] in the file
    const char *name;
    bool any;         // a dtype that is not floating point is no fault
    bool structured;  // it was such a dtype; the rest of the header was not read
    gn_status wrong;  // the first fault's, as in `error`
    gn_error *error;
} parser;

static bool fail_as(parser *p, gn_status status, size_t at, const char *what)
{
    if (!p->wrong) p->wrong = gn_fail(p->error, status, "%s: byte %zu: %s", p->name, p->base + at, what);
    return false;
}

static bool fail(parser *p, size_t at, const char *what)
{
    return fail_as(p, GN_CORRUPT, at, what);
}

static void skip_space(parser *p)
{
    while (p->at < p->length && (p->text[p->at] == ' ' || p->text[p->at] == '\n' || p->text[p->at] == '\t')) p->at++;
}

static bool next_is(parser *p, char c)
{
    skip_space(p);
    if (p->at >= p->length || p->text[p->at] != c) return false;
    p->at++;
    return true;
}

static bool expect(parser *p, char c)
{
    if (next_is(p, c)) return true;
    char what[64];
    snprintf(what, sizeof what, "the header is malformed: '%c' expected", c);
    return fail(p, p->at, what);
}

/// Parses a string without escapes; `*start` and `*length` are its content.
static bool parse_string(parser *p, size_t *start, size_t *length)
{
    skip_space(p);
    const char quote = p->at < p->length ? p->text[p->at] : 0;
    if (quote != '\'' && quote != '"') return fail(p, p->at, "the header is malformed: a string expected");
    const char *content = p->text + p->at + 1;
    const char *end = memchr(content, quote, p->length - p->at - 1);
    if (!end) return fail(p, p->at, "the header is malformed: a string without an end");
    *start = p->at + 1;
    *length = (size_t)(end - content);
    p->at = *start + *length + 1;
    return true;
}

static bool parse_word(parser *p, const char *word)
{
    skip_space(p);
    const size_t n = strlen(word);
    if (p->length - p->at < n || memcmp(p->text + p->at, word, n) != 0) return false;
    p->at += n;
    return true;
}

static const struct {
    char text[12];
    gn_dtype dtype;
} float_types[] = {
    {"f4", GN_FLOAT32}, {"f2", GN_FLOAT16}, {"f8", GN_FLOAT64}, {"V2", GN_BFLOAT16}, {"bfloat16", GN_BFLOAT16}};

/// Finds a floating-point type. A byte order stands before it: '<', '>', '|' (none), or nothing.
static void find_type(const char *descr, size_t length, gn_npy *npy)
{
    const bool marked = length && (*descr == '<' || *descr == '>' || *descr == '|');
    npy->big_endian = marked && *descr == '>';
    for (size_t i = 0; i < sizeof float_types / sizeof *float_types; i++) {
        const char *text = float_types[i].text;
        if (strlen(text) != length - marked || memcmp(text, descr + marked, length - marked) != 0) continue;
        npy->dtype = float_types[i].dtype;
        npy->is_float = true;
    }
}

static bool parse_descr(parser *p, gn_npy *npy)
{
    skip_space(p);
    const size_t begin = p->at;
    if (p->at < p->length && p->text[p->at] == '[') {
        strcpy(npy->type, "structured");
        p->structured = p->any;
        return p->any ? false
                      : fail_as(p, GN_UNSUPPORTED, begin,
                                "a structured dtype is not floating point; save one field, as a.astype('<f4')");
    }
    size_t start = 0, length = 0;
    if (!parse_string(p, &start, &length)) return false;
    snprintf(npy->type, sizeof npy->type, "%.*s", length > 20 ? 20 : (int)length, p->text + start);
    find_type(p->text + start, length, npy);
    if (npy->is_float || p->any) return true;
    char what[192];
    snprintf(what, sizeof what, "dtype '%s' is not float16, bfloat16, float32 or float64", gn_label(npy->type).s);
    return fail_as(p, GN_UNSUPPORTED, begin, what);
}

static bool parse_dimension(parser *p, uint64_t *dimension)
{
    skip_space(p);
    const size_t start = p->at;
    uint64_t n = 0;
    while (p->at < p->length && p->text[p->at] >= '0' && p->text[p->at] <= '9') {
        n = n * 10 + (uint64_t)(p->text[p->at++] - '0');
        if (n > COUNT_MAX) return fail(p, start, "a dimension is impossibly large");
    }
    if (p->at == start) return fail(p, start, "the header is malformed: a dimension expected");
    if (p->at < p->length && p->text[p->at] == 'L') p->at++;  // Python 2 wrote (3L, 4L)
    *dimension = n;
    return true;
}

static bool parse_shape(parser *p, gn_npy *npy)
{
    const size_t begin = p->at;
    if (!expect(p, '(')) return false;
    while (!next_is(p, ')')) {
        if (npy->dimensions == GN_NPY_DIMENSIONS) return fail(p, p->at, "more than 64 dimensions");
        if (!parse_dimension(p, &npy->shape[npy->dimensions])) return false;
        npy->dimensions++;
        if (next_is(p, ',')) continue;
        if (!expect(p, ')')) return false;
        break;
    }
    if (!gn_shape_count(npy->shape, npy->dimensions, &npy->count))
        return fail(p, begin, "the shape is impossibly large");
    return true;
}

static bool parse_member(parser *p, gn_npy *npy, unsigned *seen)
{
    static const char *const keys[] = {"descr", "fortran_order", "shape"};
    skip_space(p);
    const size_t begin = p->at;
    size_t start = 0, length = 0;
    if (!parse_string(p, &start, &length)) return false;
    unsigned key = 0;
    while (key < 3 && (strlen(keys[key]) != length || memcmp(keys[key], p->text + start, length) != 0)) key++;
    if (key == 3) return fail(p, begin, "the header has a key that .npy does not know");
    if (*seen & 1u << key) return fail(p, begin, "the header has the same key twice");
    *seen |= 1u << key;
    if (!expect(p, ':')) return false;
    if (key == 0) return parse_descr(p, npy);
    if (key == 2) return parse_shape(p, npy);
    if (parse_word(p, "True"))
        npy->fortran_order = true;
    else if (!parse_word(p, "False"))
        return fail(p, p->at, "the header is malformed: True or False expected");
    return true;
}

static bool parse_dictionary(parser *p, gn_npy *npy)
{
    unsigned seen = 0;
    if (!expect(p, '{')) return false;
    while (!next_is(p, '}')) {
        if (!parse_member(p, npy, &seen)) return false;
        if (next_is(p, ',')) continue;
        if (!expect(p, '}')) return false;
        break;
    }
    if (!(seen & 1)) return fail(p, 0, "the header has no dtype ('descr')");
    if (!(seen & 2)) return fail(p, 0, "the header has no 'fortran_order'");
    if (!(seen & 4)) return fail(p, 0, "the header has no 'shape'");
    skip_space(p);
    if (p->at != p->length) return fail(p, p->at, "the header is malformed: something follows the dictionary");
    return true;
}

/// Reads exactly `bytes` bytes of the header.
static gn_status read_exactly(gn_input *input, void *buffer, size_t bytes, gn_error *error)
{
    size_t got;
    gn_status wrong = gn_input_read(input, buffer, bytes, &got, error);
    if (wrong || got == bytes) return wrong;
    return gn_fail(error, GN_TRUNCATED, "%s: byte %" PRIu64 ": ends within the .npy header", gn_input_name(input),
                   gn_input_offset(input));
}

/// Reads the magic, the version and the length of the text behind them.
static gn_status read_prefix(gn_input *input, size_t *length, gn_error *error)
{
    const char *name = gn_input_name(input);
    uint8_t prefix[8], bytes[4] = {0};
    gn_status wrong = read_exactly(input, prefix, sizeof prefix, error);
    if (wrong) return wrong;
    if (memcmp(prefix, "\x93NUMPY", 6) != 0) return gn_fail(error, GN_UNSUPPORTED, "%s: byte 0: not a .npy file", name);
    if (prefix[6] < 1 || prefix[6] > 3 || prefix[7])
        return gn_fail(error, GN_UNSUPPORTED, "%s: byte 6: .npy version %u.%u is not known (1.0, 2.0 and 3.0 are)",
                       name, prefix[6], prefix[7]);
    wrong = read_exactly(input, bytes, prefix[6] == 1 ? 2 : 4, error);
    if (wrong) return wrong;
    *length = (size_t)gn_little(bytes, sizeof bytes);
    if (*length > GN_NPY_HEADER_MAX)
        return gn_fail(error, GN_CORRUPT, "%s: byte 8: a header of %zu bytes is longer than %d", name, *length,
                       GN_NPY_HEADER_MAX);
    return GN_OK;
}

static gn_status read_header(gn_input *input, gn_npy *npy, bool any, gn_error *error)
{
    size_t length = 0;
    gn_status wrong = read_prefix(input, &length, error);
    if (wrong) return wrong;
    char *text = malloc(length + 1);
    if (!text) return gn_fail_memory(error);
    text[length] = 0;
    parser p = {.text = text,
                .length = length,
                .name = gn_input_name(input),
                .base = (size_t)gn_input_offset(input),
                .any = any,
                .error = error};
    wrong = read_exactly(input, text, length, error);
    if (!wrong) {
        *npy = (gn_npy){.count = 0};
        npy->shaped = parse_dictionary(&p, npy);
        if (!npy->shaped && !p.structured) wrong = p.wrong;
        npy->header_bytes = gn_input_offset(input);
    }
    free(text);
    return wrong;
}

gn_status gn_npy_read_header(gn_input *input, gn_npy *npy, gn_error *error)
{
    return read_header(input, npy, false, error);
}

gn_status gn_npy_read_any_header(gn_input *input, gn_npy *npy, gn_error *error)
{
    return read_header(input, npy, true, error);
}

/// What people call a type of NumPy: '<i8' is int64. Other types are called as NumPy writes them.
static void type_name(const gn_npy *npy, char *name, size_t room)
{
    const char *type = npy->type + (*npy->type && strchr("<>|", *npy->type) ? 1 : 0);
    const char *kind = *type == 'i' ? "int" : *type == 'u' ? "uint" : *type == 'c' ? "complex" : NULL;
    const bool sized = type[0] && type[1] >= '1' && type[1] <= '9' && (!type[2] || !type[3]);
    if (npy->is_float)
        snprintf(name, room, "%s", gn_dtype_name(npy->dtype));
    else if (kind && sized)
        snprintf(name, room, "%s%d", kind, 8 * atoi(type + 1));
    else
        snprintf(name, room, "%s", !strcmp(type, "b1") ? "bool" : !strcmp(type, "O") ? "object" : type);
}

gn_tensor gn_npy_tensor(gn_npy *npy, char *name)
{
    gn_tensor tensor = {.name = name,
                        .is_float = npy->is_float,
                        .shaped = npy->shaped,
                        .big_endian = npy->big_endian,
                        .fortran_order = npy->fortran_order,
                        .dtype = npy->dtype,
                        .dimensions = npy->dimensions,
                        .shape = npy->shape,
                        .count = npy->count};
    type_name(npy, tensor.type, sizeof tensor.type);
    return tensor;
}

/// Makes the dictionary and its padding.
/// @return its length
static size_t format_dictionary(char *text, size_t room, const uint64_t *shape, unsigned dimensions, bool fortran_order)
{
    size_t n = (size_t)snprintf(text, room, "{'descr': '<f4', 'fortran_order': %s, 'shape': (",
                                fortran_order ? "True" : "False");
    for (unsigned i = 0; i < dimensions; i++)
        n += (size_t)snprintf(text + n, room - n, "%s%" PRIu64 "%s", i ? " " : "", shape[i],
                              i + 1 < dimensions || dimensions == 1 ? "," : "");
    n += (size_t)snprintf(text + n, room - n, "), }");
    // NumPy leaves room for 21 digits of the growing dimension, then aligns the values to 64
    // bytes.
    size_t growth = 0;
    if (dimensions) growth = 21 - (size_t)snprintf(NULL, 0, "%" PRIu64, shape[fortran_order ? dimensions - 1 : 0]);
    const size_t total = (PREFIX + n + growth + 1 + 63) / 64 * 64;
    while (n + 1 < total - PREFIX) text[n++] = ' ';
    text[n++] = '\n';
    return n;
}

size_t gn_npy_format_header(char header[GN_NPY_WRITTEN_MAX], const uint64_t *shape, unsigned dimensions,
                            bool fortran_order)
{
    const size_t length =
        format_dictionary(header + PREFIX, GN_NPY_WRITTEN_MAX - PREFIX, shape, dimensions, fortran_order);
    memcpy(header, "\x93NUMPY\1\0", 8);
    header[8] = (char)(length & 0xff);
    header[9] = (char)(length >> 8);
    return PREFIX + length;
}

gn_status gn_npy_write_header(FILE *stream, const uint64_t *shape, unsigned dimensions, bool fortran_order,
                              gn_error *error)
{
    if (dimensions > GN_NPY_DIMENSIONS) return gn_fail(error, GN_INVALID, "more than 64 dimensions");
    char header[GN_NPY_WRITTEN_MAX];
    const size_t bytes = gn_npy_format_header(header, shape, dimensions, fortran_order);
    return fwrite(header, 1, bytes, stream) == bytes ? GN_OK : gn_fail(error, GN_IO, "%s", strerror(errno));
}

gn_status gn_npy_write(FILE *stream, const float *values, const uint64_t *shape, unsigned dimensions, gn_error *error)
{
    uint64_t count;
    if (dimensions > GN_NPY_DIMENSIONS || !gn_shape_count(shape, dimensions, &count))
        return gn_fail(error, GN_INVALID, "the shape is impossibly large");
    gn_status wrong = gn_npy_write_header(stream, shape, dimensions, false, error);
    if (wrong) return wrong;
    return fwrite(values, sizeof *values, count, stream) == count ? GN_OK
                                                                  : gn_fail(error, GN_IO, "%s", strerror(errno));
}

gn_status gn_npy_parse_shape(const char *text, uint64_t shape[GN_NPY_DIMENSIONS], unsigned *dimensions, uint64_t *count,
                             gn_error *error)
{
    unsigned n = 0;
    for (const char *at = text; *at;) {
        char *end;
        errno = 0;
        const unsigned long long d = *at >= '0' && *at <= '9' ? strtoull(at, &end, 10) : 0;
        if (*at < '0' || *at > '9' || errno || d > COUNT_MAX || n == GN_NPY_DIMENSIONS)
            return gn_fail(error, GN_INVALID, "'%s' is not a shape; write it as 784,500", text);
        shape[n++] = d;
        at = end;
        if (!*at) break;
        if ((*at != ',' && *at != 'x') || !at[1])
            return gn_fail(error, GN_INVALID, "'%s' is not a shape; write it as 784,500", text);
        at++;
    }
    if (!gn_shape_count(shape, n, count)) return gn_fail(error, GN_INVALID, "shape '%s' is impossibly large", text);
    *dimensions = n;
    return GN_OK;
}
