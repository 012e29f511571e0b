# SPDX-License-Identifier: Apache-2.0
"""Parameters of the NIC that an install into a shell can set, and what each may be."""
import argparse
import re

VALUES = {"LANES": (1, 2, 4), "PROFILES": range(1, 8), "RULES": range(1, 13), "BUFFER_LOG2": range(4, 12),
          "FLOWS_LOG2": (0, *range(3, 17))}


def setting(text, values=None):
    """NAME=VALUE of an option, as a pair. VALUE is None where it is empty, which means the default.
    `values`: what each may be, if not VALUES."""
    values = values or VALUES
    name, equals, value = text.partition("=")
    if name not in values:
        raise argparse.ArgumentTypeError(f"'{text}': the parameters are {', '.join(values)}")
    if equals and not value:
        return name, None
    if not value.isascii() or not value.isdigit() or int(value) not in values[name]:
        raise argparse.ArgumentTypeError(f"'{text}': {name} may be {', '.join(map(str, values[name]))}")
    return name, int(value)


def given(file, module, values=None):
    """Those that an install before has given the instance of a module in a file."""
    values = values or VALUES
    text = file.read_text(errors="replace") if file.is_file() else ""
    found = re.search(rf"^{module} #\((.*?)^\)", text, re.S | re.M)
    pairs = re.findall(r"\.(\w+) *\((\d+)\)", found[1]) if found else []
    return {name: int(value) for name, value in pairs if name in values and int(value) in values[name]}


def renewed(before, chosen):
    """Those of an install before with those chosen now. None takes one away."""
    return {name: value for name, value in {**before, **chosen}.items() if value is not None}


def in_words(settings):
    return "".join(f", {name} {value}" for name, value in settings.items())
