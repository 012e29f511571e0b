// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_KIT_CLI_H
#define GRADNIC_TOOLS_KIT_CLI_H
/// What every subcommand shares: errors, option values, units. See also output.h (files that appear when they are
/// complete), progress.h and json.h.
///
/// **Messages.** A function that can fail returns a gn_message: NULL when all is well, otherwise one line that says
/// what was wrong and what to do, without the program's name and without a full stop. It lives until the next such
/// call of the same thread. In an argp parser:
///
///     gn_message wrong = gn_parse_bound(arg, &k);
///     if (wrong) argp_error(state, "%s", wrong);          // exits with GN_EXIT_USAGE
///
/// and elsewhere `gn_cli_error(argv[0], "%s", wrong)`.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <gradnic/codec.h>

typedef const char *gn_message;  ///< NULL: no error

/// Makes a message (thread-local storage of 1 KiB; `format` may refer to the message before). Never NULL.
gn_message gn_message_format(const char *format, ...) __attribute__((format(printf, 1, 2), returns_nonnull));

/// Prints "PROGRAM: message" and a newline on stderr; `program` is the command's argv[0] ("gradnic ratio"). Clears a
/// progress line first. Thread-safe.
void gn_cli_error(const char *program, const char *format, ...) __attribute__((format(printf, 2, 3)));

/// As gn_cli_error() for what is worth saying but stops nothing ("PROGRAM: note: ...").
void gn_cli_note(const char *program, const char *format, ...) __attribute__((format(printf, 2, 3)));

/// Whether `stream` may be coloured: a terminal, TERM is not "dumb", and NO_COLOR is not set.
bool gn_cli_colour(FILE *stream);

// Option values. Each takes the whole text or fails; `*out` is written on success only.

/// A bound by its exponent k: "10" or "2^-10" -> 10, "-3" or "2^3" -> -3. -31 <= k <= 126 (all profiles together;
/// gn_check_bound() knows one profile's range).
gn_message gn_parse_bound(const char *text, int *bound_exp);

/// A list of bounds: "6,8,10". At most `capacity`; in the order given, duplicates refused.
gn_message gn_parse_bounds(const char *text, int *bounds, size_t capacity, size_t *count);

/// One profile by its name.
gn_message gn_parse_profile(const char *text, gn_profile *profile);

/// The same for an option that takes one more word ("none", which the caller has looked for), so that a message lists it.
gn_message gn_parse_profile_or(const char *text, const char *other, gn_profile *profile);

/// A list of profiles: "paper,lattice", or "all" for every profile of this version. `profiles` has room for
/// GN_PROFILE_COUNT.
gn_message gn_parse_profiles(const char *text, gn_profile *profiles, size_t *count);

/// A codec kernel by its name, or "auto": one that this machine runs. `*kernel` is `text`.
gn_message gn_parse_kernel(const char *text, const char **kernel);

/// For --help, which does not depend on the machine that its man page is made on.
#define GN_KERNEL_NAMES "auto, scalar, avx2, avx512"

/// Whether a profile takes this bound: "lattice takes bounds from 2^31 (-31) to 2^-31 (31); 64 is outside".
gn_message gn_check_bound(gn_profile profile, int bound_exp);

/// Copies the first item of a comma-separated list (cut to `room`) and returns what follows it: ",..." or "".
const char *gn_list_item(const char *list, char *item, size_t room);

/// An unsigned decimal number, low <= n <= high.
gn_message gn_parse_number(const char *text, uint64_t low, uint64_t high, uint64_t *out);

/// Bytes, as nccl-tests writes them: "25M", "4K", "1G", "512"; K, M, G, T are powers of two (1024), "KiB" and "KB"
/// mean the same as "K". Digits, no fractions.
gn_message gn_parse_size(const char *text, uint64_t *bytes);

/// Bits per second, as tc writes them: "200mbit", "1gbit", "1.5gbit", "100kbit"; powers of 1000. "kibit", "mibit", ...
/// are powers of 1024; "kbps", "mbps", "gbps" are bytes per second, as in tc; no unit: bit.
gn_message gn_parse_rate(const char *text, uint64_t *bits_per_second);

/// Hertz: "100mhz", "156.25mhz", "1ghz"; powers of 1000. The unit is required, except for 0.
gn_message gn_parse_frequency(const char *text, uint64_t *hertz);

/// A length of time in nanoseconds: "10ms", "2s", "1.5s", "250us", "80ns", "2min". The unit is required, except for 0.
gn_message gn_parse_duration(const char *text, uint64_t *nanoseconds);

/// A probability: "1%", "0.5%", "0.01".
gn_message gn_parse_probability(const char *text, double *probability);

/// A short text by value, so that it can be used in a printf argument: `gn_human_bytes(n).s`.
typedef struct gn_text {
    char s[32];
} gn_text;

gn_text gn_human_bytes(uint64_t bytes);          ///< "512 B", "25.0 MiB": powers of two, as gn_parse_size()
gn_text gn_human_count(uint64_t count);          ///< "512", "1.68 M": powers of 1000
gn_text gn_human_rate(double bytes_per_second);  ///< "1.23 GB/s": powers of 1000
gn_text gn_human_bits(double bits_per_second);   ///< "200 Mbit/s": powers of 1000
gn_text gn_human_frequency(double hertz);        ///< "156 MHz": powers of 1000
gn_text gn_human_duration(double nanoseconds);   ///< "12.3 ms"; from two minutes on "3 min 20 s"
gn_text gn_human_bound(int bound_exp);           ///< "2^-10"

#endif
