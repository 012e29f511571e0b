// SPDX-License-Identifier: Apache-2.0
#include "zip_reader.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <unzip.h>

#include "tensor.h"
#include "zip64.h"
#include "zip_stream.h"

enum { METHOD_STORED = 0, METHOD_DEFLATED = 8, FLAG_ENCRYPTED = 1 };

typedef struct place {
    unz64_file_pos position;
    uint64_t begin, end;  // of the packed bytes in the file
    gn_zip64_member own;  // with zip64; without, it begins at 0, and minizip reads it
    bool checked;         // its CRC, once
} place;

struct gn_zip {
    FILE *stream;
    char *name;
    unzFile archive;
    gn_zip_member *members;
    place *places;
    size_t count, room;
    const gn_zip_member **by_name;  // sorted
    // the member that is being read
    size_t open;
    uint64_t left;
    gn_zip64_reader *own;  // NULL: minizip reads it
};

static gn_status bad(const gn_zip *zip, const char *member, const char *what, gn_error *error)
{
    return gn_fail(error, GN_CORRUPT, "%s: member '%s': %s", zip->name, gn_label(member).s, what);
}

static gn_status grow(gn_zip *zip, gn_error *error)
{
    if (zip->count < zip->room) return GN_OK;
    if (zip->count == GN_ZIP_MEMBERS_MAX)
        return gn_fail(error, GN_UNSUPPORTED, "%s: more than %d members", zip->name, GN_ZIP_MEMBERS_MAX);
    const size_t room = zip->room ? 2 * zip->room : 16;
    gn_zip_member *members = realloc(zip->members, room * sizeof *members);
    if (members) zip->members = members;
    place *places = realloc(zip->places, room * sizeof *places);
    if (places) zip->places = places;
    if (!members || !places) return gn_fail_memory(error);
    zip->room = room;
    return GN_OK;
}

/// Looks at the member that minizip stands at, and enters it.
static gn_status add_member(gn_zip *zip, gn_error *error)
{
    char name[GN_ZIP_NAME_MAX + 1] = "";
    unz_file_info64 info;
    if (unzGetCurrentFileInfo64(zip->archive, &info, name, sizeof name, NULL, 0, NULL, 0) != UNZ_OK)
        return gn_fail(error, GN_CORRUPT, "%s: the zip's directory is damaged at member %zu", zip->name, zip->count);
    if (info.size_filename > GN_ZIP_NAME_MAX)
        return gn_fail(error, GN_UNSUPPORTED, "%s: a member's name has more than %d bytes", zip->name, GN_ZIP_NAME_MAX);
    if (strlen(name) != info.size_filename) return bad(zip, name, "its name holds a zero byte", error);
    if (info.flag & FLAG_ENCRYPTED) return bad(zip, name, "it is encrypted", error);
    if (info.compression_method != METHOD_STORED && info.compression_method != METHOD_DEFLATED) {
        char what[96];
        snprintf(what, sizeof what, "packed with method %lu; only stored and deflated members can be read",
                 info.compression_method);
        bad(zip, name, what, error);
        return error->status = GN_UNSUPPORTED;
    }
    gn_status wrong = grow(zip, error);
    if (wrong) return wrong;
    place at = {0};
    unzGetFilePos64(zip->archive, &at.position);
    gn_zip64_member wide;
    if (info.size_file_extra && gn_zip64_find(zip->stream, at.position.pos_in_zip_directory, &wide)) {
        info.uncompressed_size = wide.bytes;
        info.compressed_size = wide.packed;
        at.begin = wide.begin;
        at.own = wide;
    } else {
        if (unzOpenCurrentFile(zip->archive) != UNZ_OK) return bad(zip, name, "its header is damaged", error);
        at.begin = unzGetCurrentFileZStreamPos64(zip->archive);
        unzCloseCurrentFile(zip->archive);
    }
    at.end = at.begin + info.compressed_size;
    if (at.end < at.begin) return bad(zip, name, "its size is impossible", error);
    zip->members[zip->count] = (gn_zip_member){.name = strdup(name), .bytes = info.uncompressed_size};
    zip->places[zip->count] = at;
    return zip->members[zip->count++].name ? GN_OK : gn_fail_memory(error);
}

static int by_begin(const void *a, const void *b)
{
    const place *x = a, *y = b;
    return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static gn_status check_overlaps(const gn_zip *zip, gn_error *error)
{
    if (zip->count < 2) return GN_OK;
    place *sorted = malloc(zip->count * sizeof *sorted);
    if (!sorted) return gn_fail_memory(error);
    memcpy(sorted, zip->places, zip->count * sizeof *sorted);
    qsort(sorted, zip->count, sizeof *sorted, by_begin);
    gn_status wrong = GN_OK;
    for (size_t i = 1; i < zip->count && !wrong; i++)
        if (sorted[i].begin < sorted[i - 1].end)
            wrong = gn_fail(error, GN_CORRUPT, "%s: byte %" PRIu64 ": two members share these bytes", zip->name,
                            sorted[i].begin);
    free(sorted);
    return wrong;
}

static int by_name(const void *a, const void *b)
{
    const gn_zip_member *const *x = a, *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

static gn_status sort_names(gn_zip *zip, gn_error *error)
{
    zip->by_name = malloc((zip->count + 1) * sizeof *zip->by_name);
    if (!zip->by_name) return gn_fail_memory(error);
    for (size_t i = 0; i < zip->count; i++) zip->by_name[i] = &zip->members[i];
    qsort(zip->by_name, zip->count, sizeof *zip->by_name, by_name);
    for (size_t i = 1; i < zip->count; i++)
        if (!strcmp(zip->by_name[i - 1]->name, zip->by_name[i]->name))
            return bad(zip, zip->by_name[i]->name, "another member has this name, too", error);
    return GN_OK;
}

/// minizip does not open an archive without members, either.
static const char *why_unreadable(FILE *stream)
{
    char start[4];
    rewind(stream);
    const size_t got = fread(start, 1, sizeof start, stream);
    if (!got && !ferror(stream)) return "the file is empty";
    if (got == sizeof start && !memcmp(start, "PK\5\6", sizeof start)) return "the archive is empty";
    return "not a zip archive, or its end is missing";
}

static gn_status read_members(gn_zip *zip, gn_error *error)
{
    unz_global_info64 info;
    zlib_filefunc64_def functions = gn_zip_functions(zip->stream);
    zip->archive = unzOpen2_64(zip->name, &functions);
    if (!zip->archive || unzGetGlobalInfo64(zip->archive, &info) != UNZ_OK)
        return gn_fail(error, GN_CORRUPT, "%s: %s", zip->name, why_unreadable(zip->stream));
    gn_status wrong = GN_OK;
    int code = info.number_entry ? unzGoToFirstFile(zip->archive) : UNZ_END_OF_LIST_OF_FILE;
    for (; code == UNZ_OK && !wrong; code = unzGoToNextFile(zip->archive)) wrong = add_member(zip, error);
    if (wrong) return wrong;
    if (code != UNZ_END_OF_LIST_OF_FILE || zip->count != info.number_entry)
        return gn_fail(error, GN_CORRUPT, "%s: the zip's directory is damaged at member %zu", zip->name, zip->count);
    wrong = check_overlaps(zip, error);
    return wrong ? wrong : sort_names(zip, error);
}

gn_status gn_zip_open(gn_zip **result, FILE *stream, const char *name, gn_error *error)
{
    gn_zip *zip = calloc(1, sizeof *zip);
    if (!zip) {
        fclose(stream);
        return gn_fail_memory(error);
    }
    zip->stream = stream;
    zip->name = strdup(name);
    const gn_status wrong = zip->name ? read_members(zip, error) : gn_fail_memory(error);
    if (wrong) {
        gn_zip_close(zip);
        return wrong;
    }
    *result = zip;
    return GN_OK;
}

size_t gn_zip_count(const gn_zip *zip)
{
    return zip->count;
}

const gn_zip_member *gn_zip_member_at(const gn_zip *zip, size_t index)
{
    return &zip->members[index];
}

long gn_zip_find(const gn_zip *zip, const char *name)
{
    if (!zip->count) return -1;
    const gn_zip_member key = {.name = (char *)(uintptr_t)name}, *at = &key;
    const gn_zip_member *const *found = bsearch(&at, zip->by_name, zip->count, sizeof *zip->by_name, by_name);
    return found ? (long)(*found - zip->members) : -1;
}

/// @return whether all was read, and its CRC is right
static bool close_it(gn_zip *zip)
{
    if (!zip->own) return unzCloseCurrentFile(zip->archive) == UNZ_OK;
    const bool right = gn_zip64_end(zip->own);
    zip->own = NULL;
    return right;
}

/// Behind the last byte: closes the member, which checks its CRC.
static gn_status finish(gn_zip *zip, gn_error *error)
{
    if (!close_it(zip)) return bad(zip, zip->members[zip->open].name, "its CRC-32 is wrong", error);
    zip->places[zip->open].checked = true;
    return GN_OK;
}

static gn_status read_member(void *context, void *buffer, size_t bytes, size_t *got, gn_error *error)
{
    gn_zip *zip = context;
    const char *name = zip->members[zip->open].name;
    *got = 0;
    while (*got < bytes && zip->left) {
        const size_t rest = bytes - *got, limit = rest > 1u << 30 ? 1u << 30 : rest;
        const unsigned wanted = limit < zip->left ? (unsigned)limit : (unsigned)zip->left;
        uint8_t *to = (uint8_t *)buffer + *got;
        const long n = zip->own ? gn_zip64_read(zip->own, to, wanted) : unzReadCurrentFile(zip->archive, to, wanted);
        if (n < 0) return bad(zip, name, "its packed bytes are damaged", error);
        if (!n) return bad(zip, name, "it ends too early", error);
        *got += (size_t)n;
        zip->left -= (size_t)n;
        if (!zip->left) return finish(zip, error);
    }
    return GN_OK;
}

static void close_member(void *context)
{
    close_it(context);
}

gn_status gn_zip_read(gn_zip *zip, size_t index, gn_input **input, gn_error *error)
{
    const gn_zip_member *member = &zip->members[index];
    const place *at = &zip->places[index];
    if (at->own.begin) {
        zip->own = gn_zip64_begin(zip->stream, &at->own);
        if (!zip->own) return gn_fail_memory(error);
    } else if (unzGoToFilePos64(zip->archive, &at->position) != UNZ_OK || unzOpenCurrentFile(zip->archive) != UNZ_OK) {
        return bad(zip, member->name, "its header is damaged", error);
    }
    zip->open = index;
    zip->left = member->bytes;
    const gn_input_source source = {.read = read_member, .close = close_member, .context = zip, .size = member->bytes};
    char name[GN_ERROR_TEXT / 2];
    snprintf(name, sizeof name, "%s:%s", zip->name, gn_label(member->name).s);
    return gn_input_from_source(input, &source, name, error);
}

bool gn_zip_is_checked(const gn_zip *zip, size_t index)
{
    return zip->places[index].checked;
}

void gn_zip_close(gn_zip *zip)
{
    if (!zip) return;
    gn_zip64_end(zip->own);
    if (zip->archive) unzClose(zip->archive);
    if (zip->stream) fclose(zip->stream);
    for (size_t i = 0; i < zip->count; i++) free(zip->members[i].name);
    free(zip->members);
    free(zip->places);
    free(zip->by_name);
    free(zip->name);
    free(zip);
}
