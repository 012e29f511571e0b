#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The packages in a clean Debian: lintian has no error and no warning; they install, are upgraded,
# removed and purged, and leave nothing; a wheel in a virtual environment and the package for Python
# do not see each other; a NIC and a switch run as their units say. Needs root, and a mirror of
# Debian. scripts/package has made the packages; another folder of them may be named.
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=tests/packages/lib.sh
source tests/packages/lib.sh
[ "$(id -u)" -eq 0 ] || { echo "CANNOT: not root" >&2; exit 77; }
packages=${1:-build/packages}
version=$(sed -n 's/^project(gradnic VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
names=(gradnic gradnic-mpi libgradnic-dev libgradnic0 python3-gradnic)
step() { echo "packages: $*"; }

step "what was made"
for name in "${names[@]}"; do
    ls "$packages/${name}_$version-"*.deb >/dev/null || fail "no package $name"
done

step "lintian"
lintian --allow-root --fail-on error,warning --tag-display-limit 0 "$packages"/*.changes >"$packages/lintian.log" 2>&1 ||
    fail "lintian: $(cat "$packages/lintian.log")"

step "a clean root"
scratch=$(mktemp -d "${TMPDIR:-/var/tmp}/gradnic-packages-XXXXXX")
root_make "$scratch/root"
trap 'root_end; rm -rf --one-file-system "$scratch"' EXIT
root_run apt-get -q update >"$scratch/log" 2>&1 || fail "$(tail -n 5 "$scratch/log")"
mkdir "$root/packages"
cp "$packages"/*.deb "$root/packages/"
# The same packages with a later revision: nothing else differs.
later() { # DEB
    local folder=$scratch/later
    rm -rf "$folder"
    dpkg-deb -R "$1" "$folder"
    old=$(sed -n 's/^Version: //p' "$folder/DEBIAN/control")
    sed -i "s/\b${old//./\\.}\b/$old+later/" "$folder/DEBIAN/control"
    dpkg-deb --root-owner-group -Znone -b "$folder" "$root/packages/later/" >/dev/null
}
mkdir "$root/packages/later"
for deb in "$packages"/*.deb; do later "$deb"; done
apt() { # WHAT...: apt-get in the root, without asking
    root_run apt-get -q -y --no-install-recommends "$@" >"$scratch/log" 2>&1 || fail "apt-get $*: $(tail -n 30 "$scratch/log")"
}
# shellcheck disable=SC2016 # the root's shell expands it
depends() { root_run sh -c 'dpkg-query -W -f "\${Package}\n"' | sort; }

# What the packages need stays in the root, and is no trace of them.
step "install, and what they need"
debs=("$root"/packages/*.deb)
debs=("${debs[@]#"$root"}")
depends >"$scratch/before"
apt install "${debs[@]}" python3-venv
depends >"$scratch/after"
apt purge "${names[@]}"
! root_run id gradnic >/dev/null 2>&1 || fail "the account is left"
root_state >"$scratch/clean"
! grep -i gradnic "$scratch/clean" || fail "files are left"

step "install"
apt install "${debs[@]}"
root_run gradnic --version | grep -x "gradnic $version" >/dev/null || fail "gradnic --version"
root_run id gradnic >/dev/null || fail "no account"
root_run sh -c 'test -d /var/lib/gradnic && test -d /run/gradnic' || fail "no folders"
root_run python3 -c '
import array, gradnic, importlib.metadata as m
assert gradnic.decompress(gradnic.compress(array.array("f", [0.5]))).tolist() == [0.5]
assert m.version("gradnic") and [e for e in m.entry_points(group="torch.distributed.backends") if e.name == "gradnic"]
assert any("-linux-gnu/libgradnic.so.0" in line for line in open("/proc/self/maps"))' || fail "Python"
root_run python3 -m gradnic --version >/dev/null || fail "python3 -m gradnic"
root_run sh -c 'ls /usr/lib/*/gradnic/libgradnic-mpi-openmpi.so /usr/lib/*/gradnic/libgradnic-mpi-mpich.so' >/dev/null ||
    fail "no preloads"
root_run sh -c 'ls /usr/share/man/man1/gradnic-nic.1.gz /usr/share/bash-completion/completions/gradnic \
    /usr/lib/NetworkManager/conf.d/10-gradnic.conf /lib/systemd/network/10-gradnic.network \
    /lib/systemd/system/gradnic-nic@.service /usr/share/gradnic/wireshark/gradnic.lua' >/dev/null || fail "a file is missing"
root_run sh -c 'test -e /usr/lib/*/wireshark/plugins/gradnic.lua' || fail "no dissector"

step "a wheel beside them"
if [ -d build/python/dist ] && ls build/python/dist/*.whl >/dev/null 2>&1; then
    cp build/python/dist/*.whl "$root/packages/"
    root_run sh -c 'python3 -m venv /packages/venv && /packages/venv/bin/pip -q install --no-index /packages/*.whl' \
        >"$scratch/log" 2>&1 || fail "the wheel: $(tail -n 5 "$scratch/log")"
    loaded='import gradnic; print(*sorted({l.split()[-1].split("/")[1] for l in open("/proc/self/maps") if "libgradnic" in l}))'
    [ "$(root_run /packages/venv/bin/python -c "$loaded")" = packages ] || fail "the wheel loads the package's libraries"
    [ "$(root_run python3 -c "$loaded")" = usr ] || fail "the package loads the wheel's libraries"
    apt remove python3-gradnic
    root_run /packages/venv/bin/python -c 'import gradnic' || fail "the wheel needs the package"
    apt install "${debs[@]}"
    rm -r "$root/packages/venv"
    root_run python3 -c 'import gradnic' || fail "the package needs the wheel"
else
    echo "packages: NOT TESTED beside a wheel: build/python/dist has none (scripts/python --wheel)"
fi

step "services"
bash tests/packages/services.sh "$root" || fail "services"

step "upgrade"
echo '# mine' >"$root/etc/gradnic/switch.conf"
later=("$root"/packages/later/*.deb)
later=("${later[@]#"$root"}")
apt install "${later[@]}"
# shellcheck disable=SC2016 # dpkg-query expands it
[[ "$(root_run dpkg-query -W -f '${Version}' gradnic)" == *later ]] || fail "not upgraded"
grep -qx '# mine' "$root/etc/gradnic/switch.conf" || fail "the upgrade changed a configuration"
root_run gradnic --version >/dev/null || fail "gradnic --version, upgraded"

step "remove"
echo capture >"$root/var/lib/gradnic/mine.pcap"
apt remove "${names[@]}"
for file in var/lib/gradnic/mine.pcap etc/gradnic/switch.conf; do
    [ -s "$root/$file" ] || fail "removing took what is mine: $file"
done
[ ! -e "$root/usr/bin/gradnic" ] || fail "the program is still there"

step "purge"
apt install "${later[@]}"
apt purge "${names[@]}"
[ -s "$root/etc/gradnic/switch.conf" ] || fail "purging took a configuration"
root_run id gradnic >/dev/null || fail "the account is gone, but not its configuration"
[ ! -e "$root/var/lib/gradnic" ] || fail "captures are still there"
rm -r "$root/etc/gradnic"
root_run userdel gradnic
diff "$scratch/clean" <(root_state) || fail "something is left"
apt install "${later[@]}"
apt purge "${names[@]}"
diff "$scratch/clean" <(root_state) || fail "something is left"

step "a person's account of that name"
root_run useradd --create-home gradnic
root_state >"$scratch/person"
apt install "${later[@]}"
apt purge "${names[@]}"
root_run id gradnic >/dev/null || fail "purging took a person's account"
diff "$scratch/person" <(root_state) || fail "something is left, or is gone"
comm -13 "$scratch/before" "$scratch/after" | grep -vc gradnic | sed 's/^/packages: brought with them: /'
step "all passed"
