// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_BENCH_NIC_H
#define GRADNIC_TOOLS_BENCH_NIC_H
/// `gradnic bench nic`: a flow of real gradients from host to host, measured and checked.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/kit/result_options.h"

typedef struct gn_bench_nic {
    const char *program, *host, *input;
    uint16_t port;  ///< flows; port + 1: echo
    int tos;
    uint64_t time_ns;
    uint64_t round_trip, count;  ///< bytes there and back, and how often; 0: a flow
    double bound;                ///< the server's: largest error allowed
    bool serve, once;
    gn_result_options result;
    gn_result_file file;  ///< the client's
    float *values;        ///< of the input, sent again and again
    size_t value_count;
} gn_bench_nic;

/// The two ends.
/// @return exit status
int gn_bench_nic_client(gn_bench_nic *bench);
int gn_bench_nic_server(gn_bench_nic *bench);

enum { GN_BENCH_NIC_DEADLINE_S = 20, GN_BENCH_NIC_CHUNK = 1 << 20 };

/// A TCP socket with deadlines. @return -1 with errno
int gn_bench_nic_socket(int family, int tos);

#endif
