// SPDX-License-Identifier: Apache-2.0
#include "pcap_filter.h"

#include <argp.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/commands.h"
#include "tools/files/file_options.h"
#include "tools/kit/cli.h"
#include "tools/kit/codec_options.h"
#include "tools/kit/option_values.h"
#include "tools/kit/output.h"
#include "tools/kit/parse.h"
#include "tools/kit/progress.h"

typedef struct options {
    gn_pcap_filter filter;
    const char *rule_texts[GN_RULES_MAX];
    size_t rule_texts_count;
    gn_profile profile;
    int bound_exp;
    bool direction;
    const char *tx_only;  // an option for tx only that was given
    gn_file_options file;
} options;

enum { OPTION_DIRECTION = 256, OPTION_RULE, OPTION_CUT, OPTION_MTU, OPTION_TRUNCATED };

static const struct argp_option option_table[] = {
    {"direction", OPTION_DIRECTION, "tx|rx", 0, "host to wire (compress), or wire to host (restore); required", 0},
    {"rule", OPTION_RULE, "RULE", 0,
     "which packets are compressed, and how: tos=0x28,proto=tcp,port=5000-5010,profile=dense,k=10,head=0, each part "
     "optional; up to 16, the first that matches wins. With rx only tos matters (default tos=0x28)",
     0},
    {"profile", 'p', "PROFILE", 0, "dense, lattice or paper, for rules that name none (default dense)", 0},
    {"bound", 'k', "K", 0, "error bound 2^-K of rules that name none (default 10)", 0},
    {"cut", OPTION_CUT, "mtu|fill", 0,
     "how segments become packets: cut to the host's MTU before they are compressed, or to what fills the wire's MTU "
     "afterwards (default mtu)",
     0},
    {"mtu", OPTION_MTU, "BYTES", 0, "MTU of the wire; the host's is 8 less (default 1508)", 0},
    {"truncated", OPTION_TRUNCATED, 0, 0,
     "take the whole packets of a truncated capture, as of a tcpdump that was killed", 0},
    GN_FORCE_OPTION(0),
    GN_QUIET_OPTION(0),
    GN_JSON_OPTION(0),
    {0},
};

static void set_direction(struct argp_state *state, int key, options *o, const char *arg)
{
    o->filter.receive = gn_option_choice(state, key, arg, "tx", "rx");
    o->direction = true;
}

static void set_cut(struct argp_state *state, int key, options *o, const char *arg)
{
    o->filter.cut = gn_option_choice(state, key, arg, "mtu", "fill") ? GN_CUT_FILL : GN_CUT_MTU;
    o->tx_only = "--cut";
}

static void set_mtu(struct argp_state *state, int key, options *o, const char *arg)
{
    o->filter.wire_mtu = gn_option_number(state, key, arg, 576, GN_PACKET_MAX);
    o->tx_only = "--mtu";
}

static void add_rule(struct argp_state *state, options *o, const char *arg)
{
    if (o->rule_texts_count == GN_RULES_MAX) argp_error(state, "more than %d rules", GN_RULES_MAX);
    o->rule_texts[o->rule_texts_count++] = arg;
}

/// Reads rules last, because only then their defaults are known.
static void finish(struct argp_state *state, options *o)
{
    gn_error error;
    if (!o->direction) argp_error(state, "--direction tx or --direction rx is needed");
    if (!o->file.output) argp_error(state, "two files are needed: the capture to read and the one to write");
    if (o->filter.receive && o->tx_only)
        argp_error(state, "%s has no effect with --direction rx: the packets tell how they were compressed",
                   o->tx_only);
    gn_option_check(state, 'k', gn_check_bound(o->profile, o->bound_exp, &error), &error);
    gn_rule defaults = gn_rule_default();
    gn_codec_init(&defaults.codec, o->profile, o->bound_exp);
    for (size_t i = 0; i < o->rule_texts_count; i++) {
        gn_error why;
        if (gn_rule_parse(o->rule_texts[i], &defaults, &o->filter.rules[i], &why))
            argp_error(state, "--rule %s: %s", o->rule_texts[i], why.text);
    }
    o->filter.rule_count = o->rule_texts_count;
    if (!o->rule_texts_count) o->filter.rules[o->filter.rule_count++] = defaults;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    options *o = state->input;
    switch (key) {
    case OPTION_DIRECTION:
        set_direction(state, key, o, arg);
        break;
    case OPTION_RULE:
        add_rule(state, o, arg);
        break;
    case 'p':
        o->profile = gn_option_profile(state, key, arg);
        o->tx_only = "-p";
        break;
    case 'k':
        o->bound_exp = gn_option_bound(state, key, arg);
        o->tx_only = "-k";
        break;
    case OPTION_CUT:
        set_cut(state, key, o, arg);
        break;
    case OPTION_MTU:
        set_mtu(state, key, o, arg);
        break;
    case OPTION_TRUNCATED:
        o->filter.file_truncated_allowed = true;
        break;
    case ARGP_KEY_ARG:
        if (state->arg_num > 1) argp_error(state, "more than two files");
        *(state->arg_num ? &o->file.output : &o->file.input) = arg;
        break;
    case ARGP_KEY_END:
        finish(state, o);
        break;
    default:
        return gn_file_option_parse(key, arg, state, &o->file) ? 0 : ARGP_ERR_UNKNOWN;
    }
    return 0;
}

/// A capture with timestamps in nanoseconds, so that none is rounded.
static gn_status open_capture(const char *path, FILE **file, pcap_t **capture, gn_error *error)
{
    *file = strcmp(path, "-") ? fopen(path, "rb") : stdin;
    if (!*file) return gn_fail(error, GN_IO, "%s: %s", path, strerror(errno));
    gn_output_spare(fileno(*file));
    char why[PCAP_ERRBUF_SIZE];
    *capture = pcap_fopen_offline_with_tstamp_precision(*file, PCAP_TSTAMP_PRECISION_NANO, why);
    if (!*capture) {
        if (*file != stdin) fclose(*file);
        return gn_fail(error, GN_CORRUPT, "%s: %s", path, why);
    }
    int link = pcap_datalink(*capture);
    if (link == DLT_EN10MB || link == DLT_RAW) return GN_OK;
    const char *name = pcap_datalink_val_to_name(link);
    gn_status wrong = gn_fail(error, GN_UNSUPPORTED,
                              "%s: link type %s is neither EN10MB nor RAW; capture on one device (tcpdump -i eth0)",
                              path, name ? name : "(unknown)");
    pcap_close(*capture);
    return wrong;
}

typedef struct progress_context {
    gn_progress progress;
    FILE *file;
} progress_context;

static void show_progress(void *context)
{
    progress_context *p = context;
    long at = ftell(p->file);
    if (at > 0) gn_progress_update(&p->progress, (uint64_t)at);
}

/// Begins the capture that is written. Packets may become longer than the input's limit, and who
/// reads a capture cuts what is beyond its limit.
static gn_status start_capture(pcap_t *in, gn_output *output, pcap_dumper_t **out, gn_error *error)
{
    pcap_t *limits =
        pcap_open_dead_with_tstamp_precision(pcap_datalink(in), GN_PCAP_FRAME_MAX, PCAP_TSTAMP_PRECISION_NANO);
    if (!limits) return gn_fail_memory(error);
    *out = pcap_dump_fopen(limits, gn_output_stream(output));
    if (!*out) gn_fail(error, GN_IO, "%s: %s", gn_output_name(output), pcap_geterr(limits));
    pcap_close(limits);
    return *out ? GN_OK : error->status;
}

static gn_status filter_capture(options *o, pcap_t *in, FILE *file, gn_output *output, gn_error *error)
{
    pcap_dumper_t *out;
    gn_status wrong = start_capture(in, output, &out, error);
    if (wrong) return wrong;
    struct stat st;
    progress_context p = {.file = file};
    gn_progress_start(&p.progress, o->file.input, fstat(fileno(file), &st) ? 0 : (uint64_t)st.st_size,
                      o->file.result.quiet);
    wrong = gn_pcap_filter_run(&o->filter, in, out, show_progress, &p, error);
    gn_progress_end(&p.progress);
    if (wrong) return gn_fail(error, wrong, "%s: %s", o->file.input, error->text);
    int failure = o->filter.write_failure;
    if (!failure && pcap_dump_flush(out)) failure = errno;
    if (failure) return gn_fail(error, GN_IO, "%s: %s", gn_output_name(output), strerror(failure));
    // No pcap_dump_close(): it would close the stream, which belongs to the output. The
    // pcap_dumper_t is the stream.
    return GN_OK;
}

/// Writes all packets of `in` to OUT. Closes `in`.
static gn_status filter_to_output(options *o, pcap_t *in, FILE *file, gn_error *error)
{
    gn_output *output = NULL;
    gn_status wrong = gn_output_check_inputs(o->file.output, &o->file.input, 1, error);
    if (!wrong) wrong = gn_output_open(&output, o->file.output, o->file.result.force, error);
    if (!wrong) wrong = filter_capture(o, in, file, output, error);
    pcap_close(in);
    if (!wrong) return gn_output_commit(output, error);
    gn_output_abort(output);
    return wrong;
}

static gn_status run(options *o, const char *program, gn_error *error)
{
    FILE *file = NULL, *stream = strcmp(o->file.output, "-") ? stdout : stderr;
    pcap_t *in = NULL;
    gn_result_file json;
    const gn_result_options *result = &o->file.result;
    gn_status wrong = open_capture(o->file.input, &file, &in, error);
    if (wrong) return wrong;
    wrong = gn_result_open(&json, result, o->file.output, &o->file.input, 1, error);
    if (wrong) {
        pcap_close(in);
        return wrong;
    }
    wrong = filter_to_output(o, in, file, error);
    if (!wrong && o->filter.file_truncated && !result->quiet)
        gn_cli_note(program, "%s: ends within a packet; it was left out", o->file.input);
    if (!wrong && !result->quiet && !result->json) wrong = gn_pcap_print(&o->filter, stream, error);
    if (!wrong) return gn_result_write(&json, result, gn_pcap_json(&o->filter), stream, error);
    gn_result_abort(&json);
    return wrong;
}

int gn_command_pcap(int argc, char **argv)
{
    gn_error error;
    static const struct argp argp = {
        .options = option_table,
        .parser = parse_option,
        .args_doc = "IN.pcap OUT.pcap",
        .doc =
            "Does to every packet of a capture what the NIC does to it. Packets of both directions of the capture are "
            "treated alike. They keep their order and their timestamps. The result is a capture with the same link "
            "type (EN10MB or RAW).\v"
            "Prints the NIC's counters. '-' is standard input or output; with '-' as output the counters go to "
            "standard error."};
    options o = {.profile = GN_DENSE, .bound_exp = 10, .filter = {.cut = GN_CUT_MTU, .wire_mtu = 1508}};
    gn_argp_parse(&argp, argc, argv, &o);
    gn_status wrong = run(&o, argv[0], &error);
    if (wrong) gn_cli_error(argv[0], "%s", error.text);
    gn_pcap_filter_free(&o.filter);
    return wrong ? GN_EXIT_FAILED : GN_EXIT_OK;
}
