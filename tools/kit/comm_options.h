// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_KIT_COMM_OPTIONS_H
#define GRADNIC_TOOLS_KIT_COMM_OPTIONS_H
/// The options of every command whose ranks exchange gradients (train, bench allreduce): which ranks there are, and how
/// they exchange. A command puts GN_RANK_OPTIONS and GN_EXCHANGE_OPTIONS into its argp table, hands every key to
/// gn_comm_option_parse() and calls gn_comm_options_finish() at ARGP_KEY_END. Its own keys are below 0x200.

#include <argp.h>

#include <gradnic/comm.h>

typedef struct gn_comm_options {
    unsigned local_ranks;  ///< -N: fork so many; 0: rank and size from elsewhere
    int rank, size;        ///< -1: from the environment
    const char *rendezvous, *interface;
    int timeout_ms;
    gn_algorithm algorithm;
    bool profile_given;  ///< -p
    bool asks;           ///< an option that means nothing without compression was given: without -p there is dense
    bool compress;       ///< there is a profile: ToS is on, and quantisation if the command does not say otherwise
    gn_profile profile;
    bool bound_given;  ///< -k
    int bound_exp;
    gn_codec codec;  ///< of both, when all was read and `compress`
    gn_scale scale;
    bool tos_given;
    unsigned tos;  ///< of the gradient legs
    const char *switch_address;
    unsigned switch_streams, switch_slots, switch_values, switch_rto_us;  ///< 0: the library's choice
    bool switch_nic;
} gn_comm_options;

enum {
    GN_OPTION_RANK = 0x200,
    GN_OPTION_SIZE,
    GN_OPTION_RENDEZVOUS,
    GN_OPTION_INTERFACE,
    GN_OPTION_TIMEOUT,
    GN_OPTION_ALGORITHM,
    GN_OPTION_SCALE,
    GN_OPTION_TOS,
    GN_OPTION_SWITCH,
    GN_OPTION_SWITCH_STREAMS,
    GN_OPTION_SWITCH_SLOTS,
    GN_OPTION_SWITCH_VALUES,
    GN_OPTION_SWITCH_RTO,
    GN_OPTION_SWITCH_NIC,
};

// clang-format off
/// Rows of an argp table. `who`: what the command calls a rank.
#define GN_RANK_OPTIONS(who) \
    {"ranks", 'N', "RANKS", 0, "start so many " who "s on this machine", 0}, \
    {"rank", GN_OPTION_RANK, "N", 0, "this " who " (RANK)", 0}, \
    {"size", GN_OPTION_SIZE, "N", 0, "of all " who "s (WORLD_SIZE)", 0}, \
    {"rendezvous", GN_OPTION_RENDEZVOUS, "WHERE", 0, \
     "tcp://HOST:PORT, file:///PATH, or env (MASTER_ADDR, MASTER_PORT)", 0}, \
    {"interface", GN_OPTION_INTERFACE, "SPEC", 0, \
     "a name (gn0), a network (10.9.0.0/24) or exclusions (^lo,docker0)", 0}, \
    {"timeout", GN_OPTION_TIMEOUT, "TIME", 0, "deadline of every wait (30s)", 0}

/// `aggregator`: what worker-aggregator does here, or ""; `asking`: options that ask for compression; `whose`: RMS that the bound is
/// relative to; `what`: goes with the ToS.
#define GN_EXCHANGE_OPTIONS(aggregator, asking, whose, what) \
    {"algorithm", GN_OPTION_ALGORITHM, "NAME", 0, "ring (default), worker-aggregator" aggregator ", or switch (with --switch)", 0}, \
    {"profile", 'p', "NAME", 0, "of the NICs' rule: dense, lattice, paper or none (dense with " asking "; otherwise none)", 0}, \
    {"bound", 'k', "K", 0, "error bound 2^-K of the NICs' rule (10)", 0}, \
    {"scale", GN_OPTION_SCALE, "none|auto", 0, "auto: the bound is relative to " whose " RMS", 0}, \
    {"tos", GN_OPTION_TOS, "TOS", 0, "of the " what " packets (0x28; 0 without a profile, or where the worker compresses for a switch itself)", 0}, \
    {"switch", GN_OPTION_SWITCH, "HOST:PORT", 0, "the gradnic switch that adds (algorithm switch); behind different leaves of one root: each its own", 0}, \
    {"switch-streams", GN_OPTION_SWITCH_STREAMS, "N", 0, "parts of a vector that travel on their own, each with a thread (1)", 0}, \
    {"switch-slots", GN_OPTION_SWITCH_SLOTS, "N", 0, "packets of a stream on their way at a time, a power of two (256; compressed 512)", 0}, \
    {"switch-values", GN_OPTION_SWITCH_VALUES, "N", 0, "values of a packet (what the MTU takes, compressed to a sixth; at most 2048)", 0}, \
    {"switch-rto", GN_OPTION_SWITCH_RTO, "TIME", 0, "least time after which a packet is sent again (10ms)", 0}, \
    {"switch-nic", GN_OPTION_SWITCH_NIC, 0, 0, "the NIC of this host compresses: it has the profile and bound in a rule for UDP with head=32", 0}
// clang-format on

/// What holds when nothing is given.
gn_comm_options gn_comm_options_default(void);

/// Reads one option. False: `key` is none of these. Exits with GN_EXIT_USAGE and a message when the value is wrong.
bool gn_comm_option_parse(int key, char *arg, struct argp_state *state, gn_comm_options *options);

/// What can only be judged when all was read; fills in `codec` and `tos`. Exits like the one above.
void gn_comm_options_finish(struct argp_state *state, gn_comm_options *options);

/// The communicator's configuration: the default, with what the options say. Quantises if there is a profile.
gn_comm_config gn_comm_options_config(const gn_comm_options *options, int rank, int size, const char *rendezvous);

/// "ring", "worker-aggregator", "switch".
const char *gn_comm_options_algorithm(const gn_comm_options *options);

/// "none" or the profile's name.
const char *gn_comm_options_profile(const gn_comm_options *options);

#endif
