// SPDX-License-Identifier: Apache-2.0
// nccl-tests' table, and JSON.
#include <stdio.h>

#include "allreduce.h"
#include "tools/kit/codec_options.h"
#include "tools/kit/json.h"
#include "tools/kit/units.h"

/// GB/s as in nccl-tests: powers of 1000.
static double algbw(const gn_allreduce_result *r)
{
    return r->median > 0 ? (double)r->bytes / r->median * 1e-9 : 0;
}
static double busbw(const gn_allreduce_result *r, int size)
{
    return algbw(r) * 2 * (size - 1) / size;
}

static void print_header(const gn_allreduce_report *report, const gn_allreduce_model *model)
{
    const gn_allreduce_options *o = report->options;
    printf("# gradnic bench allreduce: %d ranks, %s, profile %s", report->size, gn_comm_options_algorithm(&o->comm),
           gn_comm_options_profile(&o->comm));
    if (o->comm.compress)
        printf(" %s%s", gn_human_bound(o->comm.codec.bound_exp).s, o->quantise ? "" : ", not quantised");
    printf(", offload %s, ToS 0x%02x, %s, %u iterations after %u\n", gn_offload_name(o->comm.offload), o->comm.tos,
           o->in_place ? "in place" : "out of place", o->iterations, o->warmup);
    printf("# model: delay %s, rate %s, addition %s\n", gn_human_duration(model->latency * 1e9).s,
           model->byte > 0 ? gn_human_bits(8 / model->byte).s : "-",
           model->add > 0 ? gn_human_rate(1 / model->add).s : "-");
    printf("#\n# %12s %12s %8s %8s %12s %8s %8s %8s %10s %12s\n", "size", "count", "type", "redop", "time", "algbw",
           "busbw", "#wrong", "identical", "model");
    printf("# %12s %12s %8s %8s %12s %8s %8s %8s %10s %12s\n", "(B)", "(elements)", "", "", "(us)", "(GB/s)", "(GB/s)",
           "", "", "(us)");
    fflush(stdout);
}

gn_status gn_allreduce_report_start(gn_allreduce_report *report, const gn_allreduce_model *model, gn_error *error)
{
    const gn_allreduce_options *o = report->options;
    gn_status wrong = gn_allreduce_data_check_output(o->input, report->size, o->result.json_file, error);
    if (!wrong) wrong = gn_result_open(&report->file, &o->result, NULL, NULL, 0, error);
    if (wrong) return wrong;
    report->rows = json_array();
    if (!o->result.json) print_header(report, model);
    return GN_OK;
}

static json_t *row_json(const gn_allreduce_report *report, const gn_allreduce_result *r)
{
    json_t *row = json_pack(
        "{s:o, s:o, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "size",
        gn_json_count(r->bytes), "count", gn_json_count(r->count), "type",
        gn_allreduce_type_name(report->options->type), "redop", gn_allreduce_op_name(report->options->op), "time_us",
        gn_json_real(r->median * 1e6), "time_min_us", gn_json_real(r->least * 1e6), "time_max_us",
        gn_json_real(r->most * 1e6), "algbw_gbs", gn_json_real(algbw(r)), "busbw_gbs",
        gn_json_real(busbw(r, report->size)), "wrong", report->options->check ? gn_json_count(r->wrong) : json_null(),
        "identical", r->identical, "model_us", gn_json_real(r->model * 1e6), "quantise_us",
        gn_json_real(r->quantise * 1e6), "reduce_us", gn_json_real(r->reduce * 1e6), "wait_us",
        gn_json_real(r->wait * 1e6), "sent_bytes", gn_json_real(r->sent), "received_bytes", gn_json_real(r->received),
        "sent_wire_bytes", gn_json_real(r->sent_wire), "received_wire_bytes", gn_json_real(r->received_wire));
    if (gn_comm_options_grouped(&report->options->comm)) {
        json_object_set_new(row, "group_sent_bytes", gn_json_real(r->group_sent));
        json_object_set_new(row, "group_sent_wire_bytes", gn_json_real(r->group_sent_wire));
    }
    if (report->options->comm.algorithm != GN_SWITCH) return row;
    json_object_set_new(row, "resent_packets", gn_json_real(r->resent));
    json_object_set_new(row, "late_packets", gn_json_real(r->late));
    json_object_set_new(row, "fallback_chunks", gn_json_real(r->fallback));
    return row;
}

void gn_allreduce_report_row(gn_allreduce_report *report, const gn_allreduce_result *r)
{
    json_array_append_new(report->rows, row_json(report, r));
    if (report->options->result.json) return;
    char wrong[24] = "N/A";
    if (report->options->check) snprintf(wrong, sizeof wrong, "%llu", (unsigned long long)r->wrong);
    printf("  %12llu %12llu %8s %8s %12.1f %8.3f %8.3f %8s %10s %12.1f\n", (unsigned long long)r->bytes,
           (unsigned long long)r->count, gn_allreduce_type_name(report->options->type),
           gn_allreduce_op_name(report->options->op), r->median * 1e6, algbw(r), busbw(r, report->size), wrong,
           !report->options->check ? "N/A"
           : r->identical          ? "yes"
                                   : "NO",
           r->model * 1e6);
    fflush(stdout);
}

/// What the ranks' own compression gained in the last row.
static void print_ratio(const gn_allreduce_report *report)
{
    const json_t *row = json_array_get(report->rows, json_array_size(report->rows) - 1);
    const gn_comm_options *o = &report->options->comm;
    const double values = json_number_value(json_object_get(row, "sent_bytes"));
    const double wire = json_number_value(json_object_get(row, "sent_wire_bytes"));
    if (o->offload != GN_OFFLOAD_LIBRARY || o->algorithm == GN_SWITCH || !(wire > 0)) return;
    printf("#\n# compressed by the ranks, at the largest size: a rank sent %s for %s of values, ratio %.2f\n",
           gn_human_bytes((uint64_t)wire).s, gn_human_bytes((uint64_t)values).s, values / wire);
}

gn_status gn_allreduce_report_end(gn_allreduce_report *report, const gn_allreduce_model *model, gn_error *error)
{
    const gn_allreduce_options *o = report->options;
    if (!o->result.json) print_ratio(report);
    json_t *exchange = json_pack("{s:i, s:s, s:b, s:s, s:o, s:b, s:s, s:i, s:s, s:b, s:o, s:i, s:i}", "ranks",
                                 report->size, "algorithm", gn_comm_options_algorithm(&o->comm), "aggregator_weights",
                                 o->weights, "profile", gn_comm_options_profile(&o->comm), "bound_exp",
                                 o->comm.compress ? json_integer(o->comm.codec.bound_exp) : json_null(), "quantise",
                                 o->quantise, "scale", o->comm.scale == GN_SCALE_AUTO ? "auto" : "none", "tos",
                                 (int)o->comm.tos, "offload", gn_offload_name(o->comm.offload), "in_place", o->in_place,
                                 "input", o->input ? gn_json_name(o->input) : json_null(), "iterations",
                                 (int)o->iterations, "warmup", (int)o->warmup);
    if (gn_comm_options_grouped(&o->comm))
        json_object_set_new(exchange, "groups", json_string(o->comm.groups ? o->comm.groups : "host"));
    json_t *parameters = json_pack("{s:o, s:o, s:o}", "latency_s", gn_json_real(model->latency), "byte_s",
                                   gn_json_real(model->byte), "add_s", gn_json_real(model->add));
    json_t *all = json_pack("{s:o, s:o, s:o, s:O}", "environment", gn_json_environment(), "exchange", exchange, "model",
                            parameters, "results", report->rows);
    return gn_result_write(&report->file, &o->result, all, stdout, error);
}
