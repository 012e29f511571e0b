#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The container file and the compose example. No Docker runs here: their files are read and compared
# with each other, and the commands of the services run on this host, on the loopback device.
# Prometheus' own tool looks at its configuration and rules, where it is installed. Whether the
# image builds, and what Grafana makes of its files, is NOT tested.
# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"
"$PYTHON" -c 'import yaml' 2>/dev/null || { echo "CANNOT: python3-yaml is missing" >&2; exit 77; }

folder=$SOURCE/packaging/container
"$PYTHON" "$SOURCE/tests/tools/container.py" check "$folder" || fail "the container's files"
rules=$SOURCE/packaging/prometheus/gradnic.rules.yml
if command -v promtool >/dev/null; then
    cp "$folder/prometheus.yml" "$rules" .
    promtool check rules gradnic.rules.yml >said 2>&1 || fail "rules: $(cat said)"
    promtool check config prometheus.yml >said 2>&1 || fail "prometheus.yml: $(cat said)"
else
    echo "skipped: no promtool here"
fi
# Alerts ask for metrics that there are.
grep -o 'gradnic_[a-z_]*[a-z]' "$rules" | sort -u >asked
[ "$(wc -l <asked)" -ge 5 ] || fail "few metrics in the rules"
while IFS= read -r metric; do
    grep -q "^| \`$metric\` " "$SOURCE/docs/monitoring.md" || fail "gradnic.rules.yml: there is no $metric"
done <asked

# The services' own commands, with addresses of this host, and a shorter run.
switches_at 14
command_of() { # SERVICE: its arguments, into the array `arguments`
    mapfile -t arguments < <("$PYTHON" "$SOURCE/tests/tools/container.py" command "$folder" "$1")
    arguments=("${arguments[@]/#switch:/$host:}")
    arguments=("${arguments[@]/0.0.0.0/$host}")
    arguments=("${arguments[@]/worker-0/$host}")
    arguments=("${arguments[@]//\/usr\/share\/gradnic\/gradients/$DATA}")
    arguments=("${arguments[@]/%25M/1M}")
    arguments=("${arguments[@]/%1000/2}")
}
command_of switch
"$GRADNIC" "${arguments[@]}" -u "$(id -un)" 2>switch.log &
pids+=($!)
said_in=switch.log until_holds "the switch does not listen" grep listening switch.log
for rank in 0 1; do
    command_of worker-$rank
    "$GRADNIC" "${arguments[@]}" --timeout 60s >worker$rank.log 2>&1 &
    pids+=($!)
done
for rank in 0 1; do
    wait "${pids[rank + 1]}" || fail "worker $rank: $(cat worker$rank.log)"
done
grep -q 1048576 worker0.log || fail "nothing was summed: $(cat worker0.log)"
curl -sS --max-time 10 "http://$host:9464/metrics" | grep '^gradnic_switch_total_core_results_total{.*} [1-9]' >/dev/null ||
    fail "the switch has counted nothing"
