// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_SIM_NIC_OPTIONS_H
#define GRADNIC_TOOLS_SIM_NIC_OPTIONS_H
/// Options of `gradnic sim nic`. They are read twice: by the program, and by the simulator that
/// the program becomes.

#include <stdbool.h>
#include <stdint.h>

#include <gradnic/frame.h>

#include "tools/kit/result_options.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { GN_SIM_NIC_RULES = 4 };  // RULES of gn_nic_top

/// When the host gives its next frame to the NIC.
typedef enum gn_sim_pace {
    GN_SIM_PACE_MAX,    ///< as soon as the NIC takes it
    GN_SIM_PACE_RATE,   ///< as an Ethernet of pace_rate would
    GN_SIM_PACE_STAMPS  ///< at its time stamp in the capture
} gn_sim_pace;

typedef struct gn_sim_nic_options {
    const char *input;
    unsigned lanes;  ///< 1: a bus of 256 bits; 2 or 4: of 512
    bool rtl;        ///< the Verilated gn_nic_top; otherwise the behavioural model
    uint64_t rate;
    uint64_t clock_hz, clock_b_hz;  ///< of host a's NIC and of b's
    gn_sim_pace pace;
    uint64_t pace_rate;
    unsigned host_mtu;  ///< the wire's is GN_SHIM_BYTES more
    bool tcp;
    uint64_t size;  ///< bytes of gradients; 0: the file's
    bool duplex;
    bool bypass;
    gn_rule rules[GN_SIM_NIC_RULES];
    unsigned rule_count;
    uint64_t delay_ns;
    double loss, corrupt;
    uint64_t seed;
    uint64_t fifo_bytes;
    const char *pcap_wire;
    gn_result_options result;
} gn_sim_nic_options;

/// Reads the command line; ends the program on wrong usage and for --help.
void gn_sim_nic_parse(gn_sim_nic_options *options, int argc, char **argv);

#ifdef __cplusplus
}
#endif
#endif
