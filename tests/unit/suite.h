// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TESTS_SUITE_H
#define GRADNIC_TESTS_SUITE_H
/// main() of a Check program in one line: return RUN_SUITE("name", setup, teardown, test, test, ...).

#include <stdlib.h>

#include <check.h>

#define RUN_SUITE(name, setup, teardown, ...)                                                                          \
    run_suite(name, setup, teardown, (const TTest *const[]){__VA_ARGS__, NULL})

static inline int run_suite(const char *name, void (*setup)(void), void (*teardown)(void), const TTest *const *tests)
{
    Suite *suite = suite_create(name);
    TCase *tcase = tcase_create(name);
    tcase_add_checked_fixture(tcase, setup, teardown);
    for (; *tests; tests++) tcase_add_test(tcase, *tests);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
