// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_NET_WHOLE_FILE_H
#define GRADNIC_NET_WHOLE_FILE_H
/// Reads small files in one go. Any thread.

#include <stddef.h>
#include <sys/types.h>

#include "net/error.h"

/// Reads from where `fd` stands to the end of the file, but no more than `room` bytes. Give one
/// byte more than a file may have: then `room` bytes mean that it is too long.
/// @return bytes, or -1 with errno
ssize_t gn_whole_file_read(int fd, void *bytes, size_t room);

/// Opens a file of settings, and does not wait where it is a FIFO. @return -1 with errno
int gn_whole_file_open(const char *path);
/// What such a file has, as far as `most` bytes and one more: then it is too long. `fd` may be -1
/// with errno, and stays open. `path` is for messages.
/// @return `*size` bytes, to be freed, or NULL with GN_IO, GN_INVALID (not a regular file) or
/// GN_NO_MEMORY in `error`
char *gn_whole_file_load(int fd, const char *path, size_t most, size_t *size, gn_error *error);

#endif
