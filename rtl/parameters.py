# SPDX-License-Identifier: Apache-2.0
"""Parameters of the NIC that an install into a shell can set, and what each may be."""
import argparse

VALUES = {"LANES": (1, 2, 4), "PROFILES": range(1, 8), "RULES": range(1, 13), "BUFFER_LOG2": range(4, 12),
          "FLOWS_LOG2": (0, *range(3, 17))}


def setting(text, values=None):
    """NAME=VALUE of an option, as a pair. `values`: what each may be, if not VALUES."""
    values = values or VALUES
    name, _, value = text.partition("=")
    if name not in values:
        raise argparse.ArgumentTypeError(f"'{text}': the parameters are {', '.join(values)}")
    if not value.isascii() or not value.isdigit() or int(value) not in values[name]:
        raise argparse.ArgumentTypeError(f"'{text}': {name} may be {', '.join(map(str, values[name]))}")
    return name, int(value)
