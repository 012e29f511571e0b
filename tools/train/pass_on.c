// SPDX-License-Identifier: Apache-2.0
#include "pass_on.h"

gn_status gn_train_pass_on(gn_status status, const gn_error *from, gn_train_error *error)
{
    return status ? gn_train_fail(error, status, "%s", from->text) : GN_OK;
}
