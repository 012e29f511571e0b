#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs a command where a program with a fault in it can hurt nobody: with processes, a network and
# temporary files of its own, and a machine that it can read but not write.
#
#   sandbox.sh WRITABLE [PROGRAM PLACE]... -- COMMAND...    PROGRAM stands at PLACE meanwhile
#
# Needs root. The caller has made the namespaces: unshare --pid --fork --mount --net --mount-proc.
set -euo pipefail
writable=$1
shift
ip link set lo up
mount --make-rprivate /
mount --bind "$writable" "$writable"
while [ "$1" != -- ]; do
    mount --bind "$1" "$2"
    shift 2
done
shift
while read -r _ place _; do
    case $place in
    "$writable" | /proc | /proc/* | /sys | /sys/* | /dev | /dev/*) ;;
    *) mount -o remount,bind,ro "$place" 2>/dev/null || [ "$place" != / ] ;;
    esac
done </proc/self/mounts
for place in /tmp /run /dev/shm; do mount -t tmpfs -o size=1g,mode=1777 tmpfs "$place"; done
mount -t sysfs sysfs /sys
ulimit -c 0 -f 4000000
exec "$@"
