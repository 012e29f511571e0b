// SPDX-License-Identifier: Apache-2.0
#include "ring/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gradnic/admission.h>

#include "ring/group.h"
#include "ring/groups/grouping.h"
#include "ring/worker_channel.h"

gn_comm_config gn_comm_config_default(void)
{
    gn_comm_config config = {.rank = -1, .size = -1, .algorithm = GN_RING, .data_tos = GN_TOS_AUTO};
    gn_codec_init(&config.codec, GN_DENSE, 10);  // gn_rule_default()'s
    return config;
}

const char *gn_algorithm_name(gn_algorithm algorithm)
{
    static const char *const names[GN_ALGORITHMS] = {[GN_RING] = "ring",
                                                     [GN_WORKER_AGGREGATOR] = "worker-aggregator",
                                                     [GN_SWITCH] = "switch",
                                                     [GN_DIRECT] = "direct",
                                                     [GN_AUTO] = "auto",
                                                     [GN_GROUP_RING] = "group-ring",
                                                     [GN_GROUP_AGGREGATOR] = "group-aggregator",
                                                     [GN_AGGREGATORS] = "aggregators"};
    return (unsigned)algorithm < GN_ALGORITHMS ? names[algorithm] : NULL;
}

const char *gn_offload_name(gn_offload offload)
{
    static const char *const names[GN_OFFLOADS] = {[GN_OFFLOAD_AUTO] = "auto",
                                                   [GN_OFFLOAD_LIBRARY] = "library",
                                                   [GN_OFFLOAD_NIC] = "nic",
                                                   [GN_OFFLOAD_NONE] = "none"};
    return (unsigned)offload < GN_OFFLOADS ? names[offload] : NULL;
}

const char *gn_half_name(gn_half half)
{
    static const char *const names[GN_HALVES] = {
        [GN_HALF_NONE] = "none", [GN_HALF_TYPES] = "types", [GN_HALF_ALL] = "all"};
    return (unsigned)half < GN_HALVES ? names[half] : NULL;
}

/// What GRADNIC_OFFLOAD says. @return GN_OFFLOADS for a word that is not known
static gn_offload from_environment(void)
{
    const char *text = getenv("GRADNIC_OFFLOAD");
    gn_offload offload = GN_OFFLOAD_AUTO;
    if (!text || !*text) return GN_OFFLOAD_AUTO;
    while (offload < GN_OFFLOADS && strcmp(text, gn_offload_name(offload)) != 0) offload++;
    return offload;
}

static gn_status check_offload(const gn_comm_config *c, gn_error *error)
{
    const bool asked = c->offload == GN_OFFLOAD_LIBRARY || gn_comm_config_offload(c) == GN_OFFLOAD_LIBRARY;
    const bool library = c->quantise && asked;
    if (!gn_offload_name(c->offload)) return gn_fail(error, GN_INVALID, "offload %d is not known", (int)c->offload);
    if (c->offload == GN_OFFLOAD_AUTO && from_environment() == GN_OFFLOADS)
        return gn_fail(error, GN_INVALID, "GRADNIC_OFFLOAD is '%.40s': want library, nic, none or auto",
                       getenv("GRADNIC_OFFLOAD"));
    if (library && c->switch_nic) return gn_fail(error, GN_INVALID, "switch_nic means offload nic; offload is library");
    if (library && (c->wire || c->wire_plain))
        return gn_fail(error, GN_INVALID, "a wire function stands for a NIC; with offload library there is none");
    if (library && c->data_tos >= 0 && (c->data_tos & 0xFC) == 0x28)
        return gn_fail(error, GN_INVALID,
                       "data_tos 0x%02x with offload library%s: a NIC would compress what is compressed; take offload "
                       "nic, or another ToS",
                       (unsigned)c->data_tos, c->offload == GN_OFFLOAD_AUTO ? " (GRADNIC_OFFLOAD)" : "");
    return GN_OK;
}

/// What GRADNIC_SHARED_MEMORY says. @return false for a word that is not known
static bool shares_memory(bool *shares)
{
    const char *text = getenv("GRADNIC_SHARED_MEMORY");
    *shares = !text || strcmp(text, "no") != 0;
    return !text || !*text || !*shares || !strcmp(text, "yes");
}

static gn_status check_switch(const gn_comm_config *c, gn_error *error)
{
    if (!c->switch_address) return gn_fail(error, GN_INVALID, "algorithm switch needs switch_address, \"host:port\"");
    if (c->quantise && c->codec.profile == GN_PAPER)
        return gn_fail(error, GN_INVALID, "a switch adds integers, which paper does not have: take dense or lattice");
    if (c->switch_nic && !c->quantise)
        return gn_fail(error, GN_INVALID, "switch_nic needs quantise, and the codec of the NIC's rule");
    if (!gn_half_name(c->switch_half))
        return gn_fail(error, GN_INVALID, "switch_half is %d: want GN_HALF_NONE, GN_HALF_TYPES or GN_HALF_ALL",
                       (int)c->switch_half);
    if (c->switch_half && c->quantise)
        return gn_fail(error, GN_INVALID, "switch_half is for values without a codec: leave quantise or it off");
    if (c->switch_channels > GN_ADMISSION_STREAMS_MAX)
        return gn_fail(error, GN_INVALID, "switch_channels is %u: want 1 to %d", c->switch_channels,
                       GN_ADMISSION_STREAMS_MAX);
    if (c->switch_slots > GN_AGG_SLOTS_MAX || (c->switch_slots & (c->switch_slots - 1)))
        return gn_fail(error, GN_INVALID, "switch_slots is %u: want a power of two up to %d", c->switch_slots,
                       GN_AGG_SLOTS_MAX);
    if (c->switch_values > GN_AGG_VALUES_MAX)
        return gn_fail(error, GN_INVALID, "switch_values is %u: want at most %d", c->switch_values, GN_AGG_VALUES_MAX);
    if (c->switch_rto_us > 1000000)
        return gn_fail(error, GN_INVALID, "switch_rto_us is %u: want at most a second", c->switch_rto_us);
    if (c->wire || c->wire_plain)
        return gn_fail(error, GN_INVALID, "a wire function sees no data with algorithm switch");
    return GN_OK;
}

static gn_status check_groups(const gn_comm_config *c, gn_error *error)
{
    gn_grouping grouping;
    const bool grouped = gn_algorithm_has_groups(c->algorithm) || (c->algorithm == GN_RING && c->groups);
    if (gn_grouping_read(c->groups, &grouping, error)) return error->status;
    if (!gn_offload_name(c->group_offload))
        return gn_fail(error, GN_INVALID, "group_offload %d is not known", (int)c->group_offload);
    if (!grouped && (c->groups || c->group_offload != GN_OFFLOAD_AUTO))
        return gn_fail(error, GN_INVALID, "%s with algorithm %s: take group-ring, group-aggregator or aggregators",
                       c->groups ? "groups" : "group_offload", gn_algorithm_name(c->algorithm));
    if (c->group_offload == GN_OFFLOAD_AUTO || c->group_offload == gn_comm_config_offload(c)) return GN_OK;
    if (c->group_offload != GN_OFFLOAD_NONE || gn_comm_config_offload(c) != GN_OFFLOAD_LIBRARY)
        return gn_fail(error, GN_INVALID,
                       "group_offload %s with offload %s: only library and none can differ, in a group",
                       gn_offload_name(c->group_offload), gn_offload_name(gn_comm_config_offload(c)));
    return GN_OK;
}

gn_status gn_config_check(const gn_comm_config *config, gn_error *error)
{
    int lowest, highest;
    if (!gn_algorithm_name(config->algorithm))
        return gn_fail(error, GN_INVALID, "algorithm %d is not known", (int)config->algorithm);
    if (config->scale != GN_SCALE_NONE && config->scale != GN_SCALE_AUTO)
        return gn_fail(error, GN_INVALID, "scale %d is not known", (int)config->scale);
    if (config->data_tos < GN_TOS_AUTO || config->data_tos > 0xFF)
        return gn_fail(error, GN_INVALID, "data_tos is %d: want 0 to 255, or GN_TOS_AUTO", config->data_tos);
    if (config->timeout_ms < 0)
        return gn_fail(error, GN_INVALID, "timeout_ms is %d: want 0 (30000) or more", config->timeout_ms);
    if (config->quantise && (!config->codec.kernel || gn_profile_range(config->codec.profile, &lowest, &highest) ||
                             config->codec.bound_exp < lowest || config->codec.bound_exp > highest))
        return gn_fail(error, GN_INVALID, "quantise needs a codec made by gn_codec_init()");
    if (check_offload(config, error) || check_groups(config, error)) return error->status;
    bool shares;
    if (!shares_memory(&shares))
        return gn_fail(error, GN_INVALID, "GRADNIC_SHARED_MEMORY is '%.40s': want yes or no",
                       getenv("GRADNIC_SHARED_MEMORY"));
    return config->algorithm == GN_SWITCH ? check_switch(config, error) : GN_OK;
}

gn_offload gn_comm_config_offload(const gn_comm_config *config)
{
    if (!config || !config->quantise) return GN_OFFLOAD_NONE;
    // A wire function is a NIC, whatever the environment says of other communicators.
    if (config->wire || config->wire_plain || config->switch_nic) return GN_OFFLOAD_NIC;
    gn_offload offload = config->offload;
    if (offload == GN_OFFLOAD_AUTO) offload = from_environment();
    if (offload != GN_OFFLOAD_AUTO && offload != GN_OFFLOADS) return offload;
    return config->data_tos > 0 ? GN_OFFLOAD_NIC : GN_OFFLOAD_LIBRARY;
}

uint16_t gn_comm_config_groups(const gn_comm_config *config, uint16_t *number)
{
    gn_grouping grouping;
    gn_error ignored;
    if (gn_grouping_read(config->groups, &grouping, &ignored)) grouping = (gn_grouping){.by = GN_GROUPS_BY_HOST};
    *number = grouping.number;
    return grouping.by;
}

/// Ranks of one host mostly share memory, which is faster than any codec.
static void choose_groups(gn_comm_config *config)
{
    uint16_t ignored;
    if (config->algorithm == GN_RING && config->groups) config->algorithm = GN_GROUP_RING;
    if (!gn_algorithm_has_groups(config->algorithm)) return;
    config->aggregator_weights = false;  // both legs carry gradients
    if (config->group_offload != GN_OFFLOAD_AUTO) return;
    const bool by_host = gn_comm_config_groups(config, &ignored) == GN_GROUPS_BY_HOST;
    const bool plain = by_host && config->offload == GN_OFFLOAD_LIBRARY;
    config->group_offload = plain ? GN_OFFLOAD_NONE : config->offload;
}

/// Packets are marked for the NICs only when their codec is known here. Unmarked packets pass any
/// NIC as they are.
void gn_comm_config_choose(gn_comm_config *config)
{
    bool shares;
    (void)shares_memory(&shares);
    if (!shares) config->no_shared_memory = true;
    config->offload = gn_comm_config_offload(config);
    const bool nic = config->offload == GN_OFFLOAD_NIC;
    config->switch_nic = nic && config->algorithm == GN_SWITCH;
    if (config->data_tos == GN_TOS_AUTO) config->data_tos = nic ? 0x28 : 0;
    if (!config->switch_channels) config->switch_channels = 1;
    choose_groups(config);
}

uint32_t gn_config_segment(const gn_comm_config *config)
{
    enum { DEFAULT = 256 << 10 };
    _Static_assert((int)GN_SEGMENT_LEAST == (int)GN_SEGMENT_MIN && (int)GN_SEGMENT_MOST == (int)GN_SEGMENT_MAX,
                   "the limits of the message are those of the interface");
    const size_t bytes = config->segment_bytes ? config->segment_bytes : DEFAULT;
    return gn_segment_bytes_fit(bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX);
}

int gn_timeout_ms(const gn_comm_config *config)
{
    return config->timeout_ms > 0 ? config->timeout_ms : 30000;
}
