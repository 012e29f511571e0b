// SPDX-License-Identifier: Apache-2.0
#include "torch.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "pickle.h"

static const char pickle_name[] = "/data.pkl";

/// The pickle's member: FOLDER/data.pkl; exactly one.
static gn_status find_pickle(const gn_zip *zip, const char *file, size_t *index, gn_error *error)
{
    unsigned found = 0;
    for (size_t i = 0; i < gn_zip_count(zip); i++) {
        const char *name = gn_zip_member_at(zip, i)->name, *slash = strchr(name, '/');
        if (slash && !strcmp(slash, pickle_name)) *index = i, found++;
    }
    if (found == 1) return GN_OK;
    return gn_fail(error, GN_CORRUPT, "%s: not a file of torch.save(): it has %u members FOLDER/data.pkl, not one",
                   file, found);
}

/// Reads a member whole; the caller frees it.
static gn_status load_member(gn_zip *zip, size_t index, size_t largest, uint8_t **bytes, size_t *count, gn_error *error)
{
    gn_input *input;
    const uint64_t size = gn_zip_member_at(zip, index)->bytes;
    gn_status wrong = gn_zip_read(zip, index, &input, error);
    if (wrong) return wrong;
    *bytes = NULL;
    if (size > largest)
        wrong = gn_fail(error, GN_UNSUPPORTED, "%s: has %" PRIu64 " bytes; at most %zu are read", gn_input_name(input),
                        size, largest);
    else if (!(*bytes = malloc((size_t)size + 1)))
        wrong = gn_fail_memory(error);
    else
        wrong = gn_input_read(input, *bytes, (size_t)size, count, error);
    if (wrong) free(*bytes);
    gn_input_close(input);
    return wrong;
}

typedef struct listing {
    gn_zip *zip;
    const char *file, *folder;
    int folder_length;
    bool big_endian;
    gn_tensor_list *list;
} listing;

static gn_status add_tensor(void *context, const gn_pickle_tensor *found, gn_error *error)
{
    const listing *l = context;
    gn_tensor tensor = *found->tensor;
    const gn_label_text label = gn_label(tensor.name);
    if (!tensor.is_float) return gn_tensor_add(l->list, &tensor, l->file, error);
    char member[GN_ZIP_NAME_MAX + 1];
    const int length = snprintf(member, sizeof member, "%.*s/data/%s", l->folder_length, l->folder, found->storage);
    const long index = length < (int)sizeof member ? gn_zip_find(l->zip, member) : -1;
    if (index < 0)
        return gn_fail(error, GN_CORRUPT, "%s: tensor '%s': the archive has no storage '%s'", l->file, label.s,
                       gn_label(found->storage).s);
    const uint64_t held = gn_zip_member_at(l->zip, (size_t)index)->bytes / gn_dtype_bytes(tensor.dtype);
    if (tensor.offset > held || tensor.count > held - tensor.offset)
        return gn_fail(error, GN_CORRUPT, "%s: tensor '%s': reaches beyond its storage '%s'", l->file, label.s,
                       gn_label(found->storage).s);
    tensor.big_endian = l->big_endian;
    tensor.place = (uint64_t)index;
    tensor.offset *= gn_dtype_bytes(tensor.dtype);
    return gn_tensor_add(l->list, &tensor, l->file, error);
}

/// The member FOLDER/byteorder says "little" or "big". Older files have none and are little-endian.
static gn_status read_byte_order(listing *l, gn_error *error)
{
    char member[GN_ZIP_NAME_MAX + 1];
    snprintf(member, sizeof member, "%.*s/byteorder", l->folder_length, l->folder);
    const long index = gn_zip_find(l->zip, member);
    if (index < 0) return GN_OK;
    uint8_t *bytes;
    size_t count = 0;
    gn_status wrong = load_member(l->zip, (size_t)index, 16, &bytes, &count, error);
    if (wrong) return wrong;
    l->big_endian = count == 3 && !memcmp(bytes, "big", 3);
    if (!l->big_endian && (count != 6 || memcmp(bytes, "little", 6) != 0))
        wrong = gn_fail(error, GN_CORRUPT, "%s: its byte order is neither little nor big", l->file);
    free(bytes);
    return wrong;
}

gn_status gn_torch_list(gn_zip *zip, const char *file, gn_tensor_list *list, gn_error *error)
{
    size_t index = 0, count = 0;
    uint8_t *pickle;
    gn_status wrong = find_pickle(zip, file, &index, error);
    if (wrong) return wrong;
    listing l = {.zip = zip, .file = file, .folder = gn_zip_member_at(zip, index)->name, .list = list};
    l.folder_length = (int)(strlen(l.folder) - (sizeof pickle_name - 1));
    wrong = read_byte_order(&l, error);
    if (!wrong) wrong = load_member(zip, index, GN_PICKLE_MAX, &pickle, &count, error);
    if (wrong) return wrong;
    wrong = gn_pickle_read(pickle, count, file, add_tensor, &l, error);
    free(pickle);
    return wrong ? wrong : gn_tensor_check_names(list, file, error);
}

static gn_status skip(gn_input *input, uint64_t bytes, gn_error *error)
{
    uint8_t skipped[16384];
    while (bytes) {
        const size_t wanted = bytes < sizeof skipped ? (size_t)bytes : sizeof skipped;
        size_t got;
        const gn_status wrong = gn_input_read(input, skipped, wanted, &got, error);
        if (wrong) return wrong;
        if (got < wanted) return gn_fail(error, GN_TRUNCATED, "%s: ends too early", gn_input_name(input));
        bytes -= got;
    }
    return GN_OK;
}

gn_status gn_torch_read(gn_zip *zip, const gn_tensor *tensor, gn_input **result, gn_error *error)
{
    gn_input *input;
    gn_status wrong = gn_zip_read(zip, tensor->place, &input, error);
    if (wrong) return wrong;
    wrong = skip(input, tensor->offset, error);
    if (wrong)
        gn_input_close(input);
    else
        *result = input;
    return wrong;
}

gn_status gn_torch_end(gn_zip *zip, const gn_tensor *tensor, gn_input *input, gn_error *error)
{
    if (gn_zip_is_checked(zip, tensor->place)) return GN_OK;
    return skip(input, gn_zip_member_at(zip, tensor->place)->bytes - gn_input_offset(input), error);
}
