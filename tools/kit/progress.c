// SPDX-License-Identifier: Apache-2.0
#include "progress.h"

#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "net/clock.h"
#include "net/escape.h"
#include "units.h"

static const uint64_t FIRST_NS = GN_SECOND, EVERY_NS = GN_SECOND / 10;
static atomic_bool line_on_screen;

void gn_progress_clear(void)
{
    if (atomic_exchange(&line_on_screen, false)) fputs("\r\033[K", stderr);
}

void gn_progress_start(gn_progress *progress, const char *what, uint64_t total, bool quiet)
{
    *progress = (gn_progress){.what = what, .total = total, .active = !quiet && isatty(STDERR_FILENO)};
    if (progress->active) progress->started = gn_now();
}

void gn_progress_start_units(gn_progress *progress, const char *what, const char *unit, uint64_t total, bool quiet)
{
    gn_progress_start(progress, what, total, quiet);
    progress->unit = unit;
}

static gn_text amount(const gn_progress *progress, uint64_t number)
{
    return progress->unit ? gn_human_count(number) : gn_human_bytes(number);
}

static gn_text speed(const gn_progress *progress, double rate)
{
    if (!progress->unit) return gn_human_rate(rate);
    gn_text text;
    snprintf(text.s, sizeof text.s, "%.3g %s/s", rate, progress->unit);
    return text;
}

void gn_progress_update(gn_progress *progress, uint64_t done)
{
    if (!progress->active) return;
    const uint64_t now = gn_now(), elapsed = now - progress->started;
    if (elapsed < FIRST_NS || now - progress->shown < EVERY_NS) return;
    progress->shown = now;

    const double rate = (double)done / ((double)elapsed / 1e9);
    char of[64] = "", left[64] = "", what[256];
    if (progress->total >= done && progress->total) {
        snprintf(of, sizeof of, " of %s (%.0f %%)", amount(progress, progress->total).s,
                 100.0 * (double)done / (double)progress->total);
        if (rate > 0)
            snprintf(left, sizeof left, ", %s left",
                     gn_human_duration((double)(progress->total - done) / rate * 1e9).s);
    }
    fprintf(stderr, "\r\033[K%s: %s%s%s%s, %s%s", gn_escape(progress->what, "", what, sizeof what),
            amount(progress, done).s, progress->unit ? " " : "", progress->unit ? progress->unit : "", of,
            speed(progress, rate).s, left);
    fflush(stderr);
    atomic_store(&line_on_screen, true);
}

void gn_progress_end(gn_progress *progress)
{
    if (progress->active) gn_progress_clear();
    progress->active = false;
}
