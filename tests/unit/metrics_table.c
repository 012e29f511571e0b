// SPDX-License-Identifier: Apache-2.0
// Prints the table of all metrics, as docs/monitoring.md has it.
#include <stdio.h>

#include "driver/metrics.h"
#include "switch/daemon/status.h"

static void print(const char *whose, const gn_metric_set *set)
{
    printf("\n**%s**, with the label `%s`:\n\n| metric | type | what it counts |\n| --- | --- | --- |\n", whose,
           set->label);
    gn_prometheus_list(set, stdout);
}

int main(void)
{
    print("NIC", &gn_nic_metrics);
    print("Switch", &gn_switchd_metrics);
    putchar('\n');
    return 0;
}
