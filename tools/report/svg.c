// SPDX-License-Identifier: Apache-2.0
#include "svg.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

void gn_html_escape(FILE *out, const char *text)
{
    for (; *text; text++) {
        switch (*text) {
        case '&':
            fputs("&amp;", out);
            break;
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        default:
            fputc(*text, out);
        }
    }
}

void gn_svg_begin(FILE *out, double width, double height, const char *title)
{
    fprintf(out, "<svg viewBox=\"0 0 %g %g\" role=\"img\" aria-label=\"", width, height);
    gn_html_escape(out, title);
    fputs("\">\n", out);
}

void gn_svg_end(FILE *out)
{
    fputs("</svg>\n", out);
}

void gn_svg_bar(FILE *out, double x, double y, double width, double height, const char *class, const char *hint)
{
    if (!(width > 0) || !(height > 0)) return;
    fprintf(out, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" class=\"%s\">", x, y, width, height,
            class);
    if (hint) {
        fputs("<title>", out);
        gn_html_escape(out, hint);
        fputs("</title>", out);
    }
    fputs("</rect>\n", out);
}

void gn_svg_line(FILE *out, double x1, double y1, double x2, double y2, const char *class)
{
    fprintf(out, "<line x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\" class=\"%s\"/>\n", x1, y1, x2, y2, class);
}

void gn_svg_text(FILE *out, double x, double y, gn_anchor anchor, const char *class, const char *format, ...)
{
    static const char *const anchors[] = {"start", "middle", "end"};
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(out, "<text x=\"%.2f\" y=\"%.2f\" text-anchor=\"%s\" class=\"%s\">", x, y, anchors[anchor], class);
    gn_html_escape(out, text);
    fputs("</text>\n", out);
}

void gn_svg_path(FILE *out, const double *x, const double *y, size_t count, const char *class)
{
    if (!count) return;
    fprintf(out, "<path class=\"%s\" d=\"", class);
    for (size_t i = 0; i < count; i++) fprintf(out, "%c%.2f %.2f", i ? 'L' : 'M', x[i], y[i]);
    fputs("\"/>\n", out);
}

void gn_svg_legend(FILE *out, double x, double y, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char class[24];
        snprintf(class, sizeof class, "c%zu", i);
        gn_svg_bar(out, x, y - 9, 10, 10, class, NULL);
        gn_svg_text(out, x + 15, y, GN_ANCHOR_START, "label", "%s", names[i]);
        x += 34 + 6.6 * (double)strlen(names[i]);
    }
}

double gn_axis_step(double range, int parts)
{
    if (!(range > 0)) return 1;
    const double raw = range / parts, power = pow(10, floor(log10(raw)));
    for (int i = 0; i < 3; i++) {
        const double step = power * (double[]){1, 2, 5}[i];
        if (step >= raw * 0.999) return step;
    }
    return 10 * power;
}
