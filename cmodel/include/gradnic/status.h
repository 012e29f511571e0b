// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_STATUS_H
#define GRADNIC_STATUS_H
/// @file status.h
/// What every gradnic function that can fail returns. The library never prints, exits or raises a
/// signal. A status says what kind of failure it was. The function's own comment says where the
/// details are.

#ifdef __cplusplus
extern "C" {
#endif

/// Marks the functions that a shared library exports. Everything else is hidden.
#if defined(__GNUC__)
#define GN_API __attribute__((visibility("default")))
#else
#define GN_API
#endif

/// Kinds of failure.
typedef enum gn_status {
    GN_OK = 0,       ///< done
    GN_INVALID,      ///< an argument is outside what the function's comment allows
    GN_NO_SPACE,     ///< the destination is too small; nothing useful was written
    GN_NO_MEMORY,    ///< an allocation failed
    GN_CORRUPT,      ///< input bytes that no encoder makes, or a checksum that does not hold
    GN_TRUNCATED,    ///< the input ends before what it announces
    GN_UNSUPPORTED,  ///< a version, profile or feature that this build does not know
    GN_IO,           ///< the operating system refused; errno is meaningful
    GN_TIMEOUT,      ///< a deadline passed
    GN_PEER_LOST,    ///< a peer died, closed its connection or was silent past the deadline
    GN_MISMATCH,     ///< peers called the same collective with different arguments
    GN_ABORTED,      ///< gn_comm_abort() was called here or at a peer
    GN_DEAD,         ///< the communicator has failed before; make a new one
    GN_STATUS_COUNT  ///< the number of statuses, not a status
} gn_status;

/// Returns one short English phrase for a status, without a full stop ("peer lost"). Never NULL;
/// static storage; thread-safe.
GN_API const char *gn_status_string(gn_status status);

#ifdef __cplusplus
}
#endif
#endif
