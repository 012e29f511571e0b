// SPDX-License-Identifier: Apache-2.0
#include "ring/evidence.h"

gn_suspicion gn_suspect(const gn_watch *watch, uint64_t limit)
{
    gn_evidence evidence = GN_EVIDENCE_NONE;
    if (watch->left)
        evidence = GN_EVIDENCE_LEFT;
    else if (watch->silent > limit)
        evidence = GN_EVIDENCE_SILENT;
    else if (watch->still > limit && watch->stuck)
        evidence = GN_EVIDENCE_STUCK;
    else if (watch->still > 2 * limit)
        evidence = GN_EVIDENCE_STILL;
    return (gn_suspicion){evidence, watch->silent};
}

bool gn_suspicion_stronger(gn_suspicion a, gn_suspicion b)
{
    return a.evidence != b.evidence ? a.evidence > b.evidence : a.silent > b.silent;
}
