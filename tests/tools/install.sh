#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs to a folder, then builds the examples against what is there, as a stranger would: with
# pkg-config (shared and static) and with CMake. Checks the shared libraries' symbols, and that the
# installed program has its man pages.
# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"
: "${BUILD:?}" "${CC:=cc}"

cmake --install "$BUILD" --prefix "$work/prefix" >install.log || fail "$(cat install.log)"
prefix=$work/prefix
pc=$(find "$prefix" -name libgradnic.pc)
export PKG_CONFIG_PATH=${pc%/*}
libdir=$(pkg-config --variable=libdir libgradnic)
[ "$(realpath "$libdir")" = "$(realpath "${pc%/*}/..")" ] || fail "libgradnic.pc: libdir is $libdir"

# What no example looks at.
cat >stranger.c <<'C'
#include <gradnic/comm.h>
#include <gradnic/container.h>
#include <stdio.h>

int main(void)
{
    if (puts(gn_status_string(GN_PEER_LOST)) < 0) return 1;
    return gn_container_block_bound(GN_LATTICE, 8) != 42;
}
C

# run PROGRAM...: an example, alone where it is one of several ranks
run() { RANK=0 WORLD_SIZE=1 LD_LIBRARY_PATH=$libdir "$@"; }

# pkg-config
# shellcheck disable=SC2046 # words are wanted
{
    for name in codec container packet; do
        "$CC" -Wall -Werror -o $name "$SOURCE/examples/$name.c" $(pkg-config --cflags --libs libgradnic) -lm
        run ./$name
        "$CC" -Wall -Werror -o static "$SOURCE/examples/$name.c" $(pkg-config --cflags libgradnic) "$libdir/libgradnic.a" $(pkg-config --libs zlib) -lm
        ./static
    done
    for name in allreduce feedback shards; do
        "$CC" -Wall -Werror -o $name "$SOURCE/examples/$name.c" $(pkg-config --cflags --libs libgradnic-comm) -lm
        run ./$name
    done
    "$CC" -Wall -Werror -o stranger stranger.c $(pkg-config --cflags --libs libgradnic-comm)
    run ./stranger
    "$CC" -Wall -Werror -o switch "$SOURCE/examples/switch.c" $(pkg-config --cflags --libs libgradnic-switch)
    run ./switch
    "$CC" -Wall -Werror -o static-switch "$SOURCE/examples/switch.c" $(pkg-config --cflags libgradnic-switch) "$libdir/libgradnic-switch.a" "$libdir/libgradnic.a" $(pkg-config --libs zlib libdeflate libsodium) -lm
    ./static-switch
}

# CMake: the examples as a project of their own, with the shared and with the static libraries.
for static in OFF ON; do
    cmake -S "$SOURCE/examples" -B "examples-$static" -DCMAKE_PREFIX_PATH="$prefix" -DGRADNIC_EXAMPLES_STATIC=$static >cmake.log 2>&1 || fail "$(cat cmake.log)"
    cmake --build "examples-$static" >cmake.log 2>&1 || fail "$(cat cmake.log)"
    for name in codec container packet allreduce feedback shards switch; do run "examples-$static/$name"; done
done

# C++ can read the headers. That of MPI's programs needs an MPI.
# shellcheck disable=SC2046
for header in "$prefix"/include/gradnic/*.h; do
    needs=libgradnic
    [ "${header##*/}" != mpi_comp.h ] || needs="libgradnic ompi-c"
    # shellcheck disable=SC2086
    echo "#include <gradnic/${header##*/}>" | c++ -std=c++17 -Wall -Werror -fsyntax-only $(pkg-config --cflags $needs) -x c++ -
done

# Symbols: gn_* and nothing else, each with the library's version.
for library in libgradnic.so libgradnic-comm.so libgradnic-switch.so; do
    nm -D --defined-only "$libdir/$library" | awk '{print $3}' | grep -v '^GRADNIC_0\.1' >symbols
    [ "$(wc -l <symbols)" -gt 5 ] || fail "$library exports next to nothing"
    grep -v '^gn_[a-z0-9_]*@@GRADNIC_[A-Z_]*0\.1$' symbols && fail "$library exports what it should not, or without a version"
    readelf -d "$libdir/$library" | grep "SONAME.*${library}.0" >/dev/null || fail "$library has no SONAME"
done
grep -q '^gn_stream_encode@@GRADNIC_0\.1$' <(nm -D --defined-only "$libdir/libgradnic.so" | awk '{print $3}') || fail "gn_stream_encode"

# The program runs from there and knows its man page.
"$prefix/bin/gradnic" --version
[ -z "${MAN:-}" ] || [ -s "$prefix/share/man/man1/gradnic-ratio.1" ] || fail "man pages are not installed"
! ldd "$prefix/bin/gradnic" | grep libgradnic || fail "the program needs gradnic's own shared libraries"

# Its scripts are beside it, and find each other.
"$prefix/share/gradnic/demo-report" --check || fail "the installed report does not work"

"$prefix/bin/gradnic" figures -q -o figures switchml-fig8 switchml-fig12 || fail "the installed figures do not work"

# So does the simulator that it becomes, where that was built.
if [ -x "$BUILD/sim/nic/gradnic-sim-nic" ]; then
    "$prefix/bin/gradnic" sim nic -q -i "$DATA/mlp-it1000-w0.npy.gz" --size 8K | grep '^bottleneck' >/dev/null || fail "gradnic sim nic"
fi
