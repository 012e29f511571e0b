// SPDX-License-Identifier: Apache-2.0
#include "ratio_report.h"

#include <math.h>
#include <string.h>

#include "table.h"

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
    return s->is_peer && s->choice.peer->lossless;
}

static const char *subject_name(const gn_ratio_subject *s)
{
    return s->is_peer ? s->choice.name : gn_profile_name(s->codec.profile);
}

/// "4.40", or "-" for what has no value (an empty file).
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
    // What is not nothing must not look like nothing, nor all but one like all.
    if (share > 0 && share < 0.005) return (gn_text){"<0.01"};
    if (share < 100 && share > 99.995) return (gn_text){">99.99"};
    snprintf(text.s, sizeof text.s, "%.2f", share);
    return text;
}

/// A lossy peer's figures mean nothing where NaN or infinity was among the values: a block of zfp has one exponent.
static bool is_left_out(const gn_ratio_result *r, const gn_ratio_subject *s)
{
    return s->is_peer && !is_lossless(s) && r->input.not_finite;
}

static void add_row(gn_table *table, const gn_ratio_result *r, const gn_ratio_subject *s, const gn_ratio_stats *stats)
{
    const double raw = raw_bytes(r), n = finite_values(r), values = (double)r->input.values;
    const gn_text ratio = number("%.2f", raw / (double)stats->packed_bytes);
    if (is_lossless(s)) {
        gn_table_row(table, "%s|-|%s||||||0", subject_name(s), ratio.s);
        return;
    }
    const gn_text max_error = number("%.3g", n > 0 ? stats->max_error : NAN),
                  rms = number("%.3g", sqrt(stats->sum_error_squares / n)),
                  bias = number("%+.1e", stats->sum_error / n),
                  kept = percent(stats->sum_magnitudes, r->input.sum_magnitudes),
                  above = percent((double)stats->above_bound, n);
    if (s->is_peer) {
        gn_table_row(table, "%s|%s|%s||||||%s|%s|%s|%s|%s", subject_name(s), gn_human_bound(s->bound_exp).s, ratio.s,
                     max_error.s, rms.s, bias.s, kept.s, above.s);
        return;
    }
    const uint64_t *tags = stats->tally.tags;
    gn_table_row(table, "%s|%s|%s|%s|%s|%s|%s|%s|%s|%s|%s|%s|%s", subject_name(s), gn_human_bound(s->bound_exp).s,
                 ratio.s, number("%.2f", raw / (double)gn_ratio_payload_bytes(stats)).s,
                 percent((double)tags[0], values).s, percent((double)tags[1], values).s,
                 percent((double)tags[2], values).s, percent((double)tags[3], values).s, max_error.s, rms.s, bias.s,
                 kept.s, above.s);
}

int gn_ratio_print(const gn_ratio_result *r, const gn_ratio_subject *subjects, size_t count, FILE *stream)
{
    const gn_ratio_input *in = &r->input;
    const double n = finite_values(r);
    const bool colour = gn_cli_colour(stream);
    fprintf(stream, "%s%s%s: %s values, %s; rms %s, largest %s, zeros %s %%", colour ? "\033[1m" : "", r->name,
            colour ? "\033[0m" : "", gn_human_count(in->values).s, gn_human_bytes(in->values * sizeof(float)).s,
            number("%.3g", sqrt(in->sum_squares / n)).s, number("%.3g", n > 0 ? in->largest : NAN).s,
            percent((double)in->zeros, (double)in->values).s);
    if (in->not_finite) fprintf(stream, ", not finite %s", gn_human_count(in->not_finite).s);
    fputc('\n', stream);
    const gn_ratio_subject *left_out = NULL;
    gn_table *table = gn_table_new(
        "<codec|bound|ratio|payload|0 bit %|8 bit %|16 bit %|32 bit %|max error|rms error|mean error|kept %|above %");
    for (size_t i = 0; i < count; i++) {
        if (is_left_out(r, &subjects[i]))
            left_out = &subjects[i];
        else
            add_row(table, r, &subjects[i], &r->stats[i]);
    }
    const int failed = gn_table_print(table, stream);
    if (left_out) fprintf(stream, "%s: data not finite, left out\n", subject_name(left_out));
    return failed;
}

static json_t *tags_json(const gn_tally *tally)
{
    static const char *const names[] = {"0", "8", "16", "32"};
    json_t *tags = json_object();
    for (unsigned t = 0; t < 4; t++)
        json_object_set_new(tags, names[t],
                            json_pack("{s:o, s:o}", "values", gn_json_count(tally->tags[t]), "share",
                                      gn_json_real((double)tally->tags[t] / (double)tally->values)));
    return tags;
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
    if (s->is_peer) return line;
    const uint64_t payload = gn_ratio_payload_bytes(stats);
    json_object_set_new(line, "kernel", json_string(gn_codec_kernel_name(&s->codec)));
    json_object_set_new(line, "payload_bytes", gn_json_count(payload));
    json_object_set_new(line, "payload_ratio", gn_json_real(raw / (double)payload));
    json_object_set_new(line, "tags", tags_json(&stats->tally));
    return line;
}

json_t *gn_ratio_json(const gn_ratio_result *r, const gn_ratio_subject *subjects, size_t count)
{
    const gn_ratio_input *in = &r->input;
    const double n = finite_values(r);
    json_t *lines = json_array();
    for (size_t i = 0; i < count; i++)
        if (!is_left_out(r, &subjects[i])) json_array_append_new(lines, subject_json(r, &subjects[i], &r->stats[i]));
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "name", r->name, "values", gn_json_count(in->values),
                     "bytes", gn_json_count(in->values * sizeof(float)), "zeros", gn_json_count(in->zeros),
                     "not_finite", gn_json_count(in->not_finite), "rms", gn_json_real(sqrt(in->sum_squares / n)),
                     "largest", gn_json_real(n > 0 ? in->largest : NAN), "results", lines);
}
