# SPDX-License-Identifier: Apache-2.0
"""Tables in Markdown, and how figures are written in them."""

import textwrap

from results import origin

COLUMNS = 100


def digits(value, count=2, unit=""):
    """With so many digits behind the point; nothing where there is no figure."""
    return "" if value is None else f"{value:.{count}f}{unit}"


def times(value, count=2):
    """'1.46x'."""
    return "" if value is None else f"{value:.{count}f}x"


def percent(value, count=0):
    """A share in percent; what is not nothing is never written as 0."""
    if value is None:
        return ""
    least = 10**-count
    return f"<{least:g} %" if 0 < value * 100 < least / 2 else f"{value * 100:.{count}f} %"


def speed(bytes_per_second):
    """GB/s, with two digits that count."""
    value = bytes_per_second / 1e9
    return f"{value:.1f}" if value >= 2 else f"{value:.2f}"


def whole(value):
    """A large number, in groups of three."""
    return "" if value is None else f"{round(value):,}".replace(",", " ")


def bold(words):
    return f"**{words}**"


def table(header, rows, result, about=""):
    """A table, and below it what it shows and where its figures are from."""
    lines = ["| " + " | ".join(header) + " |", "|" + " --- |" * len(header)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    caption = " ".join(filter(None, [about, *origin(result)]))
    return lines + [""] + textwrap.wrap(caption, COLUMNS, break_long_words=False, break_on_hyphens=False)


def claims_table(claims, result, about=""):
    """What was wanted, and what was found."""
    rows = []
    for claim in claims:
        value, least, most = claim.get("value"), claim.get("least"), claim.get("most")
        wanted = f"at least {least:g}" if least is not None else f"at most {most:g}" if most is not None else ""
        met = (
            "not measured"
            if value is None
            else (
                ""
                if not wanted
                else "yes" if (least is None or value >= least) and (most is None or value <= most) else "**no**"
            )
        )
        rows.append((claim["name"], wanted, digits(value), met))
    return table(("claim", "wanted", "found", "holds"), rows, result, about)
