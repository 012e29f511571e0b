// SPDX-License-Identifier: Apache-2.0
// Changes settings of a running NIC.
#include <string.h>

#include "driver/nic_state.h"
#include "driver/request.h"
#include "driver/rules.h"

static gn_status merge_rules(const gn_nic *nic, const gn_change *change, gn_rule *rules, size_t *count, gn_error *error)
{
    const bool given = change->given & GN_CHANGE_RULES;
    *count = given ? change->rule_count : nic->config.rule_count;
    memcpy(rules, given ? change->rules : nic->config.rules, *count * sizeof *rules);
    for (size_t i = 0; i < *count; i++) {
        gn_codec *codec = &rules[i].codec;
        const gn_profile profile = change->given & GN_CHANGE_PROFILE ? change->profile : codec->profile;
        const int bound = change->given & GN_CHANGE_BOUND ? change->bound_exp : codec->bound_exp;
        if (gn_codec_init(codec, profile, bound) != GN_OK)
            return gn_fail(error, GN_INVALID, "profile %s does not take the bound 2^%d", gn_profile_name(profile),
                           -bound);
    }
    return gn_rules_check(rules, *count, error);
}

static gn_fault_config merge_fault(const gn_fault_config *old, const gn_change *change)
{
    gn_fault_config merged = *old;
    if (change->given & GN_CHANGE_LOSS) merged.loss = change->fault.loss;
    if (change->given & GN_CHANGE_DUPLICATE) merged.duplicate = change->fault.duplicate;
    if (change->given & GN_CHANGE_REORDER) merged.reorder = change->fault.reorder;
    if (change->given & GN_CHANGE_DELAY) merged.delay_ns = change->fault.delay_ns;
    if (change->given & GN_CHANGE_JITTER) merged.jitter_ns = change->fault.jitter_ns;
    if (change->given & GN_CHANGE_REORDER_NS) merged.reorder_ns = change->fault.reorder_ns;
    if (change->given & GN_CHANGE_SEED) merged.seed = change->fault.seed;
    return merged;
}

enum {
    RULES = GN_CHANGE_RULES | GN_CHANGE_PROFILE | GN_CHANGE_BOUND,
    FAULT = GN_CHANGE_LOSS | GN_CHANGE_DUPLICATE | GN_CHANGE_REORDER | GN_CHANGE_DELAY | GN_CHANGE_JITTER |
            GN_CHANGE_REORDER_NS | GN_CHANGE_SEED
};

gn_status gn_nic_change(gn_nic *nic, const gn_change *change, gn_error *error)
{
    gn_rule rules[GN_RULES_MAX];
    size_t count;
    if (merge_rules(nic, change, rules, &count, error)) return error->status;
    if ((change->given & GN_CHANGE_CUT) && change->cut == GN_CUT_FILL && !nic->config.engine->whole_segments)
        return gn_fail(error, GN_INVALID, "cut fill: engine %s takes only packets that are already cut to the MTU",
                       nic->config.engine->name);
    gn_error refusal;
    gn_status refused = GN_OK;
    pthread_mutex_lock(&nic->out->lock);
    pthread_mutex_lock(&nic->in->lock);
    if (change->given & RULES) refused = gn_datapath_set_rules(nic->datapath, rules, count, &refusal);
    if (refused) goto done;
    memcpy(nic->config.rules, rules, count * sizeof *rules);
    nic->config.rule_count = count;
    if (change->given & GN_CHANGE_CUT) nic->out->cut = change->cut;
    if (change->given & GN_CHANGE_BYPASS) {
        if (!change->bypass && nic->config.bypass) gn_guard_forget(nic->out->guard);
        nic->config.bypass = change->bypass;
        gn_datapath_set_bypass(nic->datapath, change->bypass);
        (void)gn_nic_stop_if_failed(nic);
    }
    if (change->given & GN_CHANGE_GUARD) {
        // What happened to flows meanwhile is not known.
        if (change->guard && !nic->config.guard) gn_guard_forget(nic->out->guard);
        nic->config.guard = change->guard;
    }
    if (change->given & GN_CHANGE_RATE) gn_rate_set(&nic->out->rate, change->rate, gn_now());
    if (change->given & FAULT) {
        const gn_fault_config fault = merge_fault(gn_fault_get(nic->out->fault), change);
        gn_fault_set(nic->out->fault, &fault);
    }
done:
    pthread_mutex_unlock(&nic->in->lock);
    pthread_mutex_unlock(&nic->out->lock);
    if (refused) return gn_fail(error, GN_INVALID, "the engine refused the rules: %.280s", refusal.text);
    return GN_OK;
}

gn_status gn_nic_reconfigure(gn_nic *nic, const gn_nic_config *config, gn_error *error)
{
    gn_change change = {.given = GN_CHANGE_RULES | GN_CHANGE_CUT | GN_CHANGE_BYPASS,
                        .rule_count = config->rule_count,
                        .cut = config->cut,
                        .bypass = config->bypass,
                        .guard = config->guard,
                        .rate = config->rate,
                        .fault = config->fault};
    memcpy(change.rules, config->rules, sizeof change.rules);
    // Only this thread changes what is compared here. To set these anew would begin anew: the
    // bucket, the verdicts on flows, and the random numbers.
    if (nic->out->rate.bits_per_second != config->rate) change.given |= GN_CHANGE_RATE;
    if (nic->config.guard != config->guard) change.given |= GN_CHANGE_GUARD;
    if (!gn_fault_same(gn_fault_get(nic->out->fault), &config->fault)) change.given |= FAULT;
    return gn_nic_change(nic, &change, error);
}
