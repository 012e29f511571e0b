// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_HOST_LOG_H
#define GRADNIC_HOST_LOG_H
/// The log of a daemon: lines on stderr, of four levels and in two formats.
///
///     gradnic nic: note: rule tos=0x28,...               text
///     2026-11-23T11:03:58.123Z gradnic nic: note: ...    text with the time
///     {"time": "2026-11-23T11:03:58.123Z", "level": "info", "program": "gradnic nic", ...}   JSON
///
/// Texts may come from strangers. They are escaped (net/escape.h), so a line is always one line.
/// When stderr is the journal's (sd-daemon(3)), each line begins with its priority: "<6>".
///
/// A reader that stands still holds nobody up for longer than 200 ms. Lines that find no room are
/// left out, and their number is told later.

#include <stdarg.h>
#include <stdbool.h>

typedef enum gn_severity {
    GN_SEVERITY_ERROR,  ///< the daemon ends, or did not do what it was told
    GN_SEVERITY_WARN,   ///< the user should know, though the daemon goes on
    GN_SEVERITY_INFO,   ///< what the daemon does
    GN_SEVERITY_DEBUG,  ///< everything else
    GN_SEVERITIES
} gn_severity;

/// "error", "warn", "info", "debug", by gn_severity.
extern const char *const gn_severity_names[GN_SEVERITIES];

typedef struct gn_log_settings {
    gn_severity level;  ///< lines above it are left out
    bool json;          ///< one JSON object a line, always with the time
    bool time;          ///< each line of text begins with the time (UTC, ISO 8601)
    bool colour;        ///< of the program's name in text
} gn_log_settings;

/// How to log from now on. Until then it is text up to GN_SEVERITY_INFO. Any thread may log
/// meanwhile. `program`, which is borrowed: what lines begin with; set it before there are threads.
void gn_log_set(const char *program, const gn_log_settings *settings);

/// Whether lines of that level are written at all.
bool gn_log_wants(gn_severity severity);

/// Writes one line. Any thread.
void gn_log(gn_severity severity, const char *format, ...) __attribute__((format(printf, 2, 3)));
void gn_log_list(gn_severity severity, const char *format, va_list arguments) __attribute__((format(printf, 2, 0)));

#endif
