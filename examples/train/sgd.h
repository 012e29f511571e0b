// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_EXAMPLES_TRAIN_SGD_H
#define GRADNIC_EXAMPLES_TRAIN_SGD_H
/// Stochastic gradient descent with momentum and weight decay, as in the paper (INCEPTIONN, Table
/// I).

#include <stddef.h>

typedef struct gn_sgd {
    float rate, momentum, weight_decay;
} gn_sgd;

/// One step over `count` parameters: velocity = momentum * velocity + rate * (gradient +
/// weight_decay * weights); weights -= velocity. The same inputs give the same bits at every
/// rank.
void gn_sgd_step(const gn_sgd *sgd, float *weights, float *velocity, const float *gradient, size_t count);

#endif
