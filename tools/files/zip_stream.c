// SPDX-License-Identifier: Apache-2.0
#include "zip_stream.h"

static voidpf open_stream(voidpf stream, const void *name, int mode)
{
    (void)name, (void)mode;
    return stream;
}

static uLong read_stream(voidpf opaque, voidpf stream, void *buffer, uLong bytes)
{
    (void)opaque;
    return fread(buffer, 1, bytes, stream);
}

static uLong write_stream(voidpf opaque, voidpf stream, const void *buffer, uLong bytes)
{
    (void)opaque;
    return fwrite(buffer, 1, bytes, stream);
}

static ZPOS64_T tell_stream(voidpf opaque, voidpf stream)
{
    (void)opaque;
    return (ZPOS64_T)ftello(stream);
}

static long seek_stream(voidpf opaque, voidpf stream, ZPOS64_T offset, int origin)
{
    (void)opaque;
    static const int origins[] = {
        [ZLIB_FILEFUNC_SEEK_SET] = SEEK_SET, [ZLIB_FILEFUNC_SEEK_CUR] = SEEK_CUR, [ZLIB_FILEFUNC_SEEK_END] = SEEK_END};
    return fseeko(stream, (off_t)offset, origins[origin]);
}

static int close_stream(voidpf opaque, voidpf stream)
{
    (void)opaque, (void)stream;
    return 0;
}

static int stream_error(voidpf opaque, voidpf stream)
{
    (void)opaque;
    return ferror((FILE *)stream);
}

zlib_filefunc64_def gn_zip_functions(FILE *stream)
{
    return (zlib_filefunc64_def){.zopen64_file = open_stream,
                                 .zread_file = read_stream,
                                 .zwrite_file = write_stream,
                                 .ztell64_file = tell_stream,
                                 .zseek64_file = seek_stream,
                                 .zclose_file = close_stream,
                                 .zerror_file = stream_error,
                                 .opaque = stream};
}
