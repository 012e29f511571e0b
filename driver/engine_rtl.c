// SPDX-License-Identifier: Apache-2.0
// The Verilog NIC as an engine, alone and beside the reference.
#include "driver/engine_packets.h"
#include "driver/transform_lockstep.h"
#include "driver/transform_rtl.h"

static gn_status rtl_open(void **state, const gn_engine_config *config, gn_error *error)
{
    return gn_packets_open(state, &gn_transform_rtl, config, error);
}

static gn_status compared_open(void **state, const gn_engine_config *config, gn_error *error)
{
    return gn_lockstep_open(state, &gn_transform_model, &gn_transform_rtl, config, error);
}

static const gn_transform compared = {.name = "lockstep", .open = compared_open, GN_TRANSFORM_LOCKSTEP};

static gn_status lockstep_open(void **state, const gn_engine_config *config, gn_error *error)
{
    return gn_packets_open(state, &compared, config, error);
}

const gn_engine gn_engine_rtl = {.name = "rtl", .open = rtl_open, GN_ENGINE_PACKETS};
const gn_engine gn_engine_lockstep = {
    .name = "lockstep", .open = lockstep_open, .comparison = gn_packets_comparison, GN_ENGINE_PACKETS};
