# SPDX-License-Identifier: Apache-2.0
"""Draws diagrams as SVG: boxes, arrows, words.

Sizes are pixels of a picture that is 720 wide. Words of 17 can still be read on a phone, where the
picture has half of that.
"""

import html

from theme import style_sheet

WIDTH = 720


def document(width, height, title, description, parts, style=""):
    """A picture as SVG: what it is in words, its style, its ground, its parts."""
    words = {name: html.escape(text, quote=False) for name, text in (("title", title), ("desc", description))}
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="{width}"'
            f' height="{height}" viewBox="0 0 {width} {height}" role="img" aria-labelledby="title desc">',
            *(f'<{name} id="{name}">{text}</{name}>' for name, text in words.items()),
            f"<style>{style_sheet(style)}</style>",
            f'<rect class="f-page" width="{width}" height="{height}" rx="8"/>',
            *parts,
            "</svg>\n",
        ]
    )


def number(value):
    """A coordinate, without digits that nobody sees."""
    return f"{value:.1f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


class Picture:
    """One picture. Things that are drawn later lie above."""

    def __init__(self, height, title, description, width=WIDTH):
        self.width, self.height = width, height
        self.title, self.description = title, description
        self.parts, self.markers = [], set()

    def add(self, tag, classes="", text=None, **attributes):
        """One element. An underscore in an attribute's name stands for a hyphen."""
        if classes:
            attributes = {"class": classes, **attributes}
        inner = "".join(
            f' {name.replace("_", "-")}="{html.escape(number(value))}"'
            for name, value in attributes.items()
            if value is not None
        )
        self.parts.append(f"<{tag}{inner}/>" if text is None else f"<{tag}{inner}>{text}</{tag}>")

    def rect(self, x, y, width, height, fill=None, stroke=None, radius=6, dash=None, line=1.5):
        """A box; without colours it is empty."""
        self.add(
            "rect",
            f"{'f-' + fill if fill else ''} {'s-' + stroke if stroke else ''}".strip(),
            x=x,
            y=y,
            width=width,
            height=height,
            rx=radius or None,
            fill=None if fill else "none",
            stroke_width=line if stroke else None,
            stroke_dasharray=dash,
        )

    def text(self, x, y, words, size=17, role="ink", anchor="start", bold=False, mono=False, italic=False):
        """One line of words; y is their base line. A `piece` in backquotes has the fixed font."""
        classes = f"f-{role}" + (" bold" if bold else "") + (" mono" if mono else "")
        pieces = html.escape(words, quote=False).split("`")
        inner = "".join(f'<tspan class="mono">{piece}</tspan>' if i % 2 else piece for i, piece in enumerate(pieces))
        self.add(
            "text",
            classes,
            inner,
            x=x,
            y=y,
            font_size=size,
            text_anchor=None if anchor == "start" else anchor,
            font_style="italic" if italic else None,
        )

    def lines(self, x, y, rows, size=17, step=None, **style):
        """Several lines of words, one below the other."""
        for i, words in enumerate(rows):
            self.text(x, y + i * (step or size * 1.3), words, size, **style)

    def box(
        self,
        x,
        y,
        width,
        height,
        rows,
        fill="panel",
        stroke="rule",
        size=17,
        role="ink",
        dash=None,
        radius=6,
        first_bold=True,
    ):
        """A box with lines of words in its middle; the first is bold, the others are smaller."""
        self.rect(x, y, width, height, fill, stroke, radius, dash)
        sizes = [size] + [size - 2] * (len(rows) - 1)
        heights = [s * 1.3 for s in sizes]
        at = y + (height - sum(heights)) / 2
        for i, words in enumerate(rows):
            self.text(
                x + width / 2,
                at + heights[i] * 0.77,
                words,
                sizes[i],
                role if i == 0 else "quiet",
                "middle",
                bold=first_bold and i == 0,
            )
            at += heights[i]

    def line(self, x1, y1, x2, y2, stroke="ink", width=2, dash=None):
        """A straight line."""
        self.add("line", f"s-{stroke}", x1=x1, y1=y1, x2=x2, y2=y2, stroke_width=width, stroke_dasharray=dash)

    def arrow(self, points, stroke="ink", width=2, dash=None, both=False, end=True):
        """A line through points, or a path in SVG's words, with a head at its end."""
        path = points if isinstance(points, str) else "M" + "L".join(f"{number(x)} {number(y)}" for x, y in points)
        self.markers.add(stroke)
        head = f"url(#head-{stroke})"
        self.add(
            "path",
            f"s-{stroke}",
            d=path,
            fill="none",
            stroke_width=width,
            stroke_dasharray=dash,
            stroke_linejoin="round",
            marker_end=head if end else None,
            marker_start=head if both else None,
        )

    def svg(self):
        """The whole picture."""
        head = (
            '<marker id="head-{0}" viewBox="0 0 10 10" refX="8.5" refY="5" markerWidth="11" markerHeight="11"'
            ' markerUnits="userSpaceOnUse" orient="auto-start-reverse">'
            '<path class="f-{0}" d="M0 0.8L10 5L0 9.2L2.2 5z"/></marker>'
        )
        return document(
            self.width,
            self.height,
            self.title,
            self.description,
            ["<defs>" + "".join(head.format(role) for role in sorted(self.markers)) + "</defs>", *self.parts],
        )
