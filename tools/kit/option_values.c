// SPDX-License-Identifier: Apache-2.0
#include "option_values.h"

#include <pwd.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec_options.h"
#include "command.h"
#include "host/control_socket.h"
#include "net/clock.h"
#include "units.h"

static const char *name_in(const struct argp *argp, int key)
{
    const char *name = NULL;
    const struct argp_option *option = argp->options;
    for (; option && !name && (option->name || option->key || option->doc); option++)
        if (option->name && option->key == key) name = option->name;
    for (const struct argp_child *below = argp->children; below && below->argp && !name; below++)
        name = name_in(below->argp, key);
    return name;
}

// argp has a table of its own, with the command's as a child.
const char *gn_option_name(const struct argp_state *state, int key)
{
    return name_in(state->root_argp, key);
}

typedef struct attempt {
    jmp_buf back;
    gn_error *error;
} attempt;

static _Thread_local attempt *trying;

bool gn_option_try(void (*part)(void *context), void *context, gn_error *error)
{
    attempt here = {.error = error};
    trying = &here;
    if (setjmp(here.back)) {
        trying = NULL;
        return false;
    }
    part(context);
    trying = NULL;
    return true;
}

void gn_option_refuse(const struct argp_state *state, const char *format, ...)
{
    char text[GN_ERROR_TEXT];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (trying) {
        gn_fail(trying->error, GN_INVALID, "%s", text);
        longjmp(trying->back, 1);
    }
    argp_error(state, "%s", text);
}

void gn_option_wrong(const struct argp_state *state, int key, const char *format, ...)
{
    const char *name = gn_option_name(state, key);
    char text[GN_ERROR_TEXT];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (name)
        gn_option_refuse(state, "--%s: %s", name, text);
    else
        gn_option_refuse(state, "%s", text);
}

void gn_option_check(const struct argp_state *state, int key, gn_status status, const gn_error *error)
{
    if (status == GN_NO_MEMORY && !trying) argp_failure(state, GN_EXIT_FAILED, 0, "%s", error->text);
    if (status) gn_option_wrong(state, key, "%s", error->text);
}

uint64_t gn_option_number(const struct argp_state *state, int key, const char *text, uint64_t low, uint64_t high)
{
    gn_error error;
    uint64_t number = low;
    gn_option_check(state, key, gn_parse_number(text, low, high, &number, &error), &error);
    return number;
}

unsigned gn_option_unsigned(const struct argp_state *state, int key, const char *text, unsigned low, unsigned high)
{
    return (unsigned)gn_option_number(state, key, text, low, high);
}

/// A size as an option takes it: "64K", not "64.0 KiB".
static gn_text plain_size(uint64_t bytes)
{
    gn_text text;
    unsigned unit = 0;
    while (unit < 4 && bytes && bytes % 1024 == 0) bytes /= 1024, unit++;
    snprintf(text.s, sizeof text.s, "%llu%.*s", (unsigned long long)bytes, unit ? 1 : 0, &"KMGT"[unit ? unit - 1 : 0]);
    return text;
}

uint64_t gn_option_size(const struct argp_state *state, int key, const char *text, uint64_t low, uint64_t high)
{
    gn_error error;
    uint64_t bytes = low;
    const gn_status wrong = gn_parse_size(text, &bytes, &error);
    const bool too_large = wrong && bytes == INT64_MAX;  // the range below says more
    if (!too_large) gn_option_check(state, key, wrong, &error);
    if (too_large || bytes < low || bytes > high)
        gn_option_wrong(state, key, "%s is outside %s to %s", text, plain_size(low).s, plain_size(high).s);
    return bytes;
}

uint64_t gn_option_duration(const struct argp_state *state, int key, const char *text)
{
    gn_error error;
    uint64_t nanoseconds = 0;
    gn_option_check(state, key, gn_parse_duration(text, &nanoseconds, &error), &error);
    return nanoseconds;
}

uint64_t gn_option_time(const struct argp_state *state, int key, const char *text)
{
    gn_error error;
    uint64_t nanoseconds = 0;
    gn_option_check(state, key, gn_parse_seconds(text, &nanoseconds, &error), &error);
    if (nanoseconds > 3600 * GN_SECOND) gn_option_wrong(state, key, "%s is more than an hour", text);
    return nanoseconds;
}

double gn_option_probability(const struct argp_state *state, int key, const char *text)
{
    gn_error error;
    double probability = 0;
    gn_option_check(state, key, gn_parse_probability(text, &probability, &error), &error);
    return probability;
}

uint64_t gn_option_rate(const struct argp_state *state, int key, const char *text, uint64_t low)
{
    gn_error error;
    uint64_t bits = low;
    gn_option_check(state, key, gn_parse_rate(text, &bits, &error), &error);
    if (bits < low) gn_option_wrong(state, key, "%s is less than %s", text, gn_human_bits((double)low).s);
    return bits;
}

unsigned gn_option_tos(const struct argp_state *state, int key, const char *text)
{
    uint64_t tos = 0;
    gn_error error;
    if (gn_parse_any_base(text, 0, 0xff, &tos, &error) || (tos & 3))
        gn_option_wrong(state, key,
                        "'%s' is not a type of service: 0 to 0xfc, a multiple of 4 (the low bits are ECN's)", text);
    return (unsigned)tos;
}

int gn_option_bound(const struct argp_state *state, int key, const char *text)
{
    gn_error error;
    int bound_exp = 0;
    gn_option_check(state, key, gn_parse_bound(text, &bound_exp, &error), &error);
    return bound_exp;
}

gn_profile gn_option_profile(const struct argp_state *state, int key, const char *text)
{
    gn_error error;
    gn_profile profile = GN_DENSE;
    gn_option_check(state, key, gn_parse_profile(text, &profile, &error), &error);
    return profile;
}

/// The index of a word; `count` if it is none of them.
static unsigned find_word(const char *text, const char *const *words, unsigned count)
{
    unsigned i = 0;
    while (i < count && strcmp(text, words[i]) != 0) i++;
    return i;
}

/// "cache, packet, memory"
static void join_words(const char *const *words, unsigned count, char *text, size_t room)
{
    *text = 0;
    for (unsigned i = 0; i < count; i++) {
        const size_t used = strlen(text);
        snprintf(text + used, room - used, "%s%s", i ? ", " : "", words[i]);
    }
}

unsigned gn_option_word(const struct argp_state *state, int key, const char *text, const char *const *words,
                        unsigned count)
{
    const unsigned i = find_word(text, words, count);
    char all[320];
    join_words(words, count, all, sizeof all);
    if (i == count) gn_option_wrong(state, key, "'%s' is none of: %s", text, all);
    return i;
}

bool gn_option_choice(const struct argp_state *state, int key, const char *text, const char *first, const char *second)
{
    if (strcmp(text, first) != 0 && strcmp(text, second) != 0)
        gn_option_wrong(state, key, "'%s' is neither %s nor %s", text, first, second);
    return !strcmp(text, second);
}

void gn_option_words(const struct argp_state *state, int key, const char *text, const char *const *words,
                     unsigned count, bool *chosen)
{
    const bool all = !strcmp(text, "all");
    for (unsigned i = 0; i < count; i++) chosen[i] = all;
    if (all || !strcmp(text, "none")) return;
    char item[32], known[160];
    join_words(words, count, known, sizeof known);
    for (const char *at = text;; at++) {
        at = gn_list_item(at, item, sizeof item);
        const unsigned i = find_word(item, words, count);
        if (i == count) gn_option_wrong(state, key, "'%s' is none of: %s, all, none", item, known);
        chosen[i] = true;
        if (!*at) return;
    }
}

const char *gn_option_user(const struct argp_state *state, int key, const char *text)
{
    if (!getpwnam(text)) gn_option_wrong(state, key, "no user '%s' on this host", text);
    return text;
}

const char *gn_option_control(const struct argp_state *state, int key, const char *text)
{
    struct sockaddr_un address;
    gn_error error;
    if (!strcmp(text, "none")) return NULL;
    gn_option_check(state, key, gn_control_address(text, &address, &error), &error);
    return text;
}
