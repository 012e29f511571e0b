// SPDX-License-Identifier: Apache-2.0
// errata [--json] [FOLDER]: measures what docs/errata.md says about the paper (INCEPTIONN, MICRO
// 2018). It takes the gradient dumps of FOLDER (default: tests/data/gradients), and inputs made for
// the purpose. Errata are numbered as there.
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "errata_measure.h"
#include "net/error.h"
#include "tools/files/values.h"
#include "tools/kit/codec_options.h"
#include "tools/kit/json.h"
#include "tools/kit/table.h"
#include "tools/kit/units.h"

enum { BOUND = 10, FILES = 12, CNN_FILES = 8, FEEDBACK_STEPS = 64 };

static const char *const dumps[FILES] = {"cnn-it100-w0",  "cnn-it100-w1",  "cnn-it100-w2",  "cnn-it100-w3",
                                         "cnn-it30-w0",   "cnn-it30-w1",   "cnn-it30-w2",   "cnn-it30-w3",
                                         "mlp-it1000-w0", "mlp-it1000-w1", "mlp-it1000-w2", "mlp-it1000-w3"};

typedef struct gradients {
    vectors cnn;  // 8: four workers in two steps
    vectors mlp;  // 4
    double cnn_rms;
} gradients;

static void die(const char *what)
{
    fprintf(stderr, "errata: %s\n", what);
    exit(EXIT_FAILURE);
}

static void load(const char *folder, gradients *g)
{
    gn_error error;
    for (unsigned i = 0; i < FILES; i++) {
        char path[4096];
        float *values;
        size_t count;
        snprintf(path, sizeof path, "%s/%s.npy.gz", folder, dumps[i]);
        gn_status wrong = gn_values_load(path, GN_FORMAT_AUTO, &values, &count, &error);
        if (wrong) die(error.text);
        vectors *v = i < CNN_FILES ? &g->cnn : &g->mlp;
        if (v->count && v->length != count) die("workers' dumps differ in length");
        v->length = count;
        v->data[v->count++] = values;
    }
    double squares = 0;
    for (size_t i = 0; i < g->cnn.length; i++) squares += (double)g->cnn.data[0][i] * (double)g->cnn.data[0][i];
    g->cnn_rms = sqrt(squares / (double)g->cnn.length);
}

static void release(gradients *g)
{
    for (unsigned i = 0; i < g->cnn.count; i++) free(g->cnn.data[i]);
    for (unsigned i = 0; i < g->mlp.count; i++) free(g->mlp.data[i]);
}

static void heading(bool json, const char *text)
{
    if (!json) printf("\n%s\n", text);
}

static void finish(bool json, gn_table *table)
{
    if (!json && gn_table_print(table, stdout)) die("out of memory");
}

static byte_payloads payloads_of(const vectors *v, int k)
{
    byte_payloads p = {0};
    for (unsigned i = 0; i < v->count; i++) count_byte_payloads(&p, k, v->data[i], v->length);
    return p;
}

static gn_text share(uint64_t part, uint64_t whole)
{
    gn_text text = {"-"};
    if (whole) snprintf(text.s, sizeof text.s, "%.2f", 100 * (double)part / (double)whole);
    return text;
}

static json_t *erratum_1(const gradients *g, bool json)
{
    static const int bounds[] = {4, 6, 7, 8, 10, 12, 13, 14, 15, 16, 18, 20, 24};
    heading(json,
            "1. Largest error against the bound (all exponents below 1.0), and 8-bit payloads that decode to zero");
    gn_table *table = json ? NULL
                           : gn_table_new("<bound|paper: max error|in bounds|16-bit class|lattice: in bounds|CNN: 8 "
                                          "bit %|zero of these %|MLP: 8 bit %|zero of these %");
    json_t *rows = json_array();
    for (size_t b = 0; b < sizeof bounds / sizeof *bounds; b++) {
        const int k = bounds[b];
        const double eps = ldexp(1, -k);
        const largest_errors paper = measure_largest_errors(GN_PAPER, k),
                             lattice = measure_largest_errors(GN_LATTICE, k);
        const byte_payloads cnn = payloads_of(&g->cnn, k), mlp = payloads_of(&g->mlp, k);
        gn_table_row(table, "%s|%.3g|%.2f|%.2f|%.2f|%s|%s|%s|%s", gn_human_bound(k).s, paper.all, paper.all / eps,
                     paper.of_16_bits / eps, lattice.all / eps, share(cnn.all, cnn.values).s,
                     share(cnn.zero, cnn.all).s, share(mlp.all, mlp.values).s, share(mlp.zero, mlp.all).s);
        json_array_append_new(
            rows, json_pack("{s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "bound_exp", k, "paper_max_error",
                            gn_json_real(paper.all), "paper_in_bounds", gn_json_real(paper.all / eps),
                            "paper_16_bit_class_in_bounds", gn_json_real(paper.of_16_bits / eps), "lattice_in_bounds",
                            gn_json_real(lattice.all / eps), "cnn_byte_payloads", gn_json_count(cnn.all),
                            "cnn_zero_payloads", gn_json_count(cnn.zero), "mlp_byte_payloads", gn_json_count(mlp.all),
                            "mlp_zero_payloads", gn_json_count(mlp.zero)));
    }
    finish(json, table);
    return rows;
}

static void ring_row(const char *source, ring_method method, const vectors *v, gn_table *table, json_t *rows)
{
    ring_result r;
    const double eps = ldexp(1, -BOUND);
    if (measure_ring(method, BOUND, v, &r)) die("out of memory");
    gn_table_row(table, "%s|%u|%s|%.3f|%.3f|%.2f|%.1f|%.2f|%.2f|%.2f|%.2f", source, v->count, ring_method_name(method),
                 r.toward_zero / eps, r.rms_error / eps, r.max_error / eps, 100 * r.kept, 100 * r.order_share,
                 r.order_max / eps, 100 * r.drift_share, r.drift_max / eps);
    json_array_append_new(rows, json_pack("{s:s, s:i, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "source", source,
                                          "workers", (int)v->count, "method", ring_method_name(method), "toward_zero",
                                          gn_json_real(r.toward_zero), "rms_error", gn_json_real(r.rms_error),
                                          "max_error", gn_json_real(r.max_error), "magnitude_kept",
                                          gn_json_real(r.kept), "order_dependent_share", gn_json_real(r.order_share),
                                          "order_max", gn_json_real(r.order_max), "replica_drift_share",
                                          gn_json_real(r.drift_share), "replica_drift_max", gn_json_real(r.drift_max)));
}

static json_t *erratum_2(const gradients *g, bool json)
{
    heading(json, "2 and 8. One exchange over a ring at 2^-10 (errors in units of the bound); CNN: real dumps, normal: "
                  "N(0, rms of the CNN's)");
    gn_table *table = json ? NULL
                           : gn_table_new("<source|workers|<method|toward zero|rms|max|kept %|order-dependent %|by at "
                                          "most|replicas differ %|by at most");
    json_t *rows = json_array();
    for (unsigned n = 2; n <= CNN_FILES; n *= 2)
        for (ring_method m = 0; m < RING_METHODS; m++) {
            vectors some = g->cnn;
            some.count = n;
            ring_row("CNN", m, &some, table, rows);
        }
    vectors normal = {.length = 65536};
    for (unsigned w = 0; w < WORKERS_MAX; w++) {
        normal.data[w] = malloc(normal.length * sizeof(float));
        if (!normal.data[w]) die("out of memory");
        fill_normal(normal.data[w], normal.length, g->cnn_rms, 1000 + w);
    }
    for (normal.count = 2; normal.count <= WORKERS_MAX; normal.count *= 2)
        for (ring_method m = 0; m < RING_METHODS; m++) ring_row("normal", m, &normal, table, rows);
    for (unsigned w = 0; w < WORKERS_MAX; w++) free(normal.data[w]);
    finish(json, table);
    return rows;
}

static json_t *erratum_3(const gradients *g, bool json)
{
    heading(json, "3. Error feedback at 2^-10 over 64 steps of the CNN's dumps in turn");
    gn_table *table = json ? NULL
                           : gn_table_new("<profile|residuals in [2^-10, 2^-7) %|8-bit payloads of zero %|ratio, first "
                                          "step|ratio, last step|delivered %");
    json_t *rows = json_array();
    for (gn_profile p = GN_PAPER; p <= GN_LATTICE; p++) {
        feedback_result r;
        if (measure_feedback(p, BOUND, &g->cnn, FEEDBACK_STEPS, &r)) die("out of memory");
        gn_table_row(table, "%s|%.1f|%.1f|%.2f|%.2f|%.1f", gn_profile_name(p), 100 * r.dead_zone, 100 * r.zero_payloads,
                     r.first_ratio, r.ratio, 100 * r.delivered);
        json_array_append_new(rows, json_pack("{s:s, s:i, s:o, s:o, s:o, s:o, s:o}", "profile", gn_profile_name(p),
                                              "steps", FEEDBACK_STEPS, "residuals_in_dead_zone",
                                              gn_json_real(r.dead_zone), "zero_payloads", gn_json_real(r.zero_payloads),
                                              "ratio_first_step", gn_json_real(r.first_ratio), "ratio_last_step",
                                              gn_json_real(r.ratio), "delivered", gn_json_real(r.delivered)));
    }
    finish(json, table);
    return rows;
}

static json_t *erratum_5(bool json)
{
    static const gn_code codes[] = {{1, 0x00}, {1, 0x80}, {2, 0x0000}, {2, 0x8000}};
    gn_codec codec;
    if (gn_codec_init(&codec, GN_PAPER, BOUND)) die("paper 2^-10");
    heading(json, "5. Payloads without a leading one, and 1.0");
    gn_table *table = json ? NULL : gn_table_new("<input|<result here");
    json_t *rows = json_array();
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        const uint32_t bits = gn_lane_decode(&codec, codes[i]);
        gn_table_row(table, "tag %u, payload %0*x|%08x (+0.0)", codes[i].tag, codes[i].tag == 1 ? 2 : 4,
                     codes[i].payload, bits);
        json_array_append_new(rows, json_pack("{s:i, s:i, s:i}", "tag", (int)codes[i].tag, "payload",
                                              (int)codes[i].payload, "decoded_bits", (int)bits));
    }
    static const uint32_t ones[] = {0x3f7fffff, 0x3f800000};
    for (size_t i = 0; i < 2; i++) {
        const gn_code code = gn_lane_encode(&codec, ones[i]);
        gn_table_row(table, "value %08x (%s)|tag %u", ones[i], i ? "1.0" : "just below 1.0", code.tag);
        json_array_append_new(rows, json_pack("{s:i, s:i}", "value_bits", (int)ones[i], "tag", (int)code.tag));
    }
    finish(json, table);
    return rows;
}

static json_t *erratum_6(bool json)
{
    static const struct {
        const char *name;
        int layers, sizes[6];
    } networks[] = {{"784-500-500-500-500-10 (five layers)", 5, {784, 500, 500, 500, 500, 10}},
                    {"784-500-500-500-10 (four layers)", 4, {784, 500, 500, 500, 10}},
                    {"784-500-500-10 (three layers)", 3, {784, 500, 500, 10}}};
    heading(json, "6. Parameters of the handwritten-digits network (weights and biases; binary32)");
    gn_table *table = json ? NULL : gn_table_new("<network|parameters|MB (10^6)");
    json_t *rows = json_array();
    for (size_t n = 0; n < sizeof networks / sizeof *networks; n++) {
        int parameters = 0;
        for (int i = 0; i < networks[n].layers; i++)
            parameters += (networks[n].sizes[i] + 1) * networks[n].sizes[i + 1];
        gn_table_row(table, "%s|%d|%.2f", networks[n].name, parameters, parameters * 4e-6);
        json_array_append_new(rows, json_pack("{s:s, s:i, s:i}", "network", networks[n].name, "parameters", parameters,
                                              "bytes", parameters * 4));
    }
    finish(json, table);
    return rows;
}

static json_t *erratum_7(bool json)
{
    // Seven whole lanes and one of 8 bits are a record of 31 bytes. The next one, all whole, begins
    // at byte 31.
    const float values[16] = {2, 2, 2, 2, 2, 2, 2, 0.01f, 2, 2, 2, 2, 2, 2, 2, 2};
    uint8_t stream[2 * GN_RECORD_MAX];
    size_t first = 0, both = 0;
    gn_codec codec;
    if (gn_codec_init(&codec, GN_PAPER, BOUND) || gn_stream_encode(&codec, values, 8, stream, sizeof stream, &first) ||
        gn_stream_encode(&codec, values, 16, stream, sizeof stream, &both))
        die("paper 2^-10");
    const int last = (int)both - 1, bursts = last / 32 - (int)first / 32 + 1;
    heading(json, "7. A record in 32-byte bursts");
    if (!json)
        printf("a stream of two records: the second is bytes %zu to %d, in %d bursts; from the start of its first "
               "burst it needs %zu bytes, "
               "a buffer of two bursts has 64\n",
               first, last, bursts, both - first / 32 * 32);
    return json_pack("{s:i, s:i, s:i, s:i}", "begins_at", (int)first, "ends_at", last, "bursts", bursts, "bytes_needed",
                     (int)(both - first / 32 * 32));
}

static json_t *erratum_8(const gradients *g, bool json)
{
    static const int steps[] = {1, 10, 100};
    heading(json, "8. Distance between the owner's and the receivers' accumulated sums, 4 workers at 2^-10, fresh "
                  "normal gradients every step");
    gn_table *table = json ? NULL : gn_table_new("<method|steps|rms difference|rms of the sum|difference %");
    json_t *rows = json_array();
    for (ring_method m = 0; m < RING_METHODS; m++) {
        drift_result r[3];
        if (measure_drift(m, BOUND, g->cnn_rms, steps, 3, r)) die("out of memory");
        for (int i = 0; i < 3; i++) {
            gn_table_row(table, "%s|%d|%.3g|%.3g|%.1f", ring_method_name(m), r[i].steps, r[i].rms_difference,
                         r[i].rms_sum, 100 * r[i].rms_difference / r[i].rms_sum);
            json_array_append_new(rows, json_pack("{s:s, s:i, s:o, s:o}", "method", ring_method_name(m), "steps",
                                                  r[i].steps, "rms_difference", gn_json_real(r[i].rms_difference),
                                                  "rms_sum", gn_json_real(r[i].rms_sum)));
        }
    }
    finish(json, table);
    return rows;
}

int main(int argc, char **argv)
{
    gn_error error;
    const bool json = argc > 1 && !strcmp(argv[1], "--json");
    const char *folder = argc > 1 + json ? argv[1 + json] : GN_GRADIENTS;
    gradients g = {0};
    load(folder, &g);
    json_t *all = json_pack("{s:o}", "environment", gn_json_environment());
    json_object_set_new(all, "1", erratum_1(&g, json));
    json_object_set_new(all, "2", erratum_2(&g, json));
    json_object_set_new(all, "3", erratum_3(&g, json));
    json_object_set_new(all, "5", erratum_5(json));
    json_object_set_new(all, "6", erratum_6(json));
    json_object_set_new(all, "7", erratum_7(json));
    json_object_set_new(all, "8", erratum_8(&g, json));
    release(&g);
    if (!json) {
        json_decref(all);
        return EXIT_SUCCESS;
    }
    gn_status wrong = gn_json_print(all, stdout, &error);
    if (wrong) die(error.text);
    return EXIT_SUCCESS;
}
