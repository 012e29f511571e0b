// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_NET_TEMPORARY_FOLDER_H
#define GRADNIC_NET_TEMPORARY_FOLDER_H

/// TMPDIR if it is an absolute path, otherwise "/tmp".
const char *gn_temporary_folder(void);

#endif
