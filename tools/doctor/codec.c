// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/codec.h"

#include <stdlib.h>
#include <string.h>

#include "doctor.h"
#include "tools/kit/units.h"

/// Values in cache, as a rank has them when it has just computed them, and a few rounds.
enum { VALUES = 65536, ROUNDS = 5, BOUND = 10 };
static const double SLOW = 1e9;  ///< bytes per second of a core

static void find_kernels(gn_findings *findings, const char *chosen)
{
    char all[160] = "";
    for (unsigned i = 0; gn_kernel_name(i); i++) {
        const size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "%s%s", used ? ", " : "", gn_kernel_name(i));
    }
    const bool scalar = !strcmp(chosen, "scalar");
    gn_find(findings, "kernels", scalar ? GN_LEVEL_WARN : GN_LEVEL_OK,
            scalar ? "The codec runs without vector instructions, many times slower."
                   : "The codec takes the fastest by itself.",
            scalar ? "use a processor with AVX2 or an aarch64 one; in a virtual machine, pass the host's processor on"
                   : NULL,
            "%s, of %s", chosen, all);
}

static bool measure(gn_bench_subject *subject, double *memcpy_seconds, gn_error *error)
{
    gn_bench_case c = {.count = VALUES, .piece = VALUES, .repetitions = ROUNDS, .seconds = 1};
    c.packed_stride = gn_bench_bound(subject, VALUES);
    float *values = malloc(VALUES * sizeof *values);
    c.back = malloc(VALUES * sizeof *c.back);
    c.packed = malloc(c.packed_stride);
    size_t packed_bytes = 0;
    c.packed_bytes = &packed_bytes;
    c.values = values;
    bool done = false;
    if (values && c.back && c.packed) {
        gn_bench_fill(GN_BENCH_MIXED, &subject->codec, NULL, 0, values, VALUES);
        done = !gn_bench_run(&c, subject, 1, memcpy_seconds, error);
    } else {
        gn_fail_memory(error);
    }
    free(values);
    free(c.back);
    free(c.packed);
    return done;
}

void gn_doctor_codec(gn_findings *findings)
{
    gn_bench_subject subject = {.name = "dense", .bound_exp = BOUND, .bounded = true};
    double copy;
    gn_error error;
    if (gn_codec_init(&subject.codec, GN_DENSE, BOUND)) return;
    subject.kernel = gn_codec_kernel_name(&subject.codec);
    find_kernels(findings, subject.kernel);
    if (!measure(&subject, &copy, &error)) {
        gn_find(findings, "codec", GN_LEVEL_FAIL, "The codec does not give values back within their bound.",
                "report this, with the output of gradnic doctor --json", "%s", error.text);
        return;
    }
    const double bytes = VALUES * sizeof(float), down = bytes / subject.compress_seconds,
                 up = bytes / subject.decompress_seconds;
    const bool slow = down < SLOW || up < SLOW;
    gn_find(findings, "codec", slow ? GN_LEVEL_WARN : GN_LEVEL_OK,
            slow ? "Compression costs so much time here that it pays on slow links only."
                 : "So many bytes of values one core compresses and decompresses in a second.",
            slow ? "ask gradnic estimate --speed whether it pays; let fewer other programs have the cores" : NULL,
            "dense 2^-%d: compresses %s, decompresses %s; memcpy %s", BOUND, gn_human_rate(down).s, gn_human_rate(up).s,
            gn_human_rate(bytes / copy).s);
}
