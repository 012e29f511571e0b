// SPDX-License-Identifier: Apache-2.0
#include "npz.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <zip.h>

#include "net/escape.h"
#include "zip_stream.h"

static const char suffix[] = ".npy";

static gn_status add_array(gn_zip *zip, size_t index, const char *file, gn_tensor_list *list, gn_error *error)
{
    const char *member = gn_zip_member_at(zip, index)->name;
    const size_t length = strlen(member), end = sizeof suffix - 1;
    if (length < end || strcmp(member + length - end, suffix) != 0) return GN_OK;
    gn_input *input;
    gn_npy npy;
    gn_status wrong = gn_zip_read(zip, index, &input, error);
    if (wrong) return wrong;
    wrong = gn_npy_read_any_header(input, &npy, error);
    gn_input_close(input);
    if (wrong) return wrong;
    char *name = strndup(member, length - end);
    if (!name) return gn_fail_memory(error);
    gn_tensor tensor = gn_npy_tensor(&npy, name);
    tensor.place = index;
    wrong = gn_tensor_add(list, &tensor, file, error);
    free(name);
    return wrong;
}

gn_status gn_npz_list(gn_zip *zip, const char *file, gn_tensor_list *list, gn_error *error)
{
    gn_status wrong = GN_OK;
    for (size_t i = 0; i < gn_zip_count(zip) && !wrong; i++) wrong = add_array(zip, i, file, list, error);
    return wrong ? wrong : gn_tensor_check_names(list, file, error);
}

gn_status gn_npz_read(gn_zip *zip, const gn_tensor *tensor, gn_input **result, gn_error *error)
{
    gn_npy npy;
    gn_input *input;
    gn_status wrong = gn_zip_read(zip, tensor->place, &input, error);
    if (wrong) return wrong;
    wrong = gn_npy_read_header(input, &npy, error);
    if (!wrong && npy.count != tensor->count)
        wrong = gn_fail(error, GN_CORRUPT, "%s: changed while it was read", gn_input_name(input));
    if (wrong)
        gn_input_close(input);
    else
        *result = input;
    return wrong;
}

struct gn_npz_writer {
    FILE *stream;
    const char *name;
    zipFile archive;
    bool open;  // a member
};

static gn_status write_failure(const gn_npz_writer *writer, gn_error *error)
{
    return gn_fail(error, GN_IO, "%s: %s", writer->name, errno ? strerror(errno) : "write error");
}

gn_status gn_npz_writer_new(gn_npz_writer **result, FILE *stream, const char *name, gn_error *error)
{
    gn_npz_writer *writer = calloc(1, sizeof *writer);
    if (!writer) return gn_fail_memory(error);
    writer->stream = stream;
    writer->name = name;
    zlib_filefunc64_def functions = gn_zip_functions(stream);
    writer->archive = zipOpen2_64(name, APPEND_STATUS_CREATE, NULL, &functions);
    if (!writer->archive) {
        free(writer);
        return gn_fail_memory(error);
    }
    *result = writer;
    return GN_OK;
}

static gn_status end_array(gn_npz_writer *writer, gn_error *error)
{
    errno = 0;
    if (writer->open && zipCloseFileInZip(writer->archive) != ZIP_OK) return write_failure(writer, error);
    writer->open = false;
    return GN_OK;
}

enum { ZIP_UTF8 = 1 << 11 };

/// Without the flag, readers take a name for code page 437.
static unsigned long flags_of(const char *name)
{
    bool ascii = true;
    while (*name) {
        const size_t bytes = gn_utf8_bytes(name);
        if (!bytes) return 0;
        ascii = ascii && bytes == 1;
        name += bytes;
    }
    return ascii ? 0 : ZIP_UTF8;
}

gn_status gn_npz_begin(gn_npz_writer *writer, const gn_tensor *tensor, gn_error *error)
{
    char member[GN_TENSOR_NAME_MAX + sizeof suffix];
    static const zip_fileinfo info = {.dosDate = 1 << 21 | 1 << 16};  // 1980-01-01, as NumPy writes
    gn_status wrong = end_array(writer, error);
    if (wrong) return wrong;
    snprintf(member, sizeof member, "%s%s", tensor->name ? tensor->name : "arr_0", suffix);
    errno = 0;
    if (zipOpenNewFileInZip4_64(writer->archive, member, &info, NULL, 0, NULL, 0, NULL, 0, 0, 0, -MAX_WBITS,
                                DEF_MEM_LEVEL, Z_DEFAULT_STRATEGY, NULL, 0, 0, flags_of(member), 1) != ZIP_OK)
        return write_failure(writer, error);
    writer->open = true;
    char header[GN_NPY_WRITTEN_MAX];
    const size_t bytes = gn_npy_format_header(header, tensor->shape, tensor->dimensions, tensor->fortran_order);
    return gn_npz_write(writer, header, bytes, error);
}

gn_status gn_npz_write(gn_npz_writer *writer, const void *values, size_t bytes, gn_error *error)
{
    errno = 0;
    const uint8_t *at = values;
    while (bytes) {
        const unsigned n = bytes > 1u << 20 ? 1u << 20 : (unsigned)bytes;
        if (zipWriteInFileInZip(writer->archive, at, n) != ZIP_OK) return write_failure(writer, error);
        at += n;
        bytes -= n;
    }
    return GN_OK;
}

gn_status gn_npz_finish(gn_npz_writer *writer, gn_error *error)
{
    gn_status wrong = end_array(writer, error);
    errno = 0;
    const int code = zipClose(writer->archive, NULL);
    if (!wrong && (code != ZIP_OK || ferror(writer->stream))) wrong = write_failure(writer, error);
    free(writer);
    return wrong;
}

void gn_npz_abort(gn_npz_writer *writer)
{
    if (!writer) return;
    if (writer->open) zipCloseFileInZip(writer->archive);
    zipClose(writer->archive, NULL);
    free(writer);
}
