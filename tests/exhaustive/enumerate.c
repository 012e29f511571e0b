// SPDX-License-Identifier: Apache-2.0
#include "enumerate.h"

#include <argp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    enumerate_options *o = state->input;
    switch (key) {
    case 'a':
        o->mantissa_bits = ENUMERATE_BITS_ALL;
        return 0;
    case 'm':
        o->mantissa_bits = (unsigned)strtoul(argument, NULL, 10);
        if (o->mantissa_bits < 8 || o->mantissa_bits > ENUMERATE_BITS_ALL) argp_error(state, "-m takes 8 to 23");
        return 0;
    case 'j':
        o->threads = (unsigned)strtoul(argument, NULL, 10);
        if (o->threads < 1 || o->threads > ENUMERATE_THREADS_MAX) argp_error(state, "-j takes 1 to 64");
        return 0;
    case 'o':
        o->only = argument;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

enumerate_options enumerate_parse(int argc, char **argv, const char *what)
{
    static const struct argp_option described[] = {
        {"all", 'a', NULL, 0, "All 2^32 inputs", 0},
        {"mantissa-bits", 'm', "BITS", 0, "2^BITS mantissas of every sign and exponent (default: 16, so 2^25 inputs)",
         0},
        {"only", 'o', "NAME", 0, "Only runs that have this in their names, as \"paper k 126\"", 0},
        {"threads", 'j', "N", 0, "Threads (default: processors)", 0},
        {0},
    };
    const struct argp argp = {described, parse_option, NULL, what, NULL, NULL, NULL};
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    enumerate_options o = {.mantissa_bits = 16,
                           .threads = processors > 64  ? 64
                                      : processors > 0 ? (unsigned)processors
                                                       : 1};
    argp_parse(&argp, argc, argv, 0, NULL, &o);
    return o;
}

uint32_t enumerate_mantissa(unsigned bits, uint32_t upper, unsigned choice)
{
    const unsigned lower = ENUMERATE_BITS_ALL - bits;
    const uint32_t mask = (1u << lower) - 1, fill[4] = {0, 1, mask, 0x55555555};
    return upper << lower | (fill[choice] & mask);
}

bool enumerate_wants(const enumerate_options *options, const char *name)
{
    return !options->only || strstr(name, options->only);
}

typedef struct run {
    const char *name;
    bool (*check)(void *context, uint64_t block);
    void *context;
    uint64_t blocks;
    atomic_uint_fast64_t next;
    atomic_bool failed;
    atomic_long told;  // the last time, in seconds, that progress was printed
} run;

static long now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (long)t.tv_sec;
}

static void tell(run *r, uint64_t block)
{
    long last = atomic_load(&r->told), time = now();
    if (time - last < 30 || !atomic_compare_exchange_strong(&r->told, &last, time)) return;
    fprintf(stderr, "%s: %d %%\n", r->name, (int)(100 * block / r->blocks));
}

static void *work(void *argument)
{
    run *r = argument;
    for (uint64_t block; (block = atomic_fetch_add(&r->next, 1)) < r->blocks && !r->failed;) {
        if (!r->check(r->context, block)) r->failed = true;
        tell(r, block);
    }
    return NULL;
}

bool enumerate(const enumerate_options *options, const char *name, uint64_t inputs,
               bool (*check)(void *context, uint64_t block), void *context, double *seconds)
{
    run r = {.name = name, .check = check, .context = context, .blocks = inputs / ENUMERATE_BLOCK, .told = now()};
    pthread_t threads[ENUMERATE_THREADS_MAX];
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (unsigned i = 0; i < options->threads; i++)
        if (pthread_create(&threads[i], NULL, work, &r)) abort();
    for (unsigned i = 0; i < options->threads; i++) pthread_join(threads[i], NULL);
    clock_gettime(CLOCK_MONOTONIC, &end);
    *seconds = (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
    return !r.failed;
}
