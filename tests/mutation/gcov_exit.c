// SPDX-License-Identifier: Apache-2.0
/// For mutate_c.py: a process that ends by _exit() says which lines it reached, too. Programs are
/// linked with --wrap=_exit.
#include <gcov.h>

_Noreturn void __real__exit(int status);
_Noreturn void __wrap__exit(int status);

_Noreturn void __wrap__exit(int status)
{
    __gcov_dump();
    __real__exit(status);
}
