// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_NET_ESCAPE_H
#define GRADNIC_NET_ESCAPE_H
/// Text of a daemon or a peer, for a terminal. It must show, and do nothing else: control bytes
/// could move the cursor, change the title, or hide what stands above.

#include <stddef.h>

enum { GN_ESCAPE_GROWTH = 4 };  ///< a byte becomes at most so many

/// Bytes of the UTF-8 character at `text`, 1 to 4. 0: none begins there, or the text ends.
size_t gn_utf8_bytes(const char *text);

/// Writes `text` into `out`, cut to `room` bytes with its 0. Control characters (C0, DEL, C1) and
/// bytes that are not UTF-8 become \xNN; those in `keep` stay. @return out
char *gn_escape(const char *text, const char *keep, char *out, size_t room);

/// The same as a text to free(); NULL when out of memory.
char *gn_escape_new(const char *text, const char *keep);

#endif
