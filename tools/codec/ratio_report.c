// SPDX-License-Identifier: Apache-2.0
#include "ratio_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "net/escape.h"
#include "tools/kit/cli.h"
#include "tools/kit/codec_options.h"
#include "tools/kit/units.h"

static double raw_bytes(const gn_ratio_result *r)
{
    return (double)r->input.values * sizeof(float);
}

static double finite_values(const gn_ratio_result *r)
{
    return (double)(r->input.values - r->input.not_finite);
}

static bool is_lossless(const gn_ratio_subject *s)
{
    return s->kind == GN_RATIO_RIVAL && s->choice.rival->lossless;
}

static const char *subject_name(const gn_ratio_subject *s)
{
    if (s->kind == GN_RATIO_ENTROPY) return "entropy";
    return s->kind == GN_RATIO_RIVAL ? s->choice.name : gn_profile_name(s->codec.profile);
}

/// "4.40", or "-" if there is no value, as for an empty file.
static gn_text number(const char *format, double value)
{
    gn_text text = {"-"};
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    if (!isnan(value)) snprintf(text.s, sizeof text.s, format, value);
#pragma GCC diagnostic pop
    return text;
}

static gn_text percent(double part, double whole)
{
    gn_text text = {"-"};
    const double share = 100 * part / whole;
    if (isnan(share)) return text;
    // A share above 0 must not look like 0, nor one below 100 like 100.
    if (share > 0 && share < 0.005) return (gn_text){"<0.01"};
    if (share < 100 && share > 99.995) return (gn_text){">99.99"};
    snprintf(text.s, sizeof text.s, "%.2f", share);
    return text;
}

/// A lossy rival is left out if values are NaN or infinite, because a block of zfp has one
/// exponent.
static bool is_left_out(const gn_ratio_result *r, const gn_ratio_subject *s)
{
    return s->kind == GN_RATIO_RIVAL && !is_lossless(s) && r->input.not_finite;
}

/// Compressed bytes of the values; a fraction if it is an entropy.
static double packed_bytes(const gn_ratio_subject *s, const gn_ratio_stats *stats)
{
    return s->kind == GN_RATIO_ENTROPY ? stats->entropy.bits / 8 : (double)stats->packed_bytes;
}

static bool has_classes(const gn_ratio_subject *s)
{
    return s->kind == GN_RATIO_CODEC && s->codec.profile == GN_DENSE;
}

/// Several cells of a row, separated by '|'.
typedef struct cells {
    char s[256];
} cells;

/// The cells from payload to "32 bit %".
static cells kept_cells(const gn_ratio_result *r, const gn_ratio_subject *s, const gn_ratio_stats *stats,
                        const char *bits)
{
    cells row;
    gn_text payload;
    snprintf(row.s, sizeof row.s, "|%s||||", bits);
    if (s->kind != GN_RATIO_CODEC) return row;
    payload = number("%.2f", raw_bytes(r) / (double)gn_tally_payload_bytes(&stats->tally));
    snprintf(row.s, sizeof row.s, "%s|%s||||", payload.s, bits);
    if (has_classes(s)) return row;
    const double values = (double)r->input.values;
    const uint64_t *tags = stats->tally.tags;
    snprintf(row.s, sizeof row.s, "%s|%s|%s|%s|%s|%s", payload.s, bits, percent((double)tags[0], values).s,
             percent((double)tags[1], values).s, percent((double)tags[2], values).s,
             percent((double)tags[3], values).s);
    return row;
}

static void add_row(gn_table *table, const gn_ratio_result *r, const gn_ratio_subject *s, const gn_ratio_stats *stats)
{
    const double n = finite_values(r), packed = packed_bytes(s, stats);
    const gn_text ratio = number("%.2f", raw_bytes(r) / packed),
                  bits = number("%.3f", 8 * packed / (double)r->input.values);
    const cells kept = kept_cells(r, s, stats, bits.s);
    if (is_lossless(s)) {
        gn_table_row(table, "%s|-|%s|%s|0", subject_name(s), ratio.s, kept.s);
        return;
    }
    const gn_text bound = gn_human_bound(s->bound_exp);
    if (s->kind == GN_RATIO_ENTROPY) {
        gn_table_row(table, "%s|%s|%s||%s", subject_name(s), bound.s, ratio.s, bits.s);
        return;
    }
    gn_table_row(table, "%s|%s|%s|%s|%s|%s|%s|%s|%s", subject_name(s), bound.s, ratio.s, kept.s,
                 number("%.3g", n > 0 ? stats->max_error : NAN).s, number("%.3g", sqrt(stats->sum_error_squares / n)).s,
                 number("%+.1e", stats->sum_error / n).s, percent(stats->sum_magnitudes, r->input.sum_magnitudes).s,
                 percent((double)stats->above_bound, n).s);
}

static const char *const tag_names[] = {"0", "8", "16", "32"};

static const char *const class_names[GN_CLASS_COUNT] = {"0", "1",  "2",  "3",  "4",  "5",  "6",  "7",
                                                        "8", "u1", "u2", "u3", "10", "12", "16", "words"};

/// Prints how many groups of dense have which class, below the table.
/// @return -1 if printing failed
static int print_classes(const gn_ratio_result *r, const gn_ratio_subject *subjects, size_t count, FILE *stream)
{
    gn_table *table = NULL;
    for (size_t i = 0; i < count; i++) {
        if (!has_classes(&subjects[i])) continue;
        if (!table) table = gn_table_new("<groups %|bound|zero|1 bit|2|3|4|5|6|7|8|u1|u2|u3|10|12|16|words");
        const gn_tally *tally = &r->stats[i].tally;
        cells shares = {""};
        for (unsigned c = 0; c < GN_CLASS_COUNT; c++) {
            const size_t used = strlen(shares.s);
            snprintf(shares.s + used, sizeof shares.s - used, "|%s",
                     tally->classes[c] ? percent((double)tally->classes[c], (double)tally->groups).s : "0");
        }
        gn_table_row(table, "%s|%s%s", subject_name(&subjects[i]), gn_human_bound(subjects[i].bound_exp).s, shares.s);
    }
    return table ? gn_table_print(table, stream) : 0;
}

int gn_ratio_print(const gn_ratio_result *r, const gn_ratio_subject *subjects, size_t count, FILE *stream)
{
    const gn_ratio_input *in = &r->input;
    const double n = finite_values(r);
    const bool colour = gn_cli_colour(stream);
    char *const name = gn_escape_new(r->name, "");
    fprintf(stream, "%s%s%s: %s values, %s; rms %s, largest %s, zeros %s %%", colour ? "\033[1m" : "", name ? name : "",
            colour ? "\033[0m" : "", gn_human_count(in->values).s, gn_human_bytes(in->values * sizeof(float)).s,
            number("%.3g", sqrt(in->sum_squares / n)).s, number("%.3g", n > 0 ? in->largest : NAN).s,
            percent((double)in->zeros, (double)in->values).s);
    free(name);
    if (in->not_finite) fprintf(stream, ", not finite %s", gn_human_count(in->not_finite).s);
    fputc('\n', stream);
    const gn_ratio_subject *left_out = NULL;
    gn_table *table = gn_table_new("<codec|bound|ratio|payload|bits|0 bit %|8 bit %|16 bit %|32 bit %|max error|rms "
                                   "error|mean error|kept %|above %");
    for (size_t i = 0; i < count; i++) {
        if (is_left_out(r, &subjects[i]))
            left_out = &subjects[i];
        else
            add_row(table, r, &subjects[i], &r->stats[i]);
    }
    int failed = gn_table_print(table, stream);
    failed |= print_classes(r, subjects, count, stream);
    if (left_out) fprintf(stream, "%s: data not finite, left out\n", subject_name(left_out));
    return failed;
}

enum { LINE_COLUMNS = 24 };  // ratios that a line has room for

gn_table *gn_ratio_lines_new(const gn_ratio_subject *subjects, size_t count)
{
    char columns[1024];
    size_t n = (size_t)snprintf(columns, sizeof columns, "<tensor|<type|<shape|values|rms|largest");
    unsigned ratios = 0;
    for (size_t i = 0; i < count; i++) {
        if (subjects[i].kind != GN_RATIO_CODEC || ratios == LINE_COLUMNS) continue;
        ratios++;
        n += (size_t)snprintf(columns + n, sizeof columns - n, "|%s %s", subject_name(&subjects[i]),
                              gn_human_bound(subjects[i].bound_exp).s);
    }
    return gn_table_new(columns);
}

void gn_ratio_line(gn_table *table, const gn_tensor *tensor, const gn_ratio_result *r, const gn_ratio_subject *subjects,
                   size_t count)
{
    char shape[160], ratios[1024] = "";
    const gn_ratio_input *in = &r->input;
    const double finite = finite_values(r);
    size_t n = 0;
    unsigned columns = 0;
    gn_tensor_shape_text(tensor, shape, sizeof shape);
    for (size_t i = 0; i < count; i++) {
        if (subjects[i].kind != GN_RATIO_CODEC || columns == LINE_COLUMNS) continue;
        columns++;
        n += (size_t)snprintf(ratios + n, sizeof ratios - n, "|%s",
                              number("%.2f", raw_bytes(r) / packed_bytes(&subjects[i], &r->stats[i])).s);
    }
    gn_table_row(table, "%s|%s|%s|%s|%s|%s%s", gn_cell(tensor->name).s, tensor->type, shape,
                 gn_human_count(in->values).s, number("%.2g", sqrt(in->sum_squares / finite)).s,
                 number("%.2g", finite > 0 ? in->largest : NAN).s, ratios);
}

/// {"NAME": {WHAT: n, "share": n / all}, ...}
static json_t *shares_json(const char *const *names, const uint64_t *counts, unsigned count, const char *what,
                           uint64_t all)
{
    json_t *shares = json_object();
    for (unsigned i = 0; i < count; i++)
        json_object_set_new(shares, names[i],
                            json_pack("{s:o, s:o}", what, gn_json_count(counts[i]), "share",
                                      gn_json_real((double)counts[i] / (double)all)));
    return shares;
}

static json_t *entropy_json(const gn_ratio_result *r, const gn_ratio_subject *s, const gn_ratio_stats *stats)
{
    const double bits = stats->entropy.bits;
    return json_pack("{s:i, s:o, s:o, s:o, s:o}", "bound_exp", s->bound_exp, "bits_per_value",
                     gn_json_real(bits / (double)r->input.values), "ratio", gn_json_real(8 * raw_bytes(r) / bits),
                     "symbols", gn_json_count(stats->entropy.symbols), "raw", gn_json_count(stats->entropy.raw));
}

static json_t *subject_json(const gn_ratio_result *r, const gn_ratio_subject *s, const gn_ratio_stats *stats)
{
    const double raw = raw_bytes(r), n = finite_values(r);
    json_t *line =
        json_pack("{s:s, s:b, s:o, s:o}", "codec", subject_name(s), "lossless", is_lossless(s), "bytes",
                  gn_json_count(stats->packed_bytes), "ratio", gn_json_real(raw / (double)stats->packed_bytes));
    if (is_lossless(s)) return line;
    json_object_set_new(line, "bound_exp", json_integer(s->bound_exp));
    json_object_set_new(line, "bound", gn_json_real(ldexp(1, -s->bound_exp)));
    json_object_set_new(line, "max_error", gn_json_real(n > 0 ? stats->max_error : NAN));
    json_object_set_new(line, "rms_error", gn_json_real(sqrt(stats->sum_error_squares / n)));
    json_object_set_new(line, "mean_error", gn_json_real(stats->sum_error / n));
    json_object_set_new(line, "magnitude_kept", gn_json_real(stats->sum_magnitudes / r->input.sum_magnitudes));
    json_object_set_new(line, "above_bound", gn_json_count(stats->above_bound));
    json_object_set_new(line, "above_bound_share", gn_json_real((double)stats->above_bound / n));
    if (s->kind == GN_RATIO_RIVAL) return line;
    const gn_tally *tally = &stats->tally;
    const uint64_t payload = gn_tally_payload_bytes(tally);
    json_object_set_new(line, "kernel", json_string(gn_codec_kernel_name(&s->codec)));
    json_object_set_new(line, "payload_bytes", gn_json_count(payload));
    json_object_set_new(line, "payload_ratio", gn_json_real(raw / (double)payload));
    if (has_classes(s))
        json_object_set_new(line, "classes",
                            shares_json(class_names, tally->classes, GN_CLASS_COUNT, "groups", tally->groups));
    else
        json_object_set_new(line, "tags", shares_json(tag_names, tally->tags, 4, "values", tally->values));
    return line;
}

json_t *gn_ratio_json(const gn_ratio_result *r, const gn_ratio_subject *subjects, size_t count)
{
    const gn_ratio_input *in = &r->input;
    const double n = finite_values(r);
    json_t *lines = json_array(), *entropies = json_array();
    for (size_t i = 0; i < count; i++) {
        if (subjects[i].kind == GN_RATIO_ENTROPY)
            json_array_append_new(entropies, entropy_json(r, &subjects[i], &r->stats[i]));
        else if (!is_left_out(r, &subjects[i]))
            json_array_append_new(lines, subject_json(r, &subjects[i], &r->stats[i]));
    }
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "name", gn_json_name(r->name), "values",
                     gn_json_count(in->values), "bytes", gn_json_count(in->values * sizeof(float)), "zeros",
                     gn_json_count(in->zeros), "not_finite", gn_json_count(in->not_finite), "rms",
                     gn_json_real(sqrt(in->sum_squares / n)), "largest", gn_json_real(n > 0 ? in->largest : NAN),
                     "entropy", entropies, "results", lines);
}
