// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_REPORT_PLOTS_H
#define GRADNIC_TOOLS_REPORT_PLOTS_H
/// The report's plots, each one inline SVG.

#include <stdio.h>

#include "gradients.h"
#include "runs.h"

/// Where the time of a step goes: a bar for each run.
void gn_plot_time(FILE *out, const gn_runs *runs);

/// Test accuracy over steps: a line for each run.
void gn_plot_accuracy(FILE *out, const gn_runs *runs);

/// Share of values by magnitude, a bar for each power of two.
void gn_plot_histogram(FILE *out, const gn_gradients *gradients);

/// What is kept of values (gn_codec_widths()), a bar for each profile and bound.
void gn_plot_widths(FILE *out, const gn_gradients *gradients);

#endif
