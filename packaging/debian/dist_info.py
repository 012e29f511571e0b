#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what a wheel says of itself: dist_info.py PYPROJECT VERSION FOLDER.

So pip and importlib.metadata know the package, and PyTorch finds its backend.
"""
import os
import sys
import tomllib

with open(sys.argv[1], "rb") as file:
    project = tomllib.load(file)["project"]
version = sys.argv[2]
folder = os.path.join(sys.argv[3], f"{project['name']}-{version}.dist-info")
os.makedirs(folder, exist_ok=True)
with open(os.path.join(folder, "METADATA"), "w", encoding="utf-8") as file:
    file.write(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {version}\n"
               f"Summary: {project['description']}\nLicense: {project['license']['text']}\n"
               f"Requires-Python: {project['requires-python']}\n")
with open(os.path.join(folder, "INSTALLER"), "w", encoding="utf-8") as file:
    file.write("dpkg\n")
with open(os.path.join(folder, "entry_points.txt"), "w", encoding="utf-8") as file:
    for group, points in project["entry-points"].items():
        file.write(f"[{group}]\n" + "".join(f"{name} = {point}\n" for name, point in points.items()))
