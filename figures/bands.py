# SPDX-License-Identifier: Apache-2.0
"""Compares figures with what they were (bands.json): simulated and computed ones have to be the
same, measured ones in a band, and times in a wide one."""
import json
import pathlib

import outputs
from model import MEASURED

PATH = pathlib.Path(__file__).resolve().parent / "bands.json"
EXACT = 1e-9  # relative; the last digits are the C library's
MEASURED_BAND = 0.15  # relative; processors sum in other orders
MEASURED_LEAST = 0.02  # of shares in percent, however small they are

TIMED_FACTOR = 5  # other machines, and other things that run beside


def band_of(figure, row):
    if row.timed:
        return [row.value / TIMED_FACTOR, row.value * TIMED_FACTOR]
    if figure.kind == MEASURED and not row.exact:
        margin = max(abs(row.value) * MEASURED_BAND, MEASURED_LEAST if row.unit == "%" else 0)
    else:
        margin = abs(row.value) * EXACT
    return [row.value - margin, row.value + margin]


def keep(made):
    """Stores what was made now. Other figures keep what they had."""
    bands = json.loads(PATH.read_text(encoding="utf-8")) if PATH.exists() else {}
    for figure, result in made:
        if result is None:
            continue
        bands[figure.name] = {row.what: band_of(figure, row) for row in result.rows}
    lines = [f' {json.dumps(name)}: {{\n' + ",\n".join(f"  {json.dumps(what)}: {json.dumps(band)}"
                                                       for what, band in rows.items()) + "\n }"
             for name, rows in sorted(bands.items())]
    outputs.write(PATH, "{\n" + ",\n".join(lines) + "\n}\n", True)


def compare(made):
    """Says what is outside its band, and how many numbers of each figure are as before.
    @return the exit status"""
    bands = json.loads(PATH.read_text(encoding="utf-8"))
    all_, wrong, figures = 0, 0, 0
    for figure, result in made:
        if result is None:
            continue
        rows, said = bands.get(figure.name, {}), []
        for row in result.rows:
            low, high = rows.get(row.what, (None, None))
            if low is None or not low <= row.value <= high:
                said.append(f"{row.what} is {row.value!r}, " +
                            ("and has no band" if low is None else f"outside {low!r} to {high!r}"))
        said += [f"{what} is missing" for what in rows if what not in {row.what for row in result.rows}]
        count = len(rows.keys() | {row.what for row in result.rows})
        for one in said:
            print(f"{figure.name}: {one}")
        print(f"{figure.name}: {count - len(said)} of {count} numbers as before")
        all_, wrong, figures = all_ + count, wrong + len(said), figures + 1
    print(f"{all_ - wrong} of {all_} numbers of {figures} figures as before")
    return 1 if wrong else 0
