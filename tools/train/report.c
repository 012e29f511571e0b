// SPDX-License-Identifier: Apache-2.0
#include "report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/kit/codec_options.h"
#include "tools/kit/json.h"
#include "tools/kit/units.h"

/// The number of the network's parameters.
static size_t parameters_of(const gn_report *report)
{
    return gn_mlp_parameters(&report->trainer->mlp);
}

void gn_report_print_start(const gn_report *report, FILE *stream)
{
    const gn_train_options *o = report->options;
    const gn_train_settings *s = &o->settings;
    const gn_mlp *mlp = &report->trainer->mlp;
    const gn_digits *train = &report->trainer->data->train;
    fprintf(stream, "network ");
    for (unsigned l = 0; l <= mlp->layers; l++) fprintf(stream, "%s%zu", l ? "-" : "", mlp->width[l]);
    fprintf(stream, ", %zu parameters, %s of gradient\n", parameters_of(report),
            gn_human_bytes(parameters_of(report) * sizeof(float)).s);
    fprintf(stream, "data    %zu images of %zux%zu", train->count, train->columns, train->rows);
    if (s->copies) fprintf(stream, " and %u copies of each", s->copies);
    fprintf(stream, ", %zu test images\n", report->trainer->data->test.count);
    fprintf(stream, "workers %d x batches of %u, %s, ", report->trainer->size, s->batch,
            gn_comm_options_algorithm(&o->comm));
    if (report->baseline)
        fprintf(stream, "baseline %s", o->baseline.name);
    else if (o->comm.compress)
        fprintf(stream, "%s %s", gn_comm_options_profile(&o->comm), gn_human_bound(o->comm.codec.bound_exp).s);
    else
        fprintf(stream, "no compression");
    fprintf(stream, "%s%s%s%s", s->feedback || o->baseline.feedback ? ", error feedback" : "",
            o->comm.scale == GN_SCALE_AUTO ? ", automatic scale" : "", s->overlap ? ", overlapped" : "",
            s->nic_in_process                       ? ", in-process NICs"
            : o->comm.offload == GN_OFFLOAD_LIBRARY ? ", by the ranks"
            : o->comm.offload == GN_OFFLOAD_NIC     ? ", by NICs"
                                                    : "");
    if (s->link_bits) fprintf(stream, " at %s", gn_human_bits((double)s->link_bits).s);
    fprintf(stream, "\n\n%5s %7s %8s %9s %9s %9s\n", "epoch", "step", "seconds", "loss", "test loss", "accuracy");
    fflush(stream);
}

gn_status gn_report_add(gn_report *report, const gn_checkpoint *checkpoint)
{
    if (report->checkpoints == report->capacity) {
        const size_t capacity = report->capacity ? 2 * report->capacity : 16;
        gn_checkpoint *grown = realloc(report->checkpoint, capacity * sizeof *grown);
        if (!grown) return GN_NO_MEMORY;
        report->checkpoint = grown;
        report->capacity = capacity;
    }
    report->checkpoint[report->checkpoints++] = *checkpoint;
    return GN_OK;
}

void gn_report_print_checkpoint(const gn_report *report, FILE *stream)
{
    const gn_checkpoint *c = &report->checkpoint[report->checkpoints - 1];
    fprintf(stream, "%5" PRIu64 " %7" PRIu64 " %8.1f %9.4f %9.4f %7.2f %%\n", c->epoch, c->step, c->seconds, c->loss,
            c->test_loss, 100 * c->accuracy);
    fflush(stream);
}

/// Sums over all workers.
static gn_in_process_stats nic_total(const gn_report *report)
{
    gn_in_process_stats sum = {0};
    for (int r = 0; r < report->trainer->size; r++) {
        const gn_in_process_stats *s = &report->rank[r].nic;
        sum.packets += s->packets;
        sum.payload_bytes += s->payload_bytes;
        sum.wire_payload_bytes += s->wire_payload_bytes;
        sum.wire_bytes += s->wire_bytes;
    }
    return sum;
}

static double ratio_of(const gn_in_process_stats *nic)
{
    return nic->wire_payload_bytes ? (double)nic->payload_bytes / (double)nic->wire_payload_bytes : 0;
}

/// What the ranks have sent, where they compress themselves.
static void print_saved(const gn_report *report, FILE *stream)
{
    uint64_t values = 0, wire = 0;
    if (report->options->comm.offload != GN_OFFLOAD_LIBRARY || report->options->comm.algorithm == GN_SWITCH) return;
    for (int r = 0; r < report->trainer->size; r++) {
        values += report->rank[r].comm.sent_bytes;
        wire += report->rank[r].comm.sent_wire_bytes;
    }
    if (wire)
        fprintf(stream, "compressed by the ranks: %s of values, %s sent, ratio %.2f\n", gn_human_bytes(values).s,
                gn_human_bytes(wire).s, (double)values / (double)wire);
}

void gn_report_print_end(const gn_report *report, FILE *stream)
{
    fprintf(stream, "\ntime per step at rank 0, mean in ms:\n");
    double sum = 0;
    for (gn_phase p = 0; p < GN_PHASES; p++) fprintf(stream, "%12s", gn_phase_name(p));
    fprintf(stream, "%12s\n", "all");
    for (gn_phase p = 0; p < GN_PHASES; p++) {
        fprintf(stream, "%12.3f", 1e3 * report->rank[0].mean[p]);
        sum += report->rank[0].mean[p];
    }
    fprintf(stream, "%12.3f\nexchange, median: %.3f ms per step\n", 1e3 * sum, 1e3 * report->rank[0].exchange_median);
    if (report->options->settings.nic_in_process) {
        const gn_in_process_stats nic = nic_total(report);
        fprintf(stream, "in-process NICs: %s of payload, %s on the wire, ratio %.2f\n",
                gn_human_bytes(nic.payload_bytes).s, gn_human_bytes(nic.wire_payload_bytes).s, ratio_of(&nic));
    }
    print_saved(report, stream);
    if (report->baseline && gn_baseline_ratio(report->baseline) > 0)
        fprintf(stream, "baseline %s: ratio %.2f\n", report->options->baseline.name,
                gn_baseline_ratio(report->baseline));
    fprintf(stream, "replicas identical: yes (%d workers, %016" PRIx64 ")\n", report->trainer->size,
            report->checkpoint[report->checkpoints - 1].weights);
    fflush(stream);
}

static json_t *json_hash(uint64_t hash)
{
    char text[24];
    snprintf(text, sizeof text, "%016" PRIx64, hash);
    return json_string(text);
}

/// A binary32 setting as it was on the command line: 0.1, not 0.10000000149011612.
static json_t *json_setting(float value)
{
    char text[32];
    snprintf(text, sizeof text, "%.7g", (double)value);
    return gn_json_real(strtod(text, NULL));
}

static json_t *json_options(const gn_report *report)
{
    const gn_train_options *o = report->options;
    json_t *options = json_pack(
        "{s:i, s:s, s:s, s:o, s:b, s:s, s:b, s:i, s:s, s:s, s:o, s:o, s:i, s:i, s:i, s:i, s:o, s:o, s:o}", "ranks",
        report->trainer->size, "algorithm", gn_comm_options_algorithm(&o->comm), "profile",
        gn_comm_options_profile(&o->comm), "bound_exp",
        o->comm.compress ? json_integer(o->comm.codec.bound_exp) : json_null(), "feedback",
        o->settings.feedback || o->baseline.feedback, "scale", o->comm.scale == GN_SCALE_AUTO ? "auto" : "none",
        "overlap", o->settings.overlap, "tos", (int)o->comm.tos, "offload", gn_offload_name(o->comm.offload), "nic",
        o->settings.nic_in_process ? "in-process" : "none", "rate_bits", gn_json_count(o->settings.link_bits), "seed",
        gn_json_count(o->settings.seed), "layers", (int)o->settings.layers, "hidden", (int)o->settings.hidden, "batch",
        (int)o->settings.batch, "copies", (int)o->settings.copies, "learning_rate", json_setting(o->settings.sgd.rate),
        "momentum", json_setting(o->settings.sgd.momentum), "weight_decay", json_setting(o->settings.sgd.weight_decay));
    json_object_set_new(options, "network", json_string(o->settings.convolutional ? "cnn" : "hdc"));
    if (o->settings.convolutional) json_object_del(options, "hidden");
    if (report->baseline) json_object_set_new(options, "baseline", json_string(o->baseline.name));
    if (gn_comm_options_grouped(&o->comm))
        json_object_set_new(options, "groups", json_string(o->comm.groups ? o->comm.groups : "host"));
    return options;
}

static json_t *json_checkpoints(const gn_report *report)
{
    json_t *list = json_array();
    for (size_t i = 0; i < report->checkpoints; i++) {
        const gn_checkpoint *c = &report->checkpoint[i];
        json_array_append_new(list, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "epoch", gn_json_count(c->epoch),
                                              "step", gn_json_count(c->step), "seconds", gn_json_real(c->seconds),
                                              "loss", gn_json_real(c->loss), "test_loss", gn_json_real(c->test_loss),
                                              "accuracy", gn_json_real(c->accuracy), "weights", json_hash(c->weights)));
    }
    return list;
}

static json_t *json_nic(const gn_in_process_stats *s)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "packets", gn_json_count(s->packets), "payload_bytes",
                     gn_json_count(s->payload_bytes), "wire_payload_bytes", gn_json_count(s->wire_payload_bytes),
                     "wire_bytes", gn_json_count(s->wire_bytes), "ratio", gn_json_real(ratio_of(s)));
}

static json_t *json_rank(const gn_report *report, int rank)
{
    const gn_rank_result *r = &report->rank[rank];
    json_t *mean = json_object();
    for (gn_phase p = 0; p < GN_PHASES; p++)
        json_object_set_new(mean, gn_phase_name(p), gn_json_real(1e3 * r->mean[p]));
    json_t *object = json_pack(
        "{s:i, s:o, s:o, s:o, s:o, s:o, s:o}", "rank", rank, "exchange_ms_median",
        gn_json_real(1e3 * r->exchange_median), "step_ms_mean", mean, "sent_bytes", gn_json_count(r->comm.sent_bytes),
        "received_bytes", gn_json_count(r->comm.received_bytes), "sent_wire_bytes",
        gn_json_count(r->comm.sent_wire_bytes), "received_wire_bytes", gn_json_count(r->comm.received_wire_bytes));
    if (gn_comm_options_grouped(&report->options->comm)) {
        json_object_set_new(object, "group_sent_bytes", gn_json_count(r->comm.group_sent_bytes));
        json_object_set_new(object, "group_received_bytes", gn_json_count(r->comm.group_received_bytes));
        json_object_set_new(object, "group_sent_wire_bytes", gn_json_count(r->comm.group_sent_wire_bytes));
        json_object_set_new(object, "group_received_wire_bytes", gn_json_count(r->comm.group_received_wire_bytes));
    }
    if (report->options->settings.nic_in_process) json_object_set_new(object, "nic", json_nic(&r->nic));
    return object;
}

json_t *gn_report_json(const gn_report *report)
{
    json_t *ranks = json_array();
    for (int r = 0; r < report->trainer->size; r++) json_array_append_new(ranks, json_rank(report, r));
    const gn_checkpoint *last = &report->checkpoint[report->checkpoints - 1];
    json_t *root = json_pack(
        "{s:s, s:o, s:o, s:{s:o, s:o, s:i, s:i}, s:o, s:o, s:o, s:o, s:b, s:o, s:o, s:o}", "command", "train",
        "environment", gn_json_environment(), "options", json_options(report), "data", "train_images",
        gn_json_count(report->trainer->data->train.count), "test_images",
        gn_json_count(report->trainer->data->test.count), "rows", (int)report->trainer->data->train.rows, "columns",
        (int)report->trainer->data->train.columns, "parameters", gn_json_count(parameters_of(report)), "steps",
        gn_json_count(report->trainer->steps), "accuracy", gn_json_real(last->accuracy), "exchange_ms_median",
        gn_json_real(1e3 * report->rank[0].exchange_median), "replicas_identical", 1, "weights",
        json_hash(last->weights), "checkpoints", json_checkpoints(report), "ranks", ranks);
    if (root && report->baseline && gn_baseline_ratio(report->baseline) > 0)
        json_object_set_new(root, "baseline_ratio", gn_json_real(gn_baseline_ratio(report->baseline)));
    if (root && report->options->settings.nic_in_process) {
        const gn_in_process_stats nic = nic_total(report);
        json_object_set_new(root, "nic", json_nic(&nic));
    }
    return root;
}

void gn_report_free(gn_report *report)
{
    free(report->checkpoint);
    free(report->rank);
    memset(report, 0, sizeof *report);
}
