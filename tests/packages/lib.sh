# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A clean Debian in a folder, for the tests of the packages. To be sourced.
#
# root_make FOLDER    the smallest Debian of this machine's release, from the mirror of its apt. It
#                     is kept in build/ as an archive, for a day
# root_run COMMAND... runs a command there. Services do not start
# root_state          a line for each file there, with its kind, mode, owner and content; without
#                     what apt and dpkg keep, and logs
set -euo pipefail
fail() { echo "FAILED: $*" >&2; exit 1; }

root=''
root_end() {
    [ -n "$root" ] || return 0
    umount -q "$root/proc" "$root/dev/net" 2>/dev/null || true
    rm -rf --one-file-system "$root"
    root=''
}

root_make() {
    local archive=build/clean-root.tar
    if [ ! -s "$archive" ] || [ -n "$(find "$archive" -mtime +0)" ]; then
        local mirror
        # shellcheck disable=SC2016 # apt expands it
        mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | grep -v security | head -n 1)
        [ -n "$mirror" ] || fail "apt has no mirror"
        # shellcheck source=/dev/null
        (source /etc/os-release && debootstrap --variant=minbase "$VERSION_CODENAME" "$1" "$mirror") >"$1.log" 2>&1 ||
            fail "debootstrap: $(tail -n 5 "$1.log")"
        tar -c -C "$1" --one-file-system -f "$archive.new" .
        mv "$archive.new" "$archive"
    else
        mkdir -p "$1"
        tar -x -C "$1" -f "$archive"
    fi
    root=$1
    trap root_end EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
    mount -t proc proc "$root/proc"
    printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
    chmod +x "$root/usr/sbin/policy-rc.d"
    cp /etc/resolv.conf "$root/etc/resolv.conf"
    echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/quick"  # it need not survive a crash
}

root_run() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 HOME=/root DEBIAN_FRONTEND=noninteractive "$@"; }

root_state() {
    local left_out=(\( -path ./proc -o -path ./var/lib/dpkg -o -path ./var/lib/apt -o -path ./var/cache -o -path ./var/log
        -o -path ./tmp -o -path ./packages -o -path ./var/lib/systemd -o -path ./etc/ld.so.cache -o -name passwd-
        -o -name shadow- -o -name group- -o -name gshadow- -o -name __pycache__ \) -prune)
    (cd "$root" && {
        find . -xdev "${left_out[@]}" -o -printf '%p %y %m %U %G %l\n'
        find . -xdev "${left_out[@]}" -o -type f -print0 | xargs -0 sha256sum
    }) | sort
}
