# SPDX-License-Identifier: Apache-2.0
"""What a figure is, and what comes out of it."""
import datetime
import statistics
from dataclasses import dataclass, field

# How a number comes about.
MEASURED = "measured"  # the real program, on this machine
SIMULATED = "simulated"  # the real switch, workers and parameter servers, on simulated links
COMPUTED = "computed"  # arithmetic
MISSING = "missing"


@dataclass
class Row:
    """A number of ours, and the published one beside it (published.json, by the row's name)."""
    what: str
    value: float
    unit: str = ""
    low: float = None  # over seeds
    high: float = None
    exact: bool = False  # arithmetic within a measured figure
    timed: bool = False  # it follows from times on this machine, which vary with what else it does


@dataclass
class Plot:
    """Lines over x, or bars for each of x."""
    kind: str  # "lines" or "bars"
    x: list
    series: dict  # name: values
    xlabel: str = ""
    ylabel: str = ""
    log_x: bool = False
    log_y: bool = False


@dataclass
class Result:
    rows: list
    plot: Plot
    parameters: dict
    why: str  # one or two sentences: why ours differ from the published ones
    seeds: list = field(default_factory=list)
    commands: list = field(default_factory=list)
    date: datetime.date = None  # of what was measured before; None: today


@dataclass
class Figure:
    name: str  # paper-figure
    number: str  # in the paper: "Fig. 8"
    title: str
    kind: str
    make: object = None  # called with a Run
    reason: str = ""  # of a figure that is missing
    checked: bool = False  # part of scripts/check

    @property
    def paper(self):
        return self.name.partition("-")[0]


def missing(name, number, title, reason):
    return Figure(name, number, title, MISSING, reason=reason)


def over_seeds(what, values, unit=""):
    """A row of the mean over seeds, with its spread."""
    return Row(what, sum(values) / len(values), unit, min(values), max(values))


def timed(what, values, unit=""):
    """A row of the median of measured times, or of what follows from them, with their spread."""
    return Row(what, statistics.median(values), unit, min(values), max(values), timed=True)
