// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_REPORT_SVG_H
#define GRADNIC_TOOLS_REPORT_SVG_H
/// The few SVG elements that the report's plots are made of. Colours are classes of the page's style sheet, which knows a light
/// and a dark scheme. Lengths are pixels of the drawing's own coordinates; text is escaped here.

#include <stddef.h>
#include <stdio.h>

typedef enum gn_anchor { GN_ANCHOR_START, GN_ANCHOR_MIDDLE, GN_ANCHOR_END } gn_anchor;

/// `title` is what a screen reader says.
void gn_svg_begin(FILE *out, double width, double height, const char *title);
void gn_svg_end(FILE *out);

/// A bar; `hint` (may be NULL) shows when the pointer rests on it. Nothing is drawn for one without area.
void gn_svg_bar(FILE *out, double x, double y, double width, double height, const char *class, const char *hint);
void gn_svg_line(FILE *out, double x1, double y1, double x2, double y2, const char *class);
void gn_svg_text(FILE *out, double x, double y, gn_anchor anchor, const char *class, const char *format, ...)
    __attribute__((format(printf, 6, 7)));

/// A line through `count` points.
void gn_svg_path(FILE *out, const double *x, const double *y, size_t count, const char *class);

/// A legend from left to right: squares of class "c0", "c1", ... with their names.
void gn_svg_legend(FILE *out, double x, double y, const char *const *names, size_t count);

/// A step of 1, 2 or 5 times a power of ten that divides `range` into at most `parts` parts.
double gn_axis_step(double range, int parts);

/// Text for HTML and SVG: &, <, > and quotes become entities.
void gn_html_escape(FILE *out, const char *text);

#endif
