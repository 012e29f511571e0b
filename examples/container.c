// SPDX-License-Identifier: Apache-2.0
// Writes a .gn file and reads it again. `gradnic decompress` reads the same file.
#include <gradnic/container.h>

#include <math.h>
#include <stdio.h>

enum { COUNT = 5000 };

static gn_status write_file(void *file, const void *data, size_t bytes)
{
    return fwrite(data, 1, bytes, file) == bytes ? GN_OK : GN_IO;
}

static gn_status read_file(void *file, void *data, size_t bytes, size_t *got)
{
    *got = fread(data, 1, bytes, file);
    return ferror(file) ? GN_IO : GN_OK;
}

static gn_status save(FILE *file, const float *values, size_t count)
{
    gn_codec codec;
    gn_container_writer *writer;
    gn_status status = gn_codec_init(&codec, GN_DENSE, 10);
    if (!status) status = gn_container_writer_new(&writer, &codec, 0, count, write_file, file);
    if (status) return status;
    status = gn_container_write(writer, values, count);
    if (!status) return gn_container_writer_finish(writer, NULL);
    gn_container_writer_abort(writer);
    return status;
}

static gn_status load(FILE *file, float *values, size_t room, size_t *got)
{
    gn_container_reader *reader;
    gn_status status = gn_container_reader_new(&reader, read_file, file, NULL);
    if (status == GN_NO_MEMORY) return status;
    if (!status) status = gn_container_read(reader, values, room, got);
    if (status == GN_CORRUPT || status == GN_TRUNCATED || status == GN_UNSUPPORTED)
        fprintf(stderr, "%s\n", gn_container_reader_fault(reader)->text);
    gn_container_reader_free(reader);
    return status;
}

int main(void)
{
    static float values[COUNT], loaded[COUNT + 1];
    for (int i = 0; i < COUNT; i++) values[i] = cosf((float)i) / 50;

    FILE *file = tmpfile();
    size_t got = 0;
    if (!file || save(file, values, COUNT)) return 1;
    printf("%zu bytes of values in a file of %ld bytes\n", sizeof values, ftell(file));
    rewind(file);
    if (load(file, loaded, COUNT + 1, &got) || got != COUNT) return 1;
    fclose(file);

    for (int i = 0; i < COUNT; i++)
        if (fabsf(values[i] - loaded[i]) > 0x1p-10f) return 1;
    return 0;
}
