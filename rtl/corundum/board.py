# SPDX-License-Identifier: Apache-2.0
"""A board's design with the NIC in it, made of one of Corundum's without an application.

A variant is a folder below fpga/mqnic with a Makefile and a config.tcl, such as
Alveo/fpga_100g/fpga_AU50. The copy lies beside it and has the name's end _gradnic.
"""
import re

SUFFIX = "_gradnic"
SETTINGS = {"APP_ENABLE": "1", "APP_CTRL_ENABLE": "1", "APP_AXIS_IF_ENABLE": "1"}


class Unknown(Exception):
    """A variant that is not there, or does not look as expected."""


def variants(checkout):
    """Those that the NIC can be put into, relative to fpga/mqnic."""
    root = checkout / "fpga/mqnic"
    found = sorted(config.parent for config in root.glob("*/*/*/config.tcl"))
    return [str(at.relative_to(root)) for at in found if not at.name.endswith(SUFFIX) and not own_application(at)]


def own_application(variant):
    makefile = variant / "Makefile"
    return makefile.is_file() and re.search(r"^SYN_FILES \+= app/", makefile.read_text(), re.M) is not None


def with_sources(text, files):
    """The Makefile that lists the application's files behind those of Corundum's core."""
    core = list(re.finditer(r"^SYN_FILES \+= rtl/common/.*\n", text, re.M))
    if not core:
        raise Unknown("its Makefile lists no SYN_FILES of rtl/common")
    place = core[-1].end()
    return text[:place] + "".join(f"SYN_FILES += {name}\n" for name in files) + text[place:]


def with_settings(text, app_id):
    """The config.tcl that builds the application."""
    for name, value in {"APP_ID": app_id, **SETTINGS}.items():
        text, count = re.subn(rf"^(dict set params {name}) .*$", rf'\g<1> "{value}"', text, flags=re.M)
        if count != 1:
            raise Unknown(f"its config.tcl sets {name} {count} times, and once is expected")
    return text


def copy_place(checkout, name):
    """The folder of a variant's copy."""
    variant = checkout / "fpga/mqnic" / name
    return variant.with_name(variant.name + SUFFIX)


def copies(checkout):
    """The copies that were made: their folders, and of which variants."""
    found = {}
    for name in variants(checkout):
        makefile = copy_place(checkout, name) / "Makefile"
        if makefile.is_file() and re.search(r"^SYN_FILES \+= app/gradnic/", makefile.read_text(), re.M):
            found[makefile.parent] = name
    return found


def without_pcie(checkout, name):
    """Whether the variant is for a processor on the chip, which reaches the registers by AXI."""
    makefile = checkout / "fpga/mqnic" / name / "Makefile"
    return makefile.is_file() and "/mqnic_core_axi.v" in makefile.read_text()


def copy_of(checkout, name, app_id, files):
    """The texts of a copy's files by name. `files` are relative to the variant's parent, where app/
    is."""
    variant = checkout / "fpga/mqnic" / name
    if not (variant / "config.tcl").is_file() or not (variant / "Makefile").is_file():
        raise Unknown("there is no such variant; --boards lists them")
    if own_application(variant):
        raise Unknown("it has an application already: take the variant without one")
    return {"Makefile": with_sources((variant / "Makefile").read_text(), files),
            "config.tcl": with_settings((variant / "config.tcl").read_text(), app_id)}
