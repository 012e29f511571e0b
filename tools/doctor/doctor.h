// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_DOCTOR_DOCTOR_H
#define GRADNIC_TOOLS_DOCTOR_DOCTOR_H
/// Parts of `gradnic doctor`. doctor.c has the options. Each part looks at one thing and adds its
/// findings. None of them changes the host.

#include "findings.h"
#include "net/address.h"

void gn_doctor_build(gn_findings *findings);   ///< build.c: what this program was built with
void gn_doctor_codec(gn_findings *findings);   ///< codec.c: kernels of this processor, their speed
void gn_doctor_kernel(gn_findings *findings);  ///< kernel.c: Linux, TUN devices and their offloads
void gn_doctor_socket(gn_findings *findings);  ///< socket.c: UDP offloads, buffers
void gn_doctor_memory(gn_findings *findings);  ///< memory.c: memory between ranks, /dev/shm
void gn_doctor_limits(gn_findings *findings);  ///< limits.c: cores, files, locked memory, clocks

/// path.c: the path to a peer, where `gradnic doctor --listen` answers. `tos`: the mark to try. At
/// most half a minute.
void gn_doctor_path(gn_findings *findings, const gn_endpoint *peer, uint8_t tos);

/// listen.c: answers the probes of others for a while, or until SIGINT or SIGTERM.
/// @return GN_OK, GN_IO
gn_status gn_doctor_listen(const gn_endpoint *at, uint64_t span_ns, bool quiet, gn_error *error);

/// The first line of a small file, without its newline; "" when it cannot be read. @return text
const char *gn_doctor_line(const char *path, char *text, size_t room);

#endif
