# SPDX-License-Identifier: Apache-2.0
# Toolchain: Debian's cross compiler for aarch64. Programs run under qemu-user. scripts/aarch64
# fetches libraries for aarch64 into build/aarch64-libraries.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(libraries ${CMAKE_CURRENT_LIST_DIR}/../build/aarch64-libraries)
list(APPEND CMAKE_FIND_ROOT_PATH ${libraries})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${libraries})
set(ENV{PKG_CONFIG_LIBDIR} ${libraries}/usr/lib/aarch64-linux-gnu/pkgconfig)
foreach(kind EXE SHARED MODULE)  # the libraries that libraries need
  set(CMAKE_${kind}_LINKER_FLAGS_INIT
      "-Wl,-rpath-link,${libraries}/usr/lib/aarch64-linux-gnu:${libraries}/lib/aarch64-linux-gnu")
endforeach()
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L /usr/aarch64-linux-gnu
  -E LD_LIBRARY_PATH=${libraries}/lib/aarch64-linux-gnu:${libraries}/usr/lib/aarch64-linux-gnu)
