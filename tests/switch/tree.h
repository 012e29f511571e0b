// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TESTS_SWITCH_TREE_H
#define GRADNIC_TESTS_SWITCH_TREE_H
/// A root and two leaves, each with two workers. For Check tests: whatever goes wrong fails the
/// test.

#include "switches.h"

typedef struct tree {
    running ps, root, leaf[2];
    bool shares;
    char folder[32], control[4][48];  ///< sockets of root, leaves, parameter server
} tree;

enum { ROOT, LEAF, PS = LEAF + 2 };

/// Starts the switches. `shares`: they share their slots, and there is a parameter server.
void plant(tree *t, bool shares);
/// One of four workers. It sums for long, and has some patience.
sw_client worker_of(const tree *t, const char *name, unsigned rank);
/// Kills all switches that have a process, and removes their sockets.
void fell(const tree *t);
/// The status of one of them says in the end, with blanks left out: `named`'s address stands for
/// the %s. It takes until reminders have been answered.
void status_says(const tree *t, unsigned whose, const char *format, const running *named);

#endif
