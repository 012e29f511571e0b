#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs to a folder, then builds other programs against it: with pkg-config (shared and static)
# and with CMake. Checks the shared libraries' symbols and the program's man pages.
# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"
: "${BUILD:?}" "${CC:=cc}"

cmake --install "$BUILD" --prefix "$work/prefix" >install.log || fail "$(cat install.log)"
prefix=$work/prefix
pc=$(find "$prefix" -name libgradnic.pc)
export PKG_CONFIG_PATH=${pc%/*}
libdir=$(pkg-config --variable=libdir libgradnic)
[ "$(realpath "$libdir")" = "$(realpath "${pc%/*}/..")" ] || fail "libgradnic.pc: libdir is $libdir"

cat >codec.c <<'C'
#include <gradnic/codec.h>
#include <gradnic/container.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    gn_codec codec;
    float in[1000], out[1000];
    for (int i = 0; i < 1000; i++) in[i] = sinf((float)i) / 10;
    if (gn_codec_init(&codec, GN_LATTICE, 10)) return 1;
    size_t bytes, room = gn_stream_bound(GN_LATTICE, 1000);
    void *stream = malloc(room);
    if (gn_stream_encode(&codec, in, 1000, stream, room, &bytes)) return 2;
    if (gn_stream_decode(&codec, stream, bytes, out, 1000, NULL)) return 3;
    for (int i = 0; i < 1000; i++)
        if (fabsf(in[i] - out[i]) > 0x1p-10f) return 4;
    free(stream);
    printf("%s %zu\n", gn_codec_kernel_name(&codec), bytes);
    return gn_container_block_bound(GN_LATTICE, 8) != 42;
}
C
cat >comm.c <<'C'
#include <gradnic/comm.h>
#include <stdio.h>

int main(void)
{
    return puts(gn_status_string(GN_PEER_LOST)) < 0;
}
C

cat >switch.c <<'C'
#include <gradnic/switch.h>
#include <gradnic/worker.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// One worker sums a vector with itself.
int main(void)
{
    const gn_switch_config config = {.slots = 4, .slot_values = 8, .jobs = 1};
    const gn_switch_job job = {.job = 1, .gen = 1, .slots = 4, .children = 1};
    const gn_worker_config mine = {.job = 1, .gen = 1, .ranks = 1, .children = 1, .slots = 4, .packet_values = 8};
    float vector[20], sums[20];
    unsigned char up[1024], down[1024];
    gn_switch sw;
    gn_worker *worker;
    gn_action actions[GN_SWITCH_ACTIONS_MAX];
    void *memory = malloc(gn_switch_bytes(&config));
    for (int i = 0; i < 20; i++) vector[i] = (float)i / 4;
    if (gn_switch_init(&sw, &config, memory, gn_switch_bytes(&config)) || gn_switch_add_job(&sw, &job)) return 1;
    if (gn_worker_new(&worker, &mine) || gn_worker_post(worker, vector, sums, 20)) return 2;
    for (int64_t now = 0; !gn_worker_done(worker); now += 1000) {
        const size_t bytes = gn_worker_send(worker, now, up, sizeof up);
        if (!bytes) return 3;
        const unsigned count = gn_switch_rx(&sw, (uint64_t)now, 0, up, bytes, actions);
        for (unsigned i = 0; i < count; i++)
            gn_worker_rx(worker, now, down, gn_action_write(&sw, &actions[i], down, sizeof down));
    }
    if (memcmp(vector, sums, sizeof sums)) return 4;
    gn_worker_free(worker);
    free(memory);
    return 0;
}
C

# pkg-config
# shellcheck disable=SC2046 # words are wanted
{
    "$CC" -Wall -Werror -o codec codec.c $(pkg-config --cflags --libs libgradnic) -lm
    LD_LIBRARY_PATH=$libdir ./codec
    "$CC" -Wall -Werror -o comm comm.c $(pkg-config --cflags --libs libgradnic-comm)
    LD_LIBRARY_PATH=$libdir ./comm
    "$CC" -Wall -Werror -o switch switch.c $(pkg-config --cflags --libs libgradnic-switch)
    LD_LIBRARY_PATH=$libdir ./switch
    "$CC" -Wall -Werror -o static-switch switch.c $(pkg-config --cflags libgradnic-switch) "$libdir/libgradnic-switch.a" "$libdir/libgradnic.a" $(pkg-config --libs zlib libdeflate) -lm
    ./static-switch
    "$CC" -Wall -Werror -o static codec.c $(pkg-config --cflags libgradnic) "$libdir/libgradnic.a" $(pkg-config --libs zlib) -lm
    ./static
}

# CMake
mkdir package && cp codec.c comm.c switch.c package
cat >package/CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.25)
project(stranger C)
find_package(gradnic 0.1 REQUIRED)
add_executable(shared codec.c)
target_link_libraries(shared gradnic::gradnic m)
add_executable(static codec.c)
target_link_libraries(static gradnic::gradnic_static m)
add_executable(comm comm.c)
target_link_libraries(comm gradnic::gradnic_comm)
add_executable(switch switch.c)
target_link_libraries(switch gradnic::gradnic_switch)
add_executable(switch_static switch.c)
target_link_libraries(switch_static gradnic::gradnic_switch_static)
CMAKE
cmake -S package -B package/build -DCMAKE_PREFIX_PATH="$prefix" >cmake.log 2>&1 || fail "$(cat cmake.log)"
cmake --build package/build >cmake.log 2>&1 || fail "$(cat cmake.log)"
for program in shared static comm switch switch_static; do package/build/$program; done

# C++ can read the headers.
# shellcheck disable=SC2046
for header in "$prefix"/include/gradnic/*.h; do
    echo "#include <gradnic/${header##*/}>" | c++ -std=c++17 -Wall -Werror -fsyntax-only $(pkg-config --cflags libgradnic) -x c++ -
done

# Symbols: gn_* and nothing else, each with the library's version.
for library in libgradnic.so libgradnic-comm.so libgradnic-switch.so; do
    nm -D --defined-only "$libdir/$library" | awk '{print $3}' | grep -v '^GRADNIC_0\.1' >symbols
    [ "$(wc -l <symbols)" -gt 5 ] || fail "$library exports next to nothing"
    grep -v '^gn_[a-z0-9_]*@@GRADNIC_[A-Z_]*0\.1$' symbols && fail "$library exports what it should not, or without a version"
    readelf -d "$libdir/$library" | grep -q "SONAME.*${library}.0" || fail "$library has no SONAME"
done
grep -q '^gn_stream_encode@@GRADNIC_0\.1$' <(nm -D --defined-only "$libdir/libgradnic.so" | awk '{print $3}') || fail "gn_stream_encode"

# The program runs from there and knows its man page.
"$prefix/bin/gradnic" --version
[ -z "${MAN:-}" ] || [ -s "$prefix/share/man/man1/gradnic-ratio.1" ] || fail "man pages are not installed"
! ldd "$prefix/bin/gradnic" | grep libgradnic || fail "the program needs gradnic's own shared libraries"

# So does the simulator that it becomes, if it was built.
if [ -x "$BUILD/sim/nic/gradnic-sim-nic" ]; then
    "$prefix/bin/gradnic" sim nic -q -i "$DATA/mlp-it1000-w0.npy.gz" --size 8K | grep -q '^bottleneck' || fail "gradnic sim nic"
fi
