// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_KIT_UNITS_H
#define GRADNIC_TOOLS_KIT_UNITS_H
/// Numbers with units, parsed from options and printed for people. A parser takes the whole text
/// or fails with GN_INVALID. It writes `*out` on success only.

#include <stddef.h>
#include <stdint.h>

#include "net/error.h"

/// An unsigned decimal number, low <= n <= high.
gn_status gn_parse_number(const char *text, uint64_t low, uint64_t high, uint64_t *out, gn_error *error);

/// The same; with 0x in front, the number is hexadecimal. A leading zero alone changes nothing.
gn_status gn_parse_any_base(const char *text, uint64_t low, uint64_t high, uint64_t *out, gn_error *error);

/// Bytes, as nccl-tests writes them: "25M", "4K", "1G", "512". K, M, G, T are powers of 1024;
/// "KiB" and "KB" mean the same as "K". No fractions.
/// Of what is 2^63 and larger `bytes` becomes 2^63 - 1, and it is an error.
gn_status gn_parse_size(const char *text, uint64_t *bytes, gn_error *error);

/// Bits per second, as tc writes them: "200mbit", "1gbit", "1.5gbit"; powers of 1000. "kibit",
/// "mibit", ... are powers of 1024; "kbps", "mbps", "gbps" are bytes per second, as in tc.
/// Without a unit: bits.
gn_status gn_parse_rate(const char *text, uint64_t *bits_per_second, gn_error *error);

/// Hertz: "100mhz", "156.25mhz", "1ghz"; powers of 1000. The unit is required, except for 0.
gn_status gn_parse_frequency(const char *text, uint64_t *hertz, gn_error *error);

/// A length of time in nanoseconds: "10ms", "2s", "1.5s", "250us", "80ns", "2min". The unit is
/// required, except for 0. What is 2^63 and longer becomes 2^63 - 1: the option says its own limit.
gn_status gn_parse_duration(const char *text, uint64_t *nanoseconds, gn_error *error);

/// The same, but a plain number means seconds.
gn_status gn_parse_seconds(const char *text, uint64_t *nanoseconds, gn_error *error);

/// A probability: "1%", "0.5%", "0.01".
gn_status gn_parse_probability(const char *text, double *probability, gn_error *error);

/// Copies the first item of a comma-separated list, cut to `room`.
/// @return the text behind it: ",..." or ""
const char *gn_list_item(const char *list, char *item, size_t room);

/// A short text by value, so that it can be used in a printf argument: `gn_human_bytes(n).s`.
typedef struct gn_text {
    char s[32];
} gn_text;

gn_text gn_human_bytes(uint64_t bytes);          ///< "512 B", "25.0 MiB": powers of 1024
gn_text gn_human_count(uint64_t count);          ///< "512", "1.68 M": powers of 1000
gn_text gn_human_rate(double bytes_per_second);  ///< "1.23 GB/s": powers of 1000
gn_text gn_human_bits(double bits_per_second);   ///< "200 Mbit/s": powers of 1000
gn_text gn_human_frequency(double hertz);        ///< "156 MHz": powers of 1000
gn_text gn_human_duration(double nanoseconds);   ///< "12.3 ms"; from two minutes on "3 min 20 s"

#endif
