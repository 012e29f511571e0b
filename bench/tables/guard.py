# SPDX-License-Identifier: Apache-2.0
"""The table of the guard's errors, of both kinds."""

from markdown import percent, table, whole


def errors(results):
    found = results["guard"]["results"]["kinds"]
    rows = []
    for kind in found:
        wrong = "other" if kind["good"] else "gradients"
        cells = [percent(size[wrong] / size["flows"], 2) if size[wrong] else "0" for size in kind["sizes"]]
        rows.append(("gradients" if kind["good"] else "other", kind["name"], whole(kind["sizes"][0]["flows"]), *cells))
    sizes = [f"{size['bytes']} B" for size in found[0]["sizes"]]
    return table(
        ("should be", "bytes", "flows", *sizes),
        rows,
        results["guard"],
        "Flows that the guard misjudges, by the size of their packets. Flows of each size begin at random places.",
    )


TABLES = {"guard": errors}
