// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include <gradnic/status.h>

#include "suite.h"

START_TEST(every_status_has_its_own_text)
{
    for (int i = 0; i < GN_STATUS_COUNT; i++) {
        ck_assert_ptr_nonnull(gn_status_string((gn_status)i));
        for (int j = 0; j < i; j++) ck_assert_str_ne(gn_status_string((gn_status)i), gn_status_string((gn_status)j));
    }
    ck_assert_str_eq(gn_status_string((gn_status)99), "unknown status");
}
END_TEST

int main(void)
{
    return RUN_TESTS("status", every_status_has_its_own_text);
}
