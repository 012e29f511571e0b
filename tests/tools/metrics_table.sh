#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Writes the table of all metrics into docs/monitoring.md. Run it after metrics have changed:
#
#   tests/tools/metrics_table.sh build/release/tests/unit/metrics_table
set -euo pipefail
page=$(dirname "$0")/../../docs/monitoring.md
table=$(mktemp)
trap 'rm -f "$table"' EXIT
"${1:?the program metrics_table}" >"$table"
sed -i -e "/^<!-- list metrics -->\$/r $table" \
    -e '/^<!-- list metrics -->$/,/^<!-- end of table all-metrics -->$/{/^<!-- /!d}' "$page"
