// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_NET_HOST_LIST_H
#define GRADNIC_NET_HOST_LIST_H
/// Slurm's lists of hosts: "n1", "n[1-3,7]", "rack[1-2]n[08-11]-ib,login". Pure; any thread.

#include <stdbool.h>

#include "net/address.h"

/// The first host of a list. `*only`: the list has no other.
/// @return false for anything that is not such a list
bool gn_host_list_first(const char *list, char host[GN_HOST_TEXT], bool *only);

#endif
