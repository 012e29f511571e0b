#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The container's files, where no Docker runs.

container.py check FOLDER     compose.yaml, what it mounts, and the Dockerfile fit together
container.py command FOLDER SERVICE   prints the arguments of a service, one a line
"""
import os
import re
import sys

import yaml

folder = sys.argv[2]


def load(name):
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        return yaml.safe_load(file)


compose = load("compose.yaml")
services = compose["services"]
if sys.argv[1] == "command":
    print("\n".join(services[sys.argv[3]]["command"]))
    sys.exit()

bad = []
# Keys of the compose specification that this file uses; a misspelled one would be ignored.
KEYS = {"build", "command", "depends_on", "environment", "image", "ports", "restart", "volumes"}
for name, service in services.items():
    bad += [f"{name}: unknown key {key}" for key in service.keys() - KEYS]
    bad += [f"{name}: depends on {other}, which is no service" for other in service.get("depends_on", []) if other not in services]
    if "image" not in service:
        bad.append(f"{name}: no image")
    for volume in service.get("volumes", []):
        source, target, mode = volume.split(":")
        if not os.path.isfile(os.path.join(folder, source)) or not target.startswith("/") or mode != "ro":
            bad.append(f"{name}: {volume}")
    # Hosts that commands name are services.
    for word in service.get("command", []):
        for host in re.findall(r"(?:tcp://|^)([a-z][a-z0-9-]*):[0-9]+$", word):
            if host not in services:
                bad.append(f"{name}: {word}: {host} is no service")
    for port in service.get("ports", []):
        if not port.startswith("127.0.0.1:"):
            bad.append(f"{name}: {port} is open to the network")
build = services["switch"]["build"]
top = os.path.join(folder, build["context"])
for path in (os.path.join(top, build["dockerfile"]), os.path.join(top, "CMakeLists.txt")):
    if not os.path.isfile(path):
        bad.append(f"switch: no {path}")

# What Prometheus asks is what the switch serves, and Grafana asks Prometheus.
targets = [t for job in load("prometheus.yml")["scrape_configs"] for s in job["static_configs"] for t in s["targets"]]
metrics = services["switch"]["command"][services["switch"]["command"].index("--metrics") + 1]
if targets != ["switch:" + metrics.rsplit(":", 1)[1]]:
    bad.append(f"prometheus.yml: {targets}, and the switch serves {metrics}")
source = load("grafana/datasource.yaml")["datasources"][0]
if source["type"] != "prometheus" or not re.fullmatch(r"http://prometheus:9090", source["url"]):
    bad.append(f"grafana/datasource.yaml: {source}")
path = load("grafana/dashboards.yaml")["providers"][0]["options"]["path"]
if not any(v.split(":")[1].startswith(path + "/") for v in services["grafana"]["volumes"]):
    bad.append(f"grafana/dashboards.yaml: nothing is mounted in {path}")

# The Dockerfile: known instructions, and all libraries that building needs.
with open(os.path.join(folder, "Dockerfile"), encoding="utf-8") as file:
    text = re.sub(r"\\\n", " ", re.sub(r"^#.*\n", "", file.read(), flags=re.M))
lines = [line.split(None, 1) for line in text.splitlines() if line.strip()]
bad += [f"Dockerfile: {line[0]}" for line in lines if line[0] not in
        ("FROM", "RUN", "COPY", "USER", "ENTRYPOINT", "CMD")]
first = text.split("FROM debian:bookworm-slim")[0]
with open(os.path.join(top, "scripts/setup"), encoding="utf-8") as file:
    wanted = re.findall(r"^tool +(\S+-dev) ", file.read(), re.M)
if len(wanted) < 10:
    bad.append("scripts/setup: few libraries")
bad += [f"Dockerfile: no {w}, which building needs" for w in wanted if not re.search(rf"\s{re.escape(w)}\s", first)]
print(*bad, sep="\n")
sys.exit(1 if bad else 0)
