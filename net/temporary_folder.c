// SPDX-License-Identifier: Apache-2.0
#include "net/temporary_folder.h"

#include <stdlib.h>

const char *gn_temporary_folder(void)
{
    const char *folder = getenv("TMPDIR");
    return folder && *folder == '/' ? folder : "/tmp";
}
