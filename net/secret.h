// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_NET_SECRET_H
#define GRADNIC_NET_SECRET_H
/// The shared secret of a group: a file that all its ranks and switches have, and nobody else. This
/// is the only reader of that file. net/greeting.h proves with it who is at the other end.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/error.h"

enum {
    GN_SECRET_KEY = 32,     ///< bytes of a key
    GN_SECRET_LEAST = 16,   ///< bytes of a file, without spaces and line ends behind them
    GN_SECRET_MOST = 4096,  ///< bytes of a file
    GN_SECRET_MAC = 32      ///< bytes of a code that proves a key
};

#define GN_SECRET_ENVIRONMENT "GRADNIC_SECRET_FILE"

typedef struct gn_secret {
    bool set;  ///< false: there is none, and `key` is zeros
    uint8_t key[GN_SECRET_KEY];
} gn_secret;

/// `path`, or with NULL the file that the environment names. @return NULL: there is none
const char *gn_secret_file(const char *path);

/// Reads the file `path`. With NULL it reads the file that the environment names
/// (GN_SECRET_ENVIRONMENT). Without both there is no secret, and that is no failure. The file must
/// belong to this account or to root, and nobody else may read or write it.
/// @return GN_OK; GN_INVALID when the file is not fit; GN_IO when it cannot be read
gn_status gn_secret_read(gn_secret *secret, const char *path, gn_error *error);

/// Whether the file is fit, as for gn_secret_read(). For root it may belong to any account, because
/// root checks for services that run as others.
gn_status gn_secret_check(const char *path, gn_error *error);

/// Forgets it. The memory is overwritten.
void gn_secret_wipe(gn_secret *secret);

/// A piece of what gn_secret_mac() covers.
typedef struct gn_secret_part {
    const void *bytes;
    size_t length;
} gn_secret_part;

/// A code over `label` and all parts, up to one without bytes. It proves that its author has the
/// key. Codes of different labels have nothing to do with each other.
void gn_secret_mac(const uint8_t key[GN_SECRET_KEY], const char *label, const gn_secret_part *parts,
                   uint8_t mac[GN_SECRET_MAC]);

#endif
