// SPDX-License-Identifier: Apache-2.0
#include "plots.h"

#include <math.h>
#include <stdio.h>

#include "svg.h"

enum { WIDTH = 760, LEFT = 210, RIGHT = 90, BAR = 20, PITCH = 32, TOP = 34, BOTTOM = 34 };
static const double inner = WIDTH - LEFT - RIGHT;

/// Vertical grid lines with their numbers below, from 0 to `range`.
static void draw_ticks(FILE *out, double range, double bottom, const char *unit)
{
    const double step = gn_axis_step(range, 6);
    for (int i = 0; i <= (int)(range / step + 1e-9); i++) {
        const double t = step * i, x = LEFT + inner * t / range;
        gn_svg_line(out, x, TOP - 6, x, bottom, "grid");
        gn_svg_text(out, x, bottom + 16, GN_ANCHOR_MIDDLE, "tick", "%g", t);
    }
    gn_svg_text(out, WIDTH - RIGHT + 14, bottom + 16, GN_ANCHOR_START, "tick", "%s", unit);
}

static double total_ms(const gn_run *run)
{
    double sum = 0;
    for (int p = 0; p < GN_RUN_PARTS; p++) sum += run->part_ms[p];
    return sum;
}

void gn_plot_time(FILE *out, const gn_runs *runs)
{
    const double bottom = TOP + PITCH * (double)runs->count;
    double range = 0;
    for (size_t r = 0; r < runs->count; r++) range = fmax(range, total_ms(&runs->run[r]));
    if (!(range > 0)) range = 1;
    gn_svg_begin(out, WIDTH, bottom + BOTTOM, "Time of a step by phase, one bar for each variant");
    gn_svg_legend(out, LEFT, 14, gn_run_part_names, GN_RUN_PARTS);
    draw_ticks(out, range, bottom, "ms");
    for (size_t r = 0; r < runs->count; r++) {
        const gn_run *run = &runs->run[r];
        const double y = TOP + PITCH * (double)r + (PITCH - BAR) / 2.0;
        double x = LEFT;
        gn_svg_text(out, LEFT - 10, y + 14, GN_ANCHOR_END, "label", "%s", run->name);
        for (int p = 0; p < GN_RUN_PARTS; p++) {
            char class[16], hint[96];
            snprintf(class, sizeof class, "c%d", p);
            snprintf(hint, sizeof hint, "%s: %.2f ms", gn_run_part_names[p], run->part_ms[p]);
            const double width = inner * run->part_ms[p] / range;
            gn_svg_bar(out, x, y, width, BAR, class, hint);
            x += width;
        }
        gn_svg_text(out, x + 8, y + 14, GN_ANCHOR_START, "value", "%.1f ms", total_ms(run));
    }
    gn_svg_end(out);
}

/// Lowest accuracy that is still drawn: what the first steps do is of no interest.
static double accuracy_floor(const gn_runs *runs)
{
    double lowest = 1;
    for (size_t r = 0; r < runs->count; r++)
        lowest = fmin(lowest, runs->run[r].point_accuracy[runs->run[r].points / 2]);
    return fmax(0, floor(lowest * 20 - 1) / 20);
}

void gn_plot_accuracy(FILE *out, const gn_runs *runs)
{
    enum { HEIGHT = 240, LEGEND = 20, AXIS = 60 };
    const double top = 14 + LEGEND * (double)runs->count, bottom = top + HEIGHT, width = WIDTH - AXIS - 20.0;
    const double low = accuracy_floor(runs), range = 1 - low, step = gn_axis_step(range, 5), steps = runs->steps;
    gn_svg_begin(out, WIDTH, bottom + BOTTOM,
                 "Accuracy on the test images over training steps, one line for each variant");
    for (int i = (int)ceil(low / step - 1e-9); i <= (int)(1 / step + 1e-9); i++) {
        const double a = step * i, y = bottom - HEIGHT * (a - low) / range;
        gn_svg_line(out, AXIS, y, AXIS + width, y, "grid");
        gn_svg_text(out, AXIS - 8, y + 4, GN_ANCHOR_END, "tick", "%g %%", round(1000 * a) / 10);
    }
    const double tick = gn_axis_step(steps, 8);
    for (int i = 0; i <= (int)(steps / tick + 1e-9); i++)
        gn_svg_text(out, AXIS + width * tick * i / steps, bottom + 16, GN_ANCHOR_MIDDLE, "tick", "%g", tick * i);
    for (size_t r = 0; r < runs->count; r++) {
        const gn_run *run = &runs->run[r];
        double x[GN_RUN_POINTS_MAX], y[GN_RUN_POINTS_MAX];
        for (size_t i = 0; i < run->points; i++) {
            x[i] = AXIS + width * run->point_step[i] / steps;
            y[i] = bottom - HEIGHT * (fmax(run->point_accuracy[i], low) - low) / range;
        }
        char class[16];
        snprintf(class, sizeof class, "curve l%zu", r % 5);
        gn_svg_path(out, x, y, run->points, class);
        const double row = 12 + LEGEND * (double)r;
        gn_svg_line(out, AXIS, row - 4, AXIS + 22, row - 4, class);
        gn_svg_text(out, AXIS + 30, row, GN_ANCHOR_START, "label", "%s: %.2f %%", run->name, 100 * run->accuracy);
    }
    gn_svg_end(out);
}

void gn_plot_histogram(FILE *out, const gn_gradients *gradients)
{
    enum { HEIGHT = 220, AXIS = 50, COLUMNS = GN_BINADES + 1 };
    const double top = 20, bottom = top + HEIGHT, pitch = (WIDTH - AXIS - 20.0) / COLUMNS;
    const double all = gradients->values ? (double)gradients->values : 1;
    double largest = (double)gradients->zeros;
    for (int i = 0; i < GN_BINADES; i++) largest = fmax(largest, (double)gradients->binade[i]);
    const double range = largest / all * 1.08 + 1e-12, step = gn_axis_step(100 * range, 5) / 100;
    gn_svg_begin(out, WIDTH, bottom + BOTTOM + 16, "Share of gradient values by magnitude");
    for (int i = 0; i <= (int)(range / step); i++) {
        const double s = step * i, y = bottom - HEIGHT * s / range;
        gn_svg_line(out, AXIS, y, WIDTH - 20, y, "grid");
        gn_svg_text(out, AXIS - 8, y + 4, GN_ANCHOR_END, "tick", "%g %%", round(1e4 * s) / 100);
    }
    for (int i = -1; i < GN_BINADES; i++) {
        const uint64_t count = i < 0 ? gradients->zeros : gradients->binade[i];
        const double x = AXIS + pitch * (i + 1), height = HEIGHT * (double)count / all / range;
        const int exponent = GN_BINADE_LOW + i;
        char hint[96];
        if (i < 0)
            snprintf(hint, sizeof hint, "zero: %.2f %%", 100 * (double)count / all);
        else
            snprintf(hint, sizeof hint, "2^%d to 2^%d: %.2f %%", exponent, exponent + 1, 100 * (double)count / all);
        gn_svg_bar(out, x + 1, bottom - height, pitch - 2, height, i < 0 ? "c4" : "c0", hint);
        if (i >= 0 && exponent % 4 == 0) gn_svg_text(out, x, bottom + 16, GN_ANCHOR_MIDDLE, "tick", "2^%d", exponent);
    }
    gn_svg_text(out, AXIS + pitch / 2, bottom + 32, GN_ANCHOR_MIDDLE, "tick", "zero");
    for (int k = 10; k >= 6; k -= 4) {
        const double x = AXIS + pitch * (1 - k - GN_BINADE_LOW);
        gn_svg_line(out, x, top - 8, x, bottom, "mark");
        gn_svg_text(out, x + 4, top - 2, GN_ANCHOR_START, "tick", "2^-%d", k);
    }
    gn_svg_end(out);
}

void gn_plot_widths(FILE *out, const gn_gradients *gradients)
{
    static const char *const names[] = {"0 bits", "up to 8", "up to 16", "32 bits"};
    const double bottom = TOP + PITCH * (double)gradients->codecs;
    gn_svg_begin(out, WIDTH, bottom + BOTTOM, "Bits kept of the values, by profile and bound");
    gn_svg_legend(out, LEFT, 14, names, GN_WIDTHS);
    draw_ticks(out, 100, bottom, "%");
    for (size_t i = 0; i < gradients->codecs; i++) {
        const gn_codec_tally *c = &gradients->codec[i];
        const double y = TOP + PITCH * (double)i + (PITCH - BAR) / 2.0;
        double x = LEFT, share[GN_WIDTHS];
        gn_codec_widths(c, share);
        gn_svg_text(out, LEFT - 10, y + 14, GN_ANCHOR_END, "label", "%s 2^-%d", gn_profile_name(c->codec.profile),
                    c->codec.bound_exp);
        for (int w = 0; w < GN_WIDTHS; w++) {
            char class[16], hint[96];
            snprintf(class, sizeof class, "c%d", w);
            snprintf(hint, sizeof hint, "%s: %.2f %%", names[w], 100 * share[w]);
            gn_svg_bar(out, x, y, inner * share[w], BAR, class, hint);
            x += inner * share[w];
        }
        const double bytes = c->tally.stream_bytes ? (double)c->tally.stream_bytes : 1;
        gn_svg_text(out, x + 8, y + 14, GN_ANCHOR_START, "value", "ratio %.1f", (double)c->tally.values * 4 / bytes);
    }
    gn_svg_end(out);
}
