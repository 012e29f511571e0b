# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Whether tests in network namespaces can run. To be sourced together with scripts/testbed.

# A machine without namespaces or TUN devices cannot run these tests, and says so. Not being root is
# a failure.
need_namespaces() {
    [ "$(id -u)" -eq 0 ] || { echo "FAIL: these tests make network namespaces: run them as root" >&2; exit 1; }
    testbed_possible || { echo "CANNOT: this machine does not let namespaces or TUN devices be made" >&2; exit 77; }
}
