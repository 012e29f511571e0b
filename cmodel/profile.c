// SPDX-License-Identifier: Apache-2.0
// The table of profiles.
#include "profile.h"

#include <string.h>

#include "dense.h"
#include "record.h"

static const gn_profile_row rows[GN_PROFILE_COUNT] = {
    [GN_PAPER] = {"paper", 1, 126, gn_paper_encode, gn_paper_decode, gn_record_bound, gn_record_walk},
    [GN_LATTICE] = {"lattice", -31, 31, gn_lattice_encode, gn_lattice_decode, gn_record_bound, gn_record_walk},
    [GN_DENSE] = {"dense", -31, 31, gn_lattice_encode, gn_lattice_decode, gn_dense_bound, gn_dense_walk},
};

const gn_profile_row *gn_profile_row_of(gn_profile profile)
{
    return (unsigned)profile < GN_PROFILE_COUNT ? &rows[profile] : NULL;
}

const char *gn_profile_name(gn_profile profile)
{
    return (unsigned)profile < GN_PROFILE_COUNT ? rows[profile].name : NULL;
}

gn_status gn_profile_parse(const char *name, gn_profile *profile)
{
    for (unsigned i = 0; i < GN_PROFILE_COUNT; i++) {
        if (strcmp(name, rows[i].name) != 0) continue;
        *profile = (gn_profile)i;
        return GN_OK;
    }
    return GN_INVALID;
}

gn_status gn_profile_range(gn_profile profile, int *lowest, int *highest)
{
    const gn_profile_row *row = gn_profile_row_of(profile);
    if (!row) return GN_UNSUPPORTED;
    *lowest = row->lowest;
    *highest = row->highest;
    return GN_OK;
}
