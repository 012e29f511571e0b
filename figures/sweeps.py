# SPDX-License-Identifier: Apache-2.0
"""A sweep of `gradnic sim net` as a plot: the first key across, the other ones as lines."""
import plots
from model import Plot

FIELDS = {
    "seconds": "time of a job, s",
    "slowest_seconds": "time of the slowest job, s",
    "exchange_seconds": "time of a job's sums, s",
    "goodput_bit_s": "values of a worker, bit/s",
    "utilisation": "share of a worker's link",
    "sent": "packets of workers",
    "resent": "packets sent again",
    "queries": "questions",
    "window_cuts": "windows cut",
    "results": "sums",
    "collisions": "collisions",
    "evictions": "chunks that lost their slot",
    "to_ps": "contributions to the parameter server",
    "packets": "packets on links",
    "bytes": "bytes on links",
    "lost": "packets lost",
    "dropped": "packets dropped",
    "marked": "packets marked",
}
LOG_FROM = 16  # the largest value over the smallest one


def number(text):
    try:
        return float(text)
    except ValueError:
        return None


def draw(rows, field, *keys):
    """Where a seed is a key, too, its runs are one point: their mean."""
    keys = [key for key in keys if key != "seed"] or ["seed"]
    across, lines = keys[0], keys[1:]
    places = list(dict.fromkeys(row[across] for row in rows))
    found = {}
    for row in rows:
        name = ", ".join(f"{key} {row[key]}" for key in lines)
        found.setdefault(name, {}).setdefault(row[across], []).append(float(row[field]))
    numbers = [number(place) for place in places]
    series = {name: [sum(at[place]) / len(at[place]) for place in places] for name, at in found.items()}
    if None in numbers:
        return plots.draw(Plot("bars", places, series, across, FIELDS[field]))
    order = sorted(range(len(places)), key=lambda i: numbers[i])
    series = {name: [values[i] for i in order] for name, values in series.items()}
    x = [numbers[i] for i in order]
    return plots.draw(Plot("lines", x, series, across, FIELDS[field], log_x=x[0] > 0 and x[-1] >= LOG_FROM * x[0]))
