#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Writes the table of all metrics into docs/monitoring.md, or into a copy of it. Run it after
# metrics have changed:
#
#   tests/tools/metrics_table.sh build/release/tests/unit/metrics_table
#
# The markers are not those of scripts/figures, which fills the tables of measurements.
set -euo pipefail
program=${1:?the program metrics_table}
page=${2:-$(dirname "$0")/../../docs/monitoring.md}
first='^<!-- list metrics -->$' last='^<!-- end of list metrics -->$'
# Without its end, a range would take the rest of the page.
if [ "$(sed -n "/$first/,/$last/{/$first/p;/$last/p}" "$page" | wc -l)" -ne 2 ]; then
    echo "$page: one line '${first//[\^\$]/}' is needed, and below it one '${last//[\^\$]/}'" >&2
    exit 1
fi
table=$(mktemp)
trap 'rm -f "$table"' EXIT
"$program" >"$table"
sed -i -e "/$first/r $table" -e "/$first/,/$last/{/^<!-- /!d}" "$page"
