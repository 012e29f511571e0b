// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_KIT_LABEL_H
#define GRADNIC_TOOLS_KIT_LABEL_H
/// Names from files and from daemons, as they are shown.

enum {
    GN_LABEL = 132  ///< bytes of a label
};

/// A name for people, within a message: bytes that are not printable ASCII are "\xHH", and long
/// names are cut. Names come from files, and a terminal would obey some bytes.
typedef struct gn_label_text {
    char s[GN_LABEL];
} gn_label_text;
gn_label_text gn_label(const char *name);

/// The same for a cell of a table: '|', which separates cells, is "\x7c". "-" for no name.
gn_label_text gn_cell(const char *name);

#endif
