// SPDX-License-Identifier: Apache-2.0
#include "ring/bootstrap/terms.h"

#include <stdio.h>

#include "ring/group.h"
#include "ring/groups/grouping.h"

gn_terms gn_terms_of(const gn_comm_config *config)
{
    gn_terms terms = {.version = GN_PROTOCOL_VERSION,
                      .algorithm = (uint8_t)config->algorithm,
                      .quantise = config->quantise,
                      .scale = (uint8_t)config->scale,
                      .data_tos = (uint8_t)config->data_tos,
                      .aggregator_weights = config->aggregator_weights,
                      .offload = (uint8_t)config->offload};
    if (config->quantise) {
        terms.profile = (uint8_t)config->codec.profile;
        terms.bound_exp = (int8_t)config->codec.bound_exp;
    }
    if (config->scale == GN_SCALE_AUTO) terms.scale_target = config->scale_target;
    if (config->algorithm == GN_SWITCH) terms.switch_channels = (uint8_t)config->switch_channels;
    if (config->algorithm == GN_SWITCH) terms.switch_half = (uint8_t)config->switch_half;
    if (gn_algorithm_has_groups(config->algorithm)) {
        gn_grouping grouping;
        gn_error ignored;  // it was checked
        (void)gn_grouping_read(config->groups, &grouping, &ignored);
        terms.groups = grouping.by;
        terms.group_offload = (uint8_t)config->group_offload;
    }
    return terms;
}

static const char *or_unknown(const char *name)
{
    return name ? name : "unknown";
}

static void say_groups(uint16_t by, char *text, size_t room)
{
    char how[48];
    gn_grouping_say(by, how, sizeof how);
    snprintf(text, room, "groups %s", how);
}

bool gn_terms_differ(const gn_terms *one, const gn_terms *other, char *text, size_t room)
{
    if (one->version != other->version)
        snprintf(text, room, "protocol version %u", one->version);
    else if (one->algorithm != other->algorithm)
        snprintf(text, room, "algorithm %s", or_unknown(gn_algorithm_name((gn_algorithm)one->algorithm)));
    else if (one->quantise != other->quantise)
        snprintf(text, room, "quantise %s", one->quantise ? "on" : "off");
    else if (one->profile != other->profile)
        snprintf(text, room, "profile %s", or_unknown(gn_profile_name((gn_profile)one->profile)));
    else if (one->bound_exp != other->bound_exp)
        snprintf(text, room, "bound 2^%d", -one->bound_exp);
    else if (one->scale != other->scale)
        snprintf(text, room, "scale %s", one->scale ? "auto" : "none");
    else if (one->scale_target != other->scale_target)
        snprintf(text, room, "scale target 2^%d", one->scale_target);
    else if (one->offload != other->offload)
        snprintf(text, room, "offload %s", or_unknown(gn_offload_name((gn_offload)one->offload)));
    else if (one->data_tos != other->data_tos)
        snprintf(text, room, "data ToS 0x%02x", one->data_tos);
    else if (one->aggregator_weights != other->aggregator_weights)
        snprintf(text, room, "aggregator weights %s", one->aggregator_weights ? "on" : "off");
    else if (one->switch_channels != other->switch_channels)
        snprintf(text, room, "%u switch channels", one->switch_channels);
    else if (one->switch_half != other->switch_half)
        snprintf(text, room, "switch half %s", or_unknown(gn_half_name((gn_half)one->switch_half)));
    else if (one->groups != other->groups)
        say_groups(one->groups, text, room);
    else if (one->group_offload != other->group_offload)
        snprintf(text, room, "offload within a group %s", or_unknown(gn_offload_name((gn_offload)one->group_offload)));
    else
        return false;
    return true;
}
