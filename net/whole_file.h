// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_NET_WHOLE_FILE_H
#define GRADNIC_NET_WHOLE_FILE_H
/// Reads small files in one go. Any thread.

#include <stddef.h>
#include <sys/types.h>

/// Reads from where `fd` stands to the end of the file, but no more than `room` bytes. Give one
/// byte more than a file may have: then `room` bytes mean that it is too long.
/// @return bytes, or -1 with errno
ssize_t gn_whole_file_read(int fd, void *bytes, size_t room);

#endif
