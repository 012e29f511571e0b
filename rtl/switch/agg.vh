// SPDX-License-Identifier: Apache-2.0
// Included inside a module. What becomes of a packet is a number: below 16 the reason to drop it,
// as gn_drop of switch.h has it, from 16 on what is done. These two make a result leave. The
// others: gn_slot_judge.
localparam [4:0] DONE_WHOLE = 5'd17, DONE_REPEATED = 5'd18;

// What is known of a copy of a slot: STATE bits. USED: it is not empty. WHOLE: all have
// contributed.
localparam AT_PSN = 0, AT_SEEN = 32, AT_VALUES = 40, AT_USED = 52, AT_WHOLE = 53, AT_POISON = 54, AT_ECN = 55,
           AT_LATE = 56, AT_EXPONENT = 57, AT_NEXT = 65, AT_PRIORITY = 73, STATE = 89;
