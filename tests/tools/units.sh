#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The systemd units as they are installed: systemd takes them, their sandbox is as closed as it was,
# and the examples of configuration files are good. SYSTEMD_ANALYZE names the program; empty: only
# the examples are looked at.
# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"
: "${BUILD:?}"

cmake --install "$BUILD" --prefix "$work/prefix" >install.log || fail "$(cat install.log)"
units=$work/prefix/lib/systemd/system
examples=$work/prefix/share/gradnic/examples
for name in gradnic-nic@.service gradnic-switch.service; do
    [ -s "$units/$name" ] || fail "no unit $name"
    grep -q "$units/$name" "$BUILD/install_manifest.txt" || fail "$name is not in the list of what was installed"
    grep -q "^ExecStart=$work/prefix/bin/gradnic " "$units/$name" ||
        fail "$name starts another program: $(grep Exec "$units/$name")"
    ! grep '@bindir@' "$units/$name" || fail "$name is not filled in"
    # By default five starts in ten seconds are the last ones.
    grep -q '^StartLimitIntervalSec=0$' "$units/$name" || fail "$name is not started again for ever"
done

# What ends a NIC of engine lockstep leaves a capture, which has to outlive the private /tmp.
state=$(sed -n 's/^StateDirectory=//p' "$units/gradnic-nic@.service")
grep -qx "Environment=TMPDIR=/var/lib/$state" "$units/gradnic-nic@.service" || fail "a capture of lockstep is lost"

# An example is good as it is. Each of its further lines names an option of the program.
for kind in nic switch; do
    "$GRADNIC" "$kind" --config "$examples/$kind.conf" --check-config >said 2>&1 || fail "$kind.conf: $(cat said)"
    sed -n 's/^# \([a-z-]* = .*\)/\1/p' "$examples/$kind.conf" >lines
    [ "$(wc -l <lines)" -ge 15 ] || fail "$kind.conf: few lines"
    while IFS= read -r line; do
        grep -q "^${line%% *} = " used 2>/dev/null && [ "${line%% *}" != peer ] && [ "${line%% *}" != rule ] &&
            fail "$kind.conf has ${line%% *} twice"
        echo "$line" >>used
        printf '%s\n' "$line" >one.conf
        "$GRADNIC" "$kind" --config one.conf --check-config >said 2>&1 || true
        ! grep -q 'one.conf:1: .*\(not an option\|not a \)' said || fail "$kind.conf: '$line': $(cat said)"
    done <lines
    rm used
    # All keys are there, but for what belongs on a command line.
    "$GRADNIC" "$kind" --help | sed -n 's/^  \(-., \|    \)--\([a-z-]*\).*/\2/p' |
        grep -vx 'config\|check-config\|quiet\|verbose\|help\|usage\|version' >options
    [ "$(wc -l <options)" -ge 30 ] || fail "--help of $kind"
    while IFS= read -r option; do
        grep -q "^\(# \)\?$option = " "$examples/$kind.conf" || fail "$kind.conf: $option is missing"
    done <options
    # What a reload changes, and nothing else, is said to be changed by one.
    sed -n '/^# While it runs/,$s/^# \([a-z-]*\) = .*/\1/p' "$examples/$kind.conf" | sort -u >live
    [ -s live ] || fail "$kind.conf: no lines for a reload"
done
[ -n "${SYSTEMD_ANALYZE:-}" ] || exit 0

# verify wants the program to be there.
mkdir scratch
cp "$units"/gradnic-* scratch
"$SYSTEMD_ANALYZE" verify --man=no "$work"/scratch/* >said 2>&1 || fail "verify: $(cat said)"
! grep -i 'gradnic' said || fail "verify says: $(cat said)"
# The lower the better: 0 is closed, 10 is open.
for pair in gradnic-nic@.service:20 gradnic-switch.service:15; do
    "$SYSTEMD_ANALYZE" security --no-pager --offline=true --threshold="${pair#*:}" "$work/scratch/${pair%:*}" >said \
        2>&1 ||
        fail "${pair%:*} is more open than it was: $(tail -n 2 said)"
    tail -n 1 said
done
