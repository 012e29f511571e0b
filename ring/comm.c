// SPDX-License-Identifier: Apache-2.0
#include <gradnic/comm.h>

gn_comm_config gn_comm_config_default(void)
{
    gn_comm_config config = {.rank = -1, .size = -1, .algorithm = GN_RING, .data_tos = 0x28};
    return config;
}
