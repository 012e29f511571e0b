// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_KIT_COMM_OPTIONS_H
#define GRADNIC_TOOLS_KIT_COMM_OPTIONS_H
/// The options of every command whose ranks exchange gradients (train, bench allreduce): which
/// ranks there are, and how they exchange. A command puts GN_RANK_OPTIONS and GN_EXCHANGE_OPTIONS
/// into its argp table, hands every key to gn_comm_option_parse() and calls
/// gn_comm_options_finish() at ARGP_KEY_END. Its own keys are below 0x200.

#include <argp.h>
#include <stdbool.h>

#include <gradnic/comm.h>

#include "net/launcher.h"
#include "old_names.h"

typedef struct gn_comm_options {
    unsigned local_ranks;  ///< -N: start this many; 0: --rank and --world-size, or a launcher's
    int rank, size;        ///< with -N: -1
    gn_place place;        ///< who has said them, where no option did
    const char *rendezvous, *interface, *secret_file;
    int timeout_ms;
    gn_algorithm algorithm;
    bool profile_given;  ///< -p
    bool asks;           ///< an option was given that needs compression: dense is the default then
    bool compress;       ///< there is a profile: set the ToS, and quantise
    gn_profile profile;
    bool bound_given;  ///< -k
    int bound_exp;
    gn_codec codec;  ///< of profile and bound; valid if `compress`
    gn_scale scale;
    gn_offload offload;   ///< who compresses; after gn_comm_options_finish() not GN_OFFLOAD_AUTO
    bool nic_in_process;  ///< the command stands in for the NICs
    bool tos_given;
    unsigned tos;  ///< of the gradient legs
    const char *switch_address;
    unsigned switch_channels, switch_slots, switch_values, switch_rto_us;  ///< 0: default
    bool switch_nic;
    gn_half switch_half;
    bool no_shared_memory;
    const char *groups;        ///< --groups, as gn_comm_config has it
    gn_offload group_offload;  ///< --group-offload
    const char *teller;        ///< the program that says on rank 0 what the library has found; NULL: none
} gn_comm_options;

enum {
    GN_OPTION_RANK = 0x200,
    GN_OPTION_WORLD_SIZE,
    GN_OPTION_RENDEZVOUS,
    GN_OPTION_INTERFACE,
    GN_OPTION_TIMEOUT,
    GN_OPTION_ALGORITHM,
    GN_OPTION_SCALE,
    GN_OPTION_TOS,
    GN_OPTION_OFFLOAD,
    GN_OPTION_NO_SHARED_MEMORY,
    GN_OPTION_GROUPS,
    GN_OPTION_GROUP_OFFLOAD,
    GN_OPTION_SWITCH,
    GN_OPTION_SWITCH_CHANNELS,
    GN_OPTION_SWITCH_SLOTS,
    GN_OPTION_SWITCH_VALUES,
    GN_OPTION_SWITCH_RTO,
    GN_OPTION_SWITCH_NIC,
    GN_OPTION_SWITCH_HALF,
    GN_OPTION_SECRET,
    GN_OPTION_OLD_SIZE,
    GN_OPTION_OLD_SWITCH_STREAMS,
};

// clang-format off
/// Rows of an argp table.
#define GN_RANK_OPTIONS \
    {"ranks", 'N', "N", 0, "start so many ranks on this machine", 0}, \
    {"rank", GN_OPTION_RANK, "N", 0, "number of this rank, the first is 0 (default $RANK, or the launcher's)", 0}, \
    {"world-size", GN_OPTION_WORLD_SIZE, "N", 0, "number of all ranks (default $WORLD_SIZE, or the launcher's)", 0}, \
    GN_OLD_NAME("size", GN_OPTION_OLD_SIZE, "N"), \
    {"rendezvous", GN_OPTION_RENDEZVOUS, "WHERE", 0, \
     "where the ranks meet: tcp://HOST:PORT, file:///PATH, or env, which is $MASTER_ADDR and $MASTER_PORT " \
     "(default env; where these are not set, what follows from the launcher's job)", 0}, \
    {"interface", GN_OPTION_INTERFACE, "SPEC", 0, \
     "network interface: a name (gn0), a network (10.9.0.0/24) or exclusions (^lo,docker0) " \
     "(default the one that leads to the rendezvous)", 0}, \
    {"secret", GN_OPTION_SECRET, "FILE", 0, \
     "file with the secret that all ranks and switches share; who does not have it is sent away " \
     "(default $GRADNIC_SECRET_FILE, or no secret)", 0}, \
    {"timeout", GN_OPTION_TIMEOUT, "TIME", 0, "deadline of every wait (default 30s)", 0}

/// `asking`: the options that ask for compression. `whose`: the RMS that the bound is relative
/// to.
#define GN_EXCHANGE_OPTIONS(asking, whose) \
    {"algorithm", GN_OPTION_ALGORITHM, "NAME", 0, \
     "ring, worker-aggregator (gradients to rank 0, which sends the sums back), direct (each rank sums a part and " \
     "sends it to all), auto (ring or direct, as measured), switch (with --switch), group-ring (rings in groups of " \
     "ranks, and rings across them), group-aggregator (rings in groups, whose first ranks have an aggregator), or " \
     "aggregators (one in each group, and one above) " \
     "(default ring, with --groups group-ring)", 0}, \
    {"groups", GN_OPTION_GROUPS, "WHO", 0, \
     "who is a group: host (the ranks of a host), N (so many ranks in a row), or number:G (this rank is in group G) " \
     "(default host, with an algorithm that has groups)", 0}, \
    {"group-offload", GN_OPTION_GROUP_OFFLOAD, "WHO", 0, \
     "who compresses within a group: library or none (default none with groups by host, otherwise as --offload)", 0}, \
    {"profile", 'p', "PROFILE", 0, \
     "dense, lattice, paper or none, as the NICs' rule has it (default dense with " asking ", otherwise none)", 0}, \
    {"bound", 'k', "K", 0, "error bound 2^-K, as the NICs' rule has it (default 10)", 0}, \
    {"scale", GN_OPTION_SCALE, "none|auto", 0, "auto: the bound is relative to " whose " RMS (default none)", 0}, \
    {"tos", GN_OPTION_TOS, "TOS", 0, \
     "type of service of the gradients' packets (default 0x28 where a NIC is to compress them, otherwise 0)", 0}, \
    {"offload", GN_OPTION_OFFLOAD, "WHO", 0, \
     "who compresses: library (each rank itself), nic (NICs on the way), none (default $GRADNIC_OFFLOAD, or nic with " \
     "--tos or --switch-nic, otherwise library)", 0}, \
    {"no-shared-memory", GN_OPTION_NO_SHARED_MEMORY, 0, 0, \
     "ranks of one host exchange over TCP, too, as with GRADNIC_SHARED_MEMORY=no", 0}, \
    {"switch", GN_OPTION_SWITCH, "HOST:PORT", 0, \
     "this rank's gradnic switch; ranks behind different leaves of one root have different ones", 0}, \
    {"switch-channels", GN_OPTION_SWITCH_CHANNELS, "N", 0, \
     "independent parts of a vector, each with a thread (default 1)", 0}, \
    GN_OLD_NAME("switch-streams", GN_OPTION_OLD_SWITCH_STREAMS, "N"), \
    {"switch-slots", GN_OPTION_SWITCH_SLOTS, "N", 0, \
     "most packets of a channel on their way, a power of two (default as many as fill the way to the switch and " \
     "back, at least 256; compressed 512)", 0}, \
    {"switch-values", GN_OPTION_SWITCH_VALUES, "N", 0, \
     "values of a packet, at most 2048 (default as many as fit the MTU when compressed to a sixth)", 0}, \
    {"switch-rto", GN_OPTION_SWITCH_RTO, "TIME", 0, \
     "least time after which a packet is sent again (default 10ms)", 0}, \
    {"switch-half", GN_OPTION_SWITCH_HALF, "WHICH", 0, \
     "vectors that travel in 16 bits, without a profile: none, types (those of bf16 and f16), or all (f32, too, " \
     "rounded to 11 bits) (default none)", 0}, \
    {"switch-nic", GN_OPTION_SWITCH_NIC, 0, 0, \
     "the NIC of this host compresses: it has the profile and bound in a rule for UDP with head=32", 0}
// clang-format on

/// The defaults.
gn_comm_options gn_comm_options_default(void);

/// Reads one option. False: `key` is another's. Exits with GN_EXIT_USAGE when the value is wrong.
bool gn_comm_option_parse(int key, char *arg, struct argp_state *state, gn_comm_options *options);

/// Checks what depends on several options. Fills in `codec` and `tos`. Exits with GN_EXIT_USAGE
/// when something is wrong.
void gn_comm_options_finish(struct argp_state *state, gn_comm_options *options);

/// Rank 0 says which launcher has started the ranks, in a note on stderr. Nothing with -N, --rank
/// and --world-size, or RANK and WORLD_SIZE.
void gn_comm_options_say(const gn_comm_options *options, const char *program, bool quiet);

/// The communicator's configuration: the default, changed as the options say. It quantises if
/// there is a profile.
gn_comm_config gn_comm_options_config(const gn_comm_options *options, int rank, int size, const char *rendezvous);

/// Whether the ranks exchange in groups.
bool gn_comm_options_grouped(const gn_comm_options *options);

/// The algorithm's name.
const char *gn_comm_options_algorithm(const gn_comm_options *options);

/// "none" or the profile's name.
const char *gn_comm_options_profile(const gn_comm_options *options);

#endif
