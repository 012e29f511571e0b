// SPDX-License-Identifier: Apache-2.0
// gradnic report: a demo's results and gradients as one HTML page that needs nothing else.
#include "tools/commands.h"

#include <argp.h>
#include <inttypes.h>
#include <string.h>

#include "plots.h"
#include "svg.h"
#include "tools/kit/cli.h"
#include "tools/kit/output.h"
#include "tools/kit/units.h"

typedef struct options {
    const char *results, *output;
    char **gradients;
    int gradient_count;
    bool force;
} options;

static const char doc[] =
    "Writes the results of `gradnic demo` and the gradients that it dumped as one self-contained HTML page: a table of "
    "the variants, time of a step by phase, accuracy over steps, histogram of the gradients, bits kept by profile and "
    "bound.";

static const struct argp_option table[] = {
    {"output", 'o', "FILE", 0, "the page (report.html); - is standard output", 0},
    {"force", 'f', 0, 0, "overwrite an existing file", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    options *o = state->input;
    switch (key) {
    case 'o':
        o->output = arg;
        return 0;
    case 'f':
        o->force = true;
        return 0;
    case ARGP_KEY_ARG:
        if (o->results) return ARGP_ERR_UNKNOWN;  // all others at once, below
        o->results = arg;
        return 0;
    case ARGP_KEY_ARGS:
        o->gradients = state->argv + state->next;
        o->gradient_count = state->argc - state->next;
        return 0;
    case ARGP_KEY_END:
        if (!o->results) argp_error(state, "no result file (demo.json)");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const char style[] =
    ":root{color-scheme:light "
    "dark;--paper:#fff;--ink:#1c2330;--soft:#5b6472;--grid:#d9dde3;--c0:#2f6fb3;--c1:#d98c1f;--c2:#2e8b6f;"
    "--c3:#b8455c;--c4:#8a8f98}"
    "@media(prefers-color-scheme:dark){:root{--paper:#14181f;--ink:#e6e9ee;--soft:#9aa4b2;--grid:#2d3542;--c0:#6aa7e8;-"
    "-c1:#f0b457;"
    "--c2:#5cc4a1;--c3:#ec7c90;--c4:#7d8592}}"
    "body{background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,sans-serif;max-width:940px;margin:2rem "
    "auto;padding:0 1rem}"
    "h1{font-size:1.6rem;margin-bottom:0}h2{font-size:1.15rem;margin-top:2.2rem}p{color:var(--soft)}"
    ".scroll{overflow-x:auto}table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums;font-size:."
    "92rem}"
    "th,td{text-align:right;padding:.35rem .6rem;border-bottom:1px solid var(--grid);white-space:nowrap}"
    "th:first-child,td:first-child{text-align:left}th{color:var(--soft);font-weight:600}"
    "svg{width:100%;height:auto;font-family:system-ui,sans-serif}"
    ".label{font-size:12.5px;fill:var(--ink)}.value{font-size:12px;fill:var(--ink)}.tick{font-size:11.5px;fill:var(--"
    "soft)}"
    ".grid{stroke:var(--grid);stroke-width:1}.mark{stroke:var(--c3);stroke-width:1.5;stroke-dasharray:5 4}"
    ".c0{fill:var(--c0)}.c1{fill:var(--c1)}.c2{fill:var(--c2)}.c3{fill:var(--c3)}.c4{fill:var(--c4)}"
    ".curve{fill:none;stroke-width:2.2}.l0{stroke:var(--c0)}.l1{stroke:var(--c1)}.l2{stroke:var(--c2)}.l3{stroke:var(--"
    "c3)}"
    ".l4{stroke:var(--c4)}.l1,.l3{stroke-dasharray:7 4}";

static void write_cell(FILE *out, const char *text)
{
    fputs("<td>", out);
    gn_html_escape(out, text);
    fputs("</td>", out);
}

static void write_table(FILE *out, const gn_runs *runs)
{
    fputs("<div class=\"scroll\"><table><thead><tr><th>variant</th><th>accuracy</th><th>exchange</th><th>on the wire"
          "</th><th>ratio</th><th>speed-up</th><th>replicas identical</th></tr></thead><tbody>\n",
          out);
    for (size_t i = 0; i < runs->count; i++) {
        const gn_run *r = &runs->run[i];
        char text[64];
        fputs("<tr>", out);
        write_cell(out, r->name);
        snprintf(text, sizeof text, "%.2f %%", 100 * r->accuracy);
        write_cell(out, text);
        snprintf(text, sizeof text, "%.1f ms", r->exchange_ms);
        write_cell(out, text);
        snprintf(text, sizeof text, "%.2f MB", r->wire_bytes / 1e6);
        write_cell(out, text);
        snprintf(text, sizeof text, "%.2f", r->ratio);
        write_cell(out, text);
        snprintf(text, sizeof text, "%.2fx", r->speedup);
        write_cell(out, text);
        write_cell(out, r->identical ? "yes" : "NO");
        fputs("</tr>\n", out);
    }
    fputs("</tbody></table></div>\n", out);
}

static void write_head(FILE *out, const gn_runs *runs)
{
    fputs("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
          "content=\"width=device-width,initial-scale=1\"><title>gradnic demo</title>\n<style>",
          out);
    fputs(style, out);
    fprintf(
        out,
        "</style></head><body>\n<h1>Training over compressing NICs</h1>\n<p>%d workers, %d steps, %.0f parameters, ",
        runs->workers, runs->steps, runs->parameters);
    if (runs->rate_bits > 0) fprintf(out, "links of %s, ", gn_human_bits(runs->rate_bits).s);
    gn_html_escape(out, runs->mode);
    fputs(". ", out);
    gn_html_escape(out, runs->date);
    fprintf(out, ", %d cores of ", runs->cores);
    gn_html_escape(out, runs->cpu);
    fputs(", Linux ", out);
    gn_html_escape(out, runs->kernel);
    fputs(".</p>\n", out);
}

static double share_below(const gn_gradients *g, int exponent)
{
    uint64_t below = g->zeros;
    for (int i = 0; i < GN_BINADES && GN_BINADE_LOW + i < exponent; i++) below += g->binade[i];
    return g->values ? (double)below / (double)g->values : 0;
}

static void write_gradients(FILE *out, const gn_gradients *gradients, int files)
{
    fprintf(out,
            "<h2>How large gradients are</h2>\n<p>Share of %s values, from %d files, by magnitude. %.1f %% are smaller "
            "than "
            "2^-10, %.1f %% smaller than 2^-6.</p>\n",
            gn_human_count(gradients->values).s, files, 100 * share_below(gradients, -10),
            100 * share_below(gradients, -6));
    gn_plot_histogram(out, gradients);
    fputs("<h2>What the profiles make of them</h2>\n<p>Bits that are kept of each value (dense: of each value of a "
          "group), and the "
          "ratio with all bytes counted.</p>\n",
          out);
    gn_plot_widths(out, gradients);
}

static void write_page(FILE *out, const gn_runs *runs, const gn_gradients *gradients, int files)
{
    write_head(out, runs);
    write_table(out, runs);
    fputs("<p>Exchange: median time per step at rank 0. On the wire: per step, all workers' IP packets. Ratio: "
          "gradient bytes before over after "
          "the NIC. Speed-up: of the exchange, over the last row.</p>\n<h2>Where a step's time goes</h2>\n",
          out);
    gn_plot_time(out, runs);
    fputs("<h2>What is learned</h2>\n", out);
    gn_plot_accuracy(out, runs);
    if (files) write_gradients(out, gradients, files);
    fputs("</body></html>\n", out);
}

static gn_status report(const options *o, gn_error *error)
{
    gn_runs runs;
    gn_gradients gradients;
    gn_status wrong = gn_output_check_inputs(o->output, &o->results, 1, error);
    if (!wrong)
        wrong = gn_output_check_inputs(o->output, (const char *const *)o->gradients, (size_t)o->gradient_count, error);
    if (!wrong) wrong = gn_runs_load(&runs, o->results, error);
    if (wrong) return wrong;
    wrong = gn_gradients_init(&gradients, error);
    for (int i = 0; i < o->gradient_count && !wrong; i++) wrong = gn_gradients_add(&gradients, o->gradients[i], error);
    gn_output *output;
    if (!wrong) wrong = gn_output_open(&output, o->output, o->force, error);
    if (!wrong) {
        write_page(gn_output_stream(output), &runs, &gradients, o->gradient_count);
        wrong = gn_output_commit(output, error);
    }
    gn_runs_free(&runs);
    return wrong;
}

int gn_command_report(int argc, char **argv)
{
    gn_error error;
    options o = {.output = "report.html"};
    argp_parse(&(const struct argp){table, parse, "DEMO.json [GRADIENT...]", doc, 0, 0, 0}, argc, argv, 0, 0, &o);
    gn_status wrong = report(&o, &error);
    if (wrong) gn_cli_error(argv[0], "%s", error.text);
    return wrong ? GN_EXIT_FAILED : GN_EXIT_OK;
}
