// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TESTS_SUITE_H
#define GRADNIC_TESTS_SUITE_H
/// main() of a Check program in one line:
/// - with a fixture: return RUN_SUITE("name", setup, teardown, test, test, ...)
/// - without: return RUN_TESTS("name", test, test, ...)
///
/// A program that needs more (loops, time limits) makes the suite itself and returns suite_run().

#include <stdlib.h>

#include <check.h>

#define RUN_SUITE(name, setup, teardown, ...)                                                                          \
    run_suite(name, setup, teardown, (const TTest *const[]){__VA_ARGS__, NULL})
#define RUN_TESTS(name, ...) RUN_SUITE(name, NULL, NULL, __VA_ARGS__)

/// Whether a sanitizer looks on, which takes two to ten times as long. Where it finds the same with
/// fewer cases, a test leaves some out: the release build has them all.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

/// Check's own 4 s are too short for a busy machine. ctest sets the right limit for each test. This
/// one is for programs run by hand.
__attribute__((constructor)) static void suite_patience(void)
{
    setenv("CK_DEFAULT_TIMEOUT", "300", 0);
}

/// Like ck_assert_msg(), but quicker. That one writes to a pipe each time, which is too slow for
/// every packet.
#define SUITE_CHECK(condition, ...)                                                                                    \
    do {                                                                                                               \
        if (!(condition)) ck_abort_msg(__VA_ARGS__);                                                                   \
    } while (0)

/// A call that fills `gn_error error` fails, with these words.
#define ck_assert_fails(call, words)                                                                                   \
    do {                                                                                                               \
        ck_assert_int_ne(call, GN_OK);                                                                                 \
        ck_assert_str_eq(error.text, words);                                                                           \
    } while (0)

/// Runs and frees a suite. @return the program's exit status
static inline int suite_run(Suite *suite)
{
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

static inline int run_suite(const char *name, void (*setup)(void), void (*teardown)(void), const TTest *const *tests)
{
    Suite *suite = suite_create(name);
    TCase *tcase = tcase_create(name);
    tcase_add_checked_fixture(tcase, setup, teardown);
    for (; *tests; tests++) tcase_add_test(tcase, *tests);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}

#endif
