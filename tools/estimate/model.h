// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_ESTIMATE_MODEL_H
#define GRADNIC_TOOLS_ESTIMATE_MODEL_H
/// What an allreduce takes: the largest of three times. Pure functions.
///
///  - link: the bytes on the busiest link, over its rate;
///  - cores: what a host's processors do for it, over its cores;
///  - one thread: the busiest thread. It has one core, however many there are.
///
/// All three overlap in gradnic, and each can be the limit. costs.h has the processors' part, as
/// measured.

#include <stdint.h>

typedef enum gn_way {
    GN_WAY_RING,           ///< a ring over TCP, without NICs
    GN_WAY_RING_NIC,       ///< `gradnic nic` at every host compresses
    GN_WAY_RING_HARDWARE,  ///< the NIC in Verilog compresses
    GN_WAY_SWITCH,         ///< `gradnic switch` adds, uncompressed
    GN_WAY_SWITCH_DENSE,   ///< the workers compress, the switch adds streams
    GN_WAY_AGGREGATOR,     ///< rank 0 gathers, adds and sends back; uncompressed
    GN_WAYS
} gn_way;

/// "ring", "ring, NICs in software", ...
const char *gn_way_name(gn_way way);
/// For programs: "ring", "ring-nic", ...
const char *gn_way_key(gn_way way);

typedef struct gn_setting {
    unsigned ranks;  ///< one a host, at least 2
    double bytes;    ///< of one gradient
    double rate;     ///< of each link, bits per second, each direction
    double cores;    ///< of each host that the exchange can have; may be a fraction
    double speed;    ///< of a core, beside the one that costs.h was measured on
    // Bytes of values over bytes of their streams:
    double ring_ratio;  ///< of what goes round a ring: partial sums
    double up_ratio;    ///< of what a worker sends to a switch: its own gradient
    double down_ratio;  ///< of what a switch sends back: the sum
} gn_setting;

typedef enum gn_limit { GN_LIMIT_LINK, GN_LIMIT_CORES, GN_LIMIT_THREAD, GN_LIMIT_SWITCH } gn_limit;
/// "link", "cores", "one thread", "switch"
const char *gn_limit_name(gn_limit limit);

typedef struct gn_estimate {
    double link_bytes;  ///< on the busiest link, in its busier direction
    double link_seconds, core_seconds, thread_seconds;
    double switch_seconds;  ///< of the switch's thread; 0 without a switch
    double seconds;         ///< the largest of these
    gn_limit limit;         ///< which one that is
} gn_estimate;

gn_estimate gn_estimate_way(gn_way way, const gn_setting *setting);

/// The rate in bits per second up to which `way` is faster than a plain ring; 0: it never is,
/// INFINITY: always.
double gn_estimate_pays_to(gn_way way, const gn_setting *setting);

#endif
