// SPDX-License-Identifier: Apache-2.0
#include "settings.h"

gn_train_settings gn_train_settings_default(void)
{
    return (gn_train_settings){.classes = 10,
                               .layers = 5,
                               .hidden = 500,
                               .batch = 25,
                               .sgd = {.rate = 0.1f, .momentum = 0.9f, .weight_decay = 5e-5f},
                               .rate_drop = 5,
                               .rate_drop_steps = 2000,
                               .epochs = 2,
                               .seed = 1,
                               .comm = gn_comm_config_default(),
                               .mtu = 1500};
}
