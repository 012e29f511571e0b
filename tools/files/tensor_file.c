// SPDX-License-Identifier: Apache-2.0
#include "tensor_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "npz.h"
#include "safetensors.h"
#include "torch.h"
#include "zip_reader.h"

struct gn_tensor_file {
    gn_tensor_format format;
    const char *name;
    gn_zip *zip;    // npz, torch
    FILE *stream;   // safetensors
    uint64_t left;  // of the tensor that is being read
};

static gn_status open_safetensors(gn_tensor_file *file, FILE *stream, uint64_t bytes, gn_tensor_list *list,
                                  gn_error *error)
{
    file->stream = stream;
    if (bytes == UINT64_MAX) {  // not known: it is empty, or no regular file
        const off_t end = fseeko(stream, 0, SEEK_END) ? -1 : ftello(stream);
        bytes = end > 0 ? (uint64_t)end : 0;
    }
    return gn_safetensors_list(stream, bytes, file->name, list, error);
}

/// Before version 1.6, torch.save() wrote one pickle after the other, without an archive.
static gn_status open_archive(gn_tensor_file *file, FILE *stream, gn_error *error)
{
    uint8_t magic[2];
    const bool pickle = file->format == GN_TENSORS_TORCH && fread(magic, 1, 2, stream) == 2 && magic[0] == 0x80;
    if (!pickle) return gn_zip_open(&file->zip, stream, file->name, error);
    fclose(stream);
    return gn_fail(error, GN_UNSUPPORTED,
                   "%s: saved as PyTorch did before version 1.6; load it with a newer PyTorch, and save it again",
                   file->name);
}

gn_status gn_tensor_file_open(gn_tensor_file **result, gn_tensor_format format, gn_input *input, gn_tensor_list *list,
                              gn_error *error)
{
    FILE *stream;
    const uint64_t bytes = gn_input_size(input);
    gn_tensor_file *file = calloc(1, sizeof *file);
    if (!file) return gn_fail_memory(error);
    file->format = format;
    file->name = gn_input_name(input);
    gn_status wrong = gn_input_take_stream(input, &stream, error);
    if (!wrong && format == GN_TENSORS_SAFETENSORS)
        wrong = open_safetensors(file, stream, bytes, list, error);
    else if (!wrong)
        wrong = open_archive(file, stream, error);
    if (!wrong && format == GN_TENSORS_NPZ) wrong = gn_npz_list(file->zip, file->name, list, error);
    if (!wrong && format == GN_TENSORS_TORCH) wrong = gn_torch_list(file->zip, file->name, list, error);
    if (wrong) {
        gn_tensor_file_close(file);
        return wrong;
    }
    *result = file;
    return GN_OK;
}

static gn_status read_range(void *context, void *buffer, size_t bytes, size_t *got, gn_error *error)
{
    gn_tensor_file *file = context;
    if (bytes > file->left) bytes = (size_t)file->left;
    errno = 0;
    *got = fread(buffer, 1, bytes, file->stream);
    file->left -= *got;
    if (*got < bytes && ferror(file->stream))
        return gn_fail(error, GN_IO, "%s: %s", file->name, errno ? strerror(errno) : "read error");
    return GN_OK;
}

static void close_range(void *context)
{
    (void)context;
}

static gn_status open_range(gn_tensor_file *file, const gn_tensor *tensor, gn_input **input, gn_error *error)
{
    if (fseeko(file->stream, (off_t)tensor->offset, SEEK_SET))
        return gn_fail(error, GN_IO, "%s: %s", file->name, strerror(errno));
    file->left = tensor->count * gn_dtype_bytes(tensor->dtype);
    const gn_input_source source = {.read = read_range, .close = close_range, .context = file, .size = file->left};
    char name[GN_ERROR_TEXT / 2];
    snprintf(name, sizeof name, "%s:%s", file->name, gn_label(tensor->name).s);
    return gn_input_from_source(input, &source, name, error);
}

gn_status gn_tensor_file_read(gn_tensor_file *file, const gn_tensor *tensor, gn_input **input, gn_error *error)
{
    switch (file->format) {
    case GN_TENSORS_NPZ:
        return gn_npz_read(file->zip, tensor, input, error);
    case GN_TENSORS_TORCH:
        return gn_torch_read(file->zip, tensor, input, error);
    default:
        return open_range(file, tensor, input, error);
    }
}

gn_status gn_tensor_file_end(gn_tensor_file *file, const gn_tensor *tensor, gn_input *input, gn_error *error)
{
    return file->format == GN_TENSORS_TORCH ? gn_torch_end(file->zip, tensor, input, error) : GN_OK;
}

void gn_tensor_file_close(gn_tensor_file *file)
{
    if (!file) return;
    gn_zip_close(file->zip);
    if (file->stream) fclose(file->stream);
    free(file);
}
