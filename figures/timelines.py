# SPDX-License-Identifier: Apache-2.0
"""The time line of `gradnic sim net` as a picture: a job's chunks, or a slot from host to host."""
import numpy as np
import plots
from plots import plt, style

# What is drawn together: name, what it is in the CSV, colour.
KINDS = [
    ("values", ("values",), 4),
    ("sent again", ("values again",), 1),
    ("sum or part to the server", ("to the server",), 5),
    ("result", ("result",), 7),
    ("exponent", ("exponent", "agreed exponent"), 3),
    ("question or reminder", ("question", "reminder", "no integers"), 8),
]
LOST = ("lost", "dropped")
HELD = style.LIGHT["part0"]
LEAST_ROWS, MOST_ROWS = 4, 40  # heights of pictures, in lanes


def us(text):
    return float(text) * 1e-3


def is_switch(name):
    return name.startswith("switch")


def is_worker(name):
    return name.startswith("worker")


def holds(rows):
    """When chunks are in a switch: from the first contribution that arrives to the first sum that
    leaves. (switch, chunk): [begin, end]"""
    found = {}
    for row in sorted(rows, key=lambda row: float(row["arrived_ns"] or row["sent_ns"])):
        if row["what"].startswith("values") and is_switch(row["to"]) and row["fate"] not in LOST:
            found.setdefault((row["to"], int(row["chunk"])), [us(row["arrived_ns"]), None])
    for row in sorted(rows, key=lambda row: float(row["sent_ns"])):
        hold = found.get((row["from"], int(row["chunk"])))
        if hold and hold[1] is None and us(row["sent_ns"]) >= hold[0]:
            hold[1] = us(row["sent_ns"])
    return {key: hold for key, hold in found.items() if hold[1] is not None}


def order(name):
    """Workers first, then switches from the leaves up, then the server."""
    kind, _, number = name.partition(" ")
    return ["worker", "switch", "server"].index(kind), [int(n) for n in number.split(".") if n]


def finished(figure, axes):
    if axes.get_legend_handles_labels()[0]:
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncol=4, fontsize=10, handlelength=1.4)
    axes.set_xlabel("microseconds")
    return plots.as_svg(figure)


def job(rows):
    """Time across, chunks upwards. Values are drawn where workers send them, results where they
    arrive."""
    figure, axes = plt.subplots(figsize=(9.6, 5.4))
    held = holds(rows)
    axes.hlines([chunk for _, chunk in held], [begin for begin, _ in held.values()], [end for _, end in held.values()],
                color=HELD, linewidth=2, label="in a switch")
    for name, words, colour in KINDS:
        down = name == "result"
        own = [row for row in rows if row["what"] in words and row["fate"] not in LOST and
               (is_worker(row["to"]) if down else not is_switch(row["from"]) or row["to"] == "server")]
        axes.plot([us(row["arrived_ns" if down else "sent_ns"]) for row in own], [int(row["chunk"]) for row in own],
                  style.MARKERS[0], markersize=3, color=style.LINES[colour], label=name if own else None)
    lost = [row for row in rows if row["fate"] in LOST]
    axes.plot([us(row["sent_ns"]) for row in lost], [int(row["chunk"]) for row in lost], "x", markersize=6,
              color=style.LIGHT["ink"], label="lost" if lost else None, zorder=5)
    axes.set_ylabel("chunk")
    return finished(figure, axes)


def slot(rows):
    """Time across, a lane for each host and switch, a line for each packet."""
    lanes = {name: i for i, name in
             enumerate(sorted({row[end] for row in rows for end in ("from", "to")}, key=order))}
    height = min(max(len(lanes), LEAST_ROWS), MOST_ROWS)
    figure, axes = plt.subplots(figsize=(9.6, 1.6 + 0.45 * height))
    held = holds(rows)
    axes.hlines([lanes[switch] for switch, _ in held], [begin for begin, _ in held.values()],
                [end for _, end in held.values()], color=HELD, linewidth=7, label="in a switch" if held else None)
    for name, words, colour in KINDS:
        own = [row for row in rows if row["what"] in words and row["fate"] not in LOST]
        # One line with gaps: it is drawn once.
        x = [at for row in own for at in (us(row["sent_ns"]), us(row["arrived_ns"]), np.nan)]
        y = [at for row in own for at in (lanes[row["from"]], lanes[row["to"]], np.nan)]
        axes.plot(x, y, color=style.LINES[colour], linewidth=1.2, label=name if own else None)
    lost = [row for row in rows if row["fate"] in LOST]
    axes.plot([us(row["sent_ns"]) for row in lost], [lanes[row["from"]] for row in lost], "x", markersize=7,
              color=style.LIGHT["ink"], label="lost" if lost else None, zorder=5)
    axes.set_yticks(range(len(lanes)), list(lanes))
    axes.invert_yaxis()
    return finished(figure, axes)
