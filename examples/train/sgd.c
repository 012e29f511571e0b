// SPDX-License-Identifier: Apache-2.0
#include "sgd.h"

void gn_sgd_step(const gn_sgd *sgd, float *weights, float *velocity, const float *gradient, size_t count)
{
    const float rate = sgd->rate, momentum = sgd->momentum, decay = sgd->weight_decay;
    for (size_t i = 0; i < count; i++) {
        velocity[i] = momentum * velocity[i] + rate * (gradient[i] + decay * weights[i]);
        weights[i] -= velocity[i];
    }
}
