#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What the Debian packages are made of, without making them: the control file names what building
# needs, each package has its files, scripts are shell and Python, and the files for systemd and the
# network managers are what these read. The packages themselves: scripts/check --long packages.
# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"
debian=$SOURCE/packaging/debian

"$PYTHON" - "$SOURCE" <<'P' || fail "packaging"
import configparser, os, re, sys
top = sys.argv[1]
debian = os.path.join(top, "packaging/debian")
def read(*path):
    with open(os.path.join(top, *path), encoding="utf-8") as file:
        return file.read()
paragraphs = [dict(re.findall(r"^([A-Za-z-]+):((?:.*\n)(?:[ \t].*\n)*)", p + "\n", re.M))
              for p in read("packaging/debian/control").strip().split("\n\n")]
source, *binaries = paragraphs
names = [b["Package"].strip() for b in binaries]
assert names == ["gradnic", "libgradnic0", "libgradnic-dev", "gradnic-mpi", "python3-gradnic"], names
needed = re.findall(r"^tool +(lib\S+-dev|zlib1g-dev|help2man|ninja-build|cmake) ", read("scripts/setup"), re.M)
assert len(needed) > 10
wanted = {w.split()[0] for w in re.split(r",\s*", source["Build-Depends"].strip())}
lacking = set(needed) - wanted - {"libc6-dev"}  # which is build-essential
assert not lacking, f"Build-Depends lacks {lacking}"
for name in names:
    text = binaries[names.index(name)]["Description"]
    assert len(text.splitlines()[0]) <= 70 and all(len(l) <= 80 for l in text.splitlines()), f"{name}: long description"
    assert name == "python3-gradnic" or os.path.getsize(os.path.join(debian, name + ".install")), name
# The name of the library's package has the number of its soname.
sonames = {re.search(r"SOVERSION (\d+)", read(d, "CMakeLists.txt"))[1] for d in ("cmodel", "ring", "switch")}
assert sonames == {"0"} and "libgradnic0" in names, sonames
for path, section, key, value in (("networkmanager/10-gradnic.conf", "device-gradnic", "match-device", "interface-name:gn*"),
                                  ("networkd/10-gradnic.network", "Match", "Name", "gn*")):
    parser = configparser.ConfigParser()
    parser.read_string(read("packaging", path))
    assert parser[section][key] == value, path
assert parser["Link"]["Unmanaged"] == "yes"
P

# What a wheel says of itself, and the package, too.
"$PYTHON" "$debian/dist_info.py" "$SOURCE/python/pyproject.toml" 1.2.3 site
"$PYTHON" -c '
import importlib.metadata as m
[d] = m.distributions(path=["site"])
assert d.metadata["Name"] == "gradnic" and d.version == "1.2.3", d.metadata
assert [(e.group, e.name, e.value) for e in d.entry_points] == [("torch.distributed.backends", "gradnic", "gradnic.torch:register")]
' || fail "dist_info.py"

for script in "$debian"/*.postrm "$debian"/*.prerm; do sh -n "$script" || fail "$script"; done
if command -v shellcheck >/dev/null; then shellcheck "$debian"/*.postrm "$debian"/*.prerm || fail "shellcheck"; fi
# Purging removes the account that the package made, and no other of that name. Nothing but these
# commands is to be found, and they only tell.
mkdir stubs
for command in rm rmdir userdel; do printf '#!/bin/sh\necho %s "$@"\n' "$command" >stubs/$command; done
# shellcheck disable=SC2016 # the stub expands it
printf '#!/bin/sh\n[ -n "$ENTRY" ] && echo "$ENTRY"\n' >stubs/getent
chmod +x stubs/*
purged() { env -i "PATH=$work/stubs" "ENTRY=$1" /bin/sh "$debian/gradnic.postrm" purge 2>&1 || fail "purge: $1"; }
if [ ! -e /etc/gradnic ]; then
    purged 'gradnic:x:994:994:gradnic NIC and switch:/:/usr/sbin/nologin' | grep -x 'userdel gradnic' >/dev/null ||
        fail "its own account stays"
    for entry in 'gradnic:x:1000:1000:A person:/home/gradnic:/bin/bash' 'gradnic:x:150:150::/var/lib/other:/bin/sh' ''; do
        ! purged "$entry" | grep userdel || fail "it takes another account: $entry"
    done
fi
if command -v systemd-sysusers >/dev/null; then
    mkdir -p root/etc
    systemd-sysusers --root="$work/root" "$SOURCE/packaging/sysusers.d/gradnic.conf" >said 2>&1 || fail "sysusers: $(cat said)"
    grep -q '^gradnic:' root/etc/passwd || fail "sysusers makes no account"
    if [ "$(id -u)" -eq 0 ]; then
        systemd-tmpfiles --root="$work/root" --create "$SOURCE/packaging/tmpfiles.d/gradnic.conf" >said 2>&1 ||
            fail "tmpfiles: $(cat said)"
        for folder in run/gradnic var/lib/gradnic; do [ -d root/$folder ] || fail "tmpfiles makes no $folder"; done
    fi
fi
expect 2 "unknown option" "$SOURCE/scripts/package" --nonsense
expect 1 "--revision needs a number" "$SOURCE/scripts/package" --revision x
