#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# mpi4py's own tests under the preload, which takes even sums of 16 bytes, with Open MPI and MPICH;
# then examples/mpi/average.py. Part of `scripts/check --long mpi`, after the release build.
#
#   tests/mpi/mpi4py.sh [RANKS [MODULE]]     "1 2 3 5" by default, and all modules but four
#
# Module and tests are of one version, from PyPI. Modules that start processes of their own are left
# out, since root needs options for that, and what neither MPI has. MPICH's ranks spin: yield.c
# makes them give their core away, for with more ranks than cores it would take hours otherwise.
# Debian's MPICH 4.0 does not end test_util_sync with more than one rank, without the preload
# either: a rank that waits for a notification makes no progress for the others. It is left out.
set -euo pipefail
cd "$(dirname "$0")/../.."
case "${1:-}" in -h | --help) sed -n '3,13s/^# \{0,1\}//p' "$0"; exit ;; esac
read -ra ranks <<<"${1:-1 2 3 5}"
module=${2:-}
version=4.1.2
folder=$PWD/build/mpi4py
release=$PWD/build/release/mpi
python=$folder/venv/bin/python3

[ -x "$python" ] || python3 -m venv "$folder/venv"
"$python" -m pip -q install "mpi4py==$version" numpy
if [ ! -d "$folder/mpi4py-$version" ]; then
    "$python" -m pip -q download --no-deps --no-binary mpi4py "mpi4py==$version" -d "$folder"
    tar -C "$folder" -xf "$folder/mpi4py-$version.tar.gz"
fi
while IFS= read -r variable; do unset "$variable"; done < <(compgen -e GRADNIC_ || true)
# Debian's MPICH has a name of its own for the library that all others call libmpi.so.12.
mkdir -p "$folder/mpich"
mpich=$(ldd "$release/libgradnic-mpi-mpich.so" | sed -n 's/.*libmpich\.so\.12 => \([^ ]*\).*/\1/p')
ln -sf "$mpich" "$folder/mpich/libmpi.so.12"
cc -O2 -Wall -Wextra -Werror -shared -fPIC tests/mpi/yield.c -o "$folder/mpich/yield.so" -ldl
tests=$folder/mpi4py-$version/test
failed=0

# under MPI COUNT PROGRAM...: ranks of Python with the preload
under() {
    local start=(mpiexec.hydra) mpi=$1 count=$2 path=$folder/mpich yield=" $folder/mpich/yield.so"
    shift 2
    if [ "$mpi" = openmpi ]; then
        start=(mpirun.openmpi --oversubscribe)
        path='' yield=''
        [ "$(id -u)" -ne 0 ] || start+=(--allow-run-as-root)
    fi
    timeout -k 10 5400 "${start[@]}" -n "$count" env "MPI4PY_MPIABI=$mpi" "LD_LIBRARY_PATH=$path" \
        "LD_PRELOAD=$release/libgradnic-mpi-$mpi.so$yield" GRADNIC_MIN_BYTES=16 GRADNIC_SUMMARY=1 "$python" "$@"
}

# taken LOG: says what the preload took; it fails when that is nothing
taken() {
    sed -n 's/^gradnic: rank 0: \(took .* to MPI\);.*/\1/p' "$1" | grep -v 'took 0 calls'
}

for mpi in openmpi mpich; do
    log=$folder/$mpi.average.log
    if under "$mpi" 2 examples/mpi/average.py >"$log" 2>&1 && taken "$log" >/dev/null; then
        echo "$mpi: average.py: $(taken "$log")"
    else
        failed=1
        echo "$mpi: average.py FAILED: $log"
    fi
    for count in "${ranks[@]}"; do
        log=$folder/$mpi.$count.log
        without=()
        [ "$mpi" = openmpi ] || [ "$count" -eq 1 ] || without=(-e util_sync)
        begin=$SECONDS
        if (cd "$tests" && under "$mpi" "$count" main.py ${module:+-i "$module"} -e spawn -e dynproc -e ulfm -e session "${without[@]}") >"$log" 2>&1 &&
            ! grep -q "^Ran 0 tests" "$log" && { [ "$count" -eq 1 ] || taken "$log" >/dev/null; }; then
            echo "$mpi, $count ranks: $(grep -E '^Ran [0-9]+ tests' "$log" | head -n 1 | cut -d' ' -f1-3), $(taken "$log" || echo "nothing to take") ($((SECONDS - begin)) s)"
        else
            failed=1
            echo "$mpi, $count ranks: FAILED: $log"
        fi
    done
done
exit "$failed"
