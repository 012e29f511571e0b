// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_COMM_H
#define GRADNIC_COMM_H
/// @file comm.h
/// Gradient exchange. It sums a binary32 vector over N workers, and every worker ends with the same
/// bits. The links between them may have NICs that compress.
///
/// A newcomer starts one process per rank with a launcher (torchrun, mpirun, srun), or with RANK,
/// WORLD_SIZE, MASTER_ADDR and MASTER_PORT set. `examples/allreduce.c` is the whole program:
///
///     gn_comm_config config = gn_comm_config_default();
///     config.quantise = true;                            // compress: dense, |error| <= 2^-10
///     gn_comm *comm;
///     if (gn_comm_init(&comm, &config) != GN_OK) ...     // gn_comm_last_error(NULL) says why
///     gn_allreduce(comm, gradient, gradient, count, GN_AVERAGE);
///     gn_comm_free(comm);
///
/// Errors. Every wait has a deadline. A dead or silent peer gives GN_PEER_LOST at every survivor,
/// and the error text names rank, address, phase and bytes done. After an error the communicator is
/// dead, and further calls return GN_DEAD. GN_INVALID is the exception: the arguments are wrong by
/// themselves, such as NULL, an unknown op, a bad bucket id, or overlapping buffers. Then nothing
/// was sent, and the caller may call again. The other ranks wait for it until their deadline. The
/// library never prints, exits or touches signals.
///
/// Threads. One thread at a time calls collectives on a communicator, in the same order on every
/// rank. It also sends and receives messages, in any order. A second thread that comes meanwhile
/// gets GN_INVALID. Any thread may call gn_comm_abort(). Different communicators are independent,
/// with two exceptions:
///
/// - A thread that waits in one communicator also sends signs of life on the others of its process.
///   It reads what comes on them, and may call their `log`. A failure that is seen in this way is
///   returned by the next call.
/// - gn_comm_free() tells the peers when the failure of another communicator is the reason.
///
/// Forks. A communicator is that of the process that made it. In a process that was forked off, all
/// calls for its copy return GN_DEAD, and gn_comm_last_error() says why. gn_comm_free() closes the
/// copies of the connections there, and nobody is told: the first process goes on. Until then, or
/// an exec, they keep the connections open when the first process dies. Requests of the first
/// process must not be used. A forked process may make communicators of its own.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gradnic/codec.h>
#include <gradnic/layout.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A group of ranks that exchange gradients. Opaque.
typedef struct gn_comm gn_comm;
/// A collective that was started and not yet waited for. Opaque.
typedef struct gn_request gn_request;

/// What a collective computes.
typedef enum gn_op {
    GN_SUM,      ///< the sum over all ranks; integers wrap
    GN_AVERAGE,  ///< the sum divided by the number of ranks; not of integers
    /// The least value of all ranks. With a NaN at any rank it is a NaN. -0 is below +0.
    GN_MIN,
    GN_MAX,  ///< the largest value of all ranks; NaN and zeros as with GN_MIN
    GN_OPS   ///< the number of operations, not an operation
} gn_op;

/// Returns "sum", "average", "minimum" or "maximum"; NULL for any other number.
GN_API const char *gn_op_name(gn_op op);

/// What a vector consists of. Elements have the byte order of a little-endian machine.
typedef enum gn_type {
    GN_F32,   ///< binary32, float
    GN_BF16,  ///< bfloat16: the upper half of a binary32
    GN_F16,   ///< binary16
    GN_F64,   ///< binary64, double
    GN_I32,   ///< int32_t
    GN_I64,   ///< int64_t
    GN_U8,    ///< uint8_t, and bytes of anything
    GN_TYPES  ///< the number of types, not a type
} gn_type;

/// Returns "f32", "bf16", "f16", "f64", "i32", "i64" or "u8"; NULL for any other number.
GN_API const char *gn_type_name(gn_type type);

/// How values travel.
typedef enum gn_algorithm {
    GN_RING,               ///< INCEPTIONN's Algorithm 1
    GN_WORKER_AGGREGATOR,  ///< the paper's baseline: rank 0 gathers, sums and sends back
    /// In the network: a switch adds (docs/switch.md). Each value crosses a link once up and once
    /// down.
    GN_SWITCH,
    /// Each rank sums a part of the vector, which the others send it, and sends the sums to all.
    /// Every rank has a connection with every other. Small vectors go to all at once.
    GN_DIRECT,
    /// Direct or ring, by size of the vector, and whether `library` compresses. It measures the
    /// first allreduces of each size, all ranks agree, and `log` tells of it.
    GN_AUTO,
    // Groups of ranks, and a level above (docs/collectives.md). `groups` says who is a group.
    /// Rings within the groups, and rings across them (INCEPTIONN, Fig. 1c).
    GN_GROUP_RING,
    /// Rings within the groups. Their first ranks have an aggregator (Fig. 1b).
    GN_GROUP_AGGREGATOR,
    /// Each group has an aggregator, its first rank, and these have one (Fig. 1a).
    GN_AGGREGATORS,
    GN_ALGORITHMS  ///< the number of algorithms, not an algorithm
} gn_algorithm;

/// Returns "ring", "worker-aggregator", "switch", "direct", "auto", "group-ring",
/// "group-aggregator" or "aggregators"; NULL for any other number.
GN_API const char *gn_algorithm_name(gn_algorithm algorithm);

/// Whether an algorithm has groups of ranks, and a level above.
static inline bool gn_algorithm_has_groups(gn_algorithm algorithm)
{
    return algorithm == GN_GROUP_RING || algorithm == GN_GROUP_AGGREGATOR || algorithm == GN_AGGREGATORS;
}

/// Whether gradients are scaled before they are compressed.
typedef enum gn_scale {
    GN_SCALE_NONE,  ///< the bound is absolute
    GN_SCALE_AUTO   ///< the bound is relative: a power of two from the RMS, agreed by all
} gn_scale;

/// Who compresses what the ranks of a group send, when they quantise. The results are the same, bit
/// for bit, except with paper, which is cut wherever it is coded.
typedef enum gn_offload {
    /// What GRADNIC_OFFLOAD says (library, nic, none). Otherwise: the NIC where the configuration
    /// speaks of one (`data_tos` above 0, `wire`, `switch_nic`), and else the library.
    GN_OFFLOAD_AUTO,
    GN_OFFLOAD_LIBRARY,  ///< the rank itself, before it sends
    GN_OFFLOAD_NIC,      ///< a NIC on the way, which knows the packets by their ToS
    GN_OFFLOAD_NONE,     ///< nobody: quantised values travel as they are
    GN_OFFLOADS          ///< the number of choices, not a choice
} gn_offload;

/// Returns "auto", "library", "nic" or "none"; NULL for any other number.
GN_API const char *gn_offload_name(gn_offload offload);

/// Which vectors travel to a switch and back in 16 bits (docs/switch.md).
typedef enum gn_half {
    GN_HALF_NONE,   ///< none: in 32 bits
    GN_HALF_TYPES,  ///< those of bf16 and f16
    GN_HALF_ALL,    ///< those of f32, too: each value is rounded to 11 significant bits, and the sum
    GN_HALVES       ///< the number of choices, not a choice
} gn_half;

/// Returns "none", "types" or "all"; NULL for any other number.
GN_API const char *gn_half_name(gn_half half);

/// How much a text for `log` matters.
typedef enum gn_log_level {
    GN_LOG_ERROR,    ///< the communicator has failed
    GN_LOG_WARNING,  ///< something needs a look
    GN_LOG_INFO,     ///< what was chosen
    GN_LOG_DEBUG     ///< everything else
} gn_log_level;

/// For gn_comm_config.data_tos: 0x28 where a NIC compresses, otherwise 0.
enum { GN_TOS_AUTO = -1 };

/// Limits of gn_comm_config.segment_bytes.
enum { GN_SEGMENT_MIN = 4 << 10, GN_SEGMENT_MAX = 2 << 20 };

/// For gn_bucket.id and gn_call.id: a bucket without a name. With GN_SCALE_AUTO all ranks agree on
/// its scale in the same call, ahead of the data, and nothing is kept for a next one.
#define GN_BUCKET_NONE UINT32_MAX

/// How to connect and how to exchange. Start from gn_comm_config_default().
typedef struct gn_comm_config {
    int rank;  ///< -1: from RANK, or the launcher's (docs/collectives.md)
    int size;  ///< -1: from WORLD_SIZE, or the launcher's; at most 256
    /// NULL or "env": MASTER_ADDR and MASTER_PORT; where neither is set, or these are torchrun's
    /// store, what follows from the launcher's job. Otherwise "tcp://host:port" or "file:///path".
    const char *rendezvous;
    /// NULL: the interface of the route to the rendezvous. Otherwise a name ("gn0"), a network
    /// ("10.9.0.0/24") or exclusions ("^lo,docker0").
    const char *interface;
    /// How long a peer that is waited for may give no sign of life. In gn_comm_init(): how long all
    /// ranks may take to come, and then again to connect. The least of all ranks counts. 0: 30000.
    int timeout_ms;
    gn_algorithm algorithm;  ///< the same on all ranks
    /// Bytes of values that are handled at a time, brought between GN_SEGMENT_MIN and
    /// GN_SEGMENT_MAX. The least of all ranks counts. 0: 256 KiB.
    size_t segment_bytes;
    /// Who compresses, with `quantise`; the same on all ranks.
    gn_offload offload;
    /// ToS of the gradients. GN_TOS_AUTO, the default, is 0x28 where a NIC compresses, otherwise 0.
    int data_tos;

    /// Ranks of one host exchange over TCP, too. Otherwise they share memory, where their accounts
    /// and containers allow it. Also chosen by GRADNIC_SHARED_MEMORY=no.
    bool no_shared_memory;

    // For GN_SWITCH. Without `quantise`, values travel as block floating point (int32,
    // docs/switch.md). With lattice or dense they travel as streams of the codec, which the switch
    // adds as they are. paper is refused: it has no integers to add.

    /// "host:port" of this rank's switch. Ranks may have different switches, below one parent.
    const char *switch_address;
    union {
        /// Channels: parts of a vector that travel on their own. Each from the second on has a
        /// thread. At most 16, the same on all ranks. 0: 1.
        unsigned switch_channels;
        unsigned switch_streams;  ///< the old name of switch_channels, for one release
    };
    /// Chunks of a channel that may be under way: a power of two up to 32768. 0: as many as fill
    /// the way to the switch and back at the rate of this host's interface, at least 256
    /// (compressed 512) and at most 4096. The switch may grant less.
    unsigned switch_slots;
    /// Values of a packet, at most 2048; the least of all ranks counts. 0: what fits the MTU of the
    /// route to the switch; compressed, six times as many; with `switch_half` twice as many.
    unsigned switch_values;
    /// The least time after which a packet is sent again. It must exceed what stragglers take. 0:
    /// 10000.
    unsigned switch_rto_us;
    /// Without `quantise`: vectors that travel in 16 bits, twice the values in a packet. The same
    /// on all ranks. The switches have to know format `half`. Sums have 11 significant bits.
    gn_half switch_half;
    /// The same as offload nic: values leave as binary32 with `data_tos`, and this host's NIC
    /// compresses them. Its rule for UDP has the codec and head 32.
    bool switch_nic;

    /// Worker-aggregator: the second leg carries weights, not gradients, and has ToS 0 (the paper's
    /// case).
    bool aggregator_weights;
    /// Pass each contribution through `codec`; with GN_PAPER each reduced block, too.
    bool quantise;
    /// What the NIC's rule for `data_tos` applies; the same on all ranks. The default is dense
    /// 2^-10, as in the NIC's default rule. Without `quantise`, NICs must leave `data_tos` alone,
    /// or replicas drift apart.
    gn_codec codec;
    gn_scale scale;  ///< GN_SCALE_NONE by default
    /// GN_SCALE_AUTO brings the RMS to about 2^scale_target. So the bound is 2^(-k - scale_target)
    /// of the RMS, or up to sqrt(7/3) = 1.53 times that: the RMS is estimated. 0 by default.
    int8_t scale_target;
    /// When not NULL: called on every piece of data before it is sent, in place of a NIC, where no
    /// TUN device may be made. It may change the values as the two NICs on the way would, count,
    /// and pace.
    void (*wire)(void *context, float *values, size_t count);
    /// The same for data that is sent with ToS 0, which NICs leave alone (the second leg with
    /// `aggregator_weights`). It may count and pace.
    void (*wire_plain)(void *context, size_t bytes);
    void *wire_context;  ///< for `wire` and `wire_plain`
    /// Gets texts for people. NULL: silent. It may be called by any thread that is in the library,
    /// and not after gn_comm_free(). It may ask for rank, size, last error and statistics, and call
    /// gn_comm_abort(); nothing else of the library.
    void (*log)(void *context, gn_log_level level, const char *text);
    void *log_context;  ///< for `log`
    /// When not NULL: asked now and then, while the process's main thread waits in a collective or
    /// a message, or in gn_wait(). When it says yes, the group ends as by gn_comm_abort(). It is
    /// for languages that handle signals on the main thread only, and not before C returns.
    bool (*interrupted)(void *context);
    void *interrupted_context;  ///< for `interrupted`
    /// A file with a secret that all ranks and switches of the group share, and nobody else has.
    /// They prove to each other that they have it (docs/secret.md). NULL: the file that
    /// GRADNIC_SECRET_FILE names; without that, there is no secret.
    const char *secret_file;

    /// Algorithms with groups. "host" or NULL: the ranks of a host are a group, as their addresses
    /// say. "4": so many ranks in a row; the last group may have fewer. "number:7": this rank is in
    /// group 7, up to 65535. The same kind on all ranks. With GN_RING, a text makes it
    /// GN_GROUP_RING.
    const char *groups;
    /// Who compresses within a group, with offload library: library or none. The same on all ranks.
    /// GN_OFFLOAD_AUTO: none for groups by host, otherwise library.
    gn_offload group_offload;
} gn_comm_config;

/// Returns a configuration with defaults: ring, rank and size from the launcher, no quantising.
GN_API gn_comm_config gn_comm_config_default(void);

/// Whether gn_comm_init() takes the fields, for programs that refuse them before they begin. It
/// looks at the rendezvous and the secret file, too, but not at rank and size. It does not touch
/// the network.
/// @return GN_OK, or GN_INVALID with gn_comm_last_error(NULL) for the reason
GN_API gn_status gn_comm_config_check(const gn_comm_config *config);

/// Returns who compresses with this configuration: what GN_OFFLOAD_AUTO chooses, and
/// GN_OFFLOAD_NONE without `quantise`.
GN_API gn_offload gn_comm_config_offload(const gn_comm_config *config);

/// Replaces what is left to gn_comm_init(), such as GN_OFFLOAD_AUTO or a ring with `groups`, by
/// what it takes. For programs that tell of it, or compare. `config` is one that
/// gn_comm_config_check() takes. GN_AUTO stays: it measures.
GN_API void gn_comm_config_choose(gn_comm_config *config);

/// What gn_comm_config_groups() returns besides 1 to 256, a number of ranks in a row.
enum { GN_GROUPS_BY_HOST = 0, GN_GROUPS_BY_NUMBER = 0xFFFF };

/// Reads `groups`, and says what makes ranks a group. `*number` gets the group of this rank with
/// GN_GROUPS_BY_NUMBER, otherwise 0. A text that gn_comm_config_check() refuses reads as "host".
GN_API uint16_t gn_comm_config_groups(const gn_comm_config *config, uint16_t *number);

/// Connects all ranks. `*comm` is NULL on failure; gn_comm_last_error(NULL) says why.
/// @return GN_OK; GN_INVALID (also for NULL); GN_NO_MEMORY; GN_IO; GN_TIMEOUT when ranks did not
/// come; GN_PEER_LOST when a rank or the switch was lost or silent meanwhile; GN_MISMATCH when
/// ranks have different configurations, or different secrets. The text names the ranks.
GN_API gn_status gn_comm_init(gn_comm **comm, const gn_comm_config *config);

/// An all_gather that the caller has already, such as MPI's. `own` is `bytes` bytes of this rank.
/// `all` gets those of all ranks, in their order: [size][bytes]. It returns 0, or another number
/// when it fails.
typedef int gn_all_gather_function(void *context, const void *own, void *all, size_t bytes);

/// Does what gn_comm_init() does, without a rendezvous: the ranks meet by `all_gather`. All ranks
/// call it, and it calls `all_gather` at most twice, from this thread. `rank` and `size` have to be
/// given, and `rendezvous` is not looked at.
///
/// Ranks of one host meet over loopback. Otherwise rank 0 listens at its first interface that is
/// up, unless `interface` names another. A rank with a wrong configuration is named at all ranks.
/// @return as gn_comm_init(); GN_IO also when `all_gather` fails; GN_INVALID before anything is
/// gathered for NULL, and for a wrong rank or size
GN_API gn_status gn_comm_init_gathered(gn_comm **comm, const gn_comm_config *config, gn_all_gather_function *all_gather,
                                       void *context);

/// Sums or averages `count` floats over all ranks. `send == recv` is in place; otherwise they must
/// not overlap. This is bucket 0 for GN_SCALE_AUTO. Beyond the caller's buffers it needs at most 8
/// MiB (GN_SWITCH: 2.2 MiB a channel), whatever `count`.
///
/// A rank that is ahead may fail in the next collective. The next call tells of that failure. An
/// abort, or a lost connection, may end this collective though others have finished it. Then `recv`
/// is unspecified.
GN_API gn_status gn_allreduce(gn_comm *comm, const float *send, float *recv, size_t count, gn_op op);

/// The long form: one bucket (tensor) of a gradient.
typedef struct gn_bucket {
    const float *send;  ///< `count` floats
    float *recv;        ///< `count` floats; may be `send`
    size_t count;       ///< the same on all ranks
    gn_op op;           ///< the same on all ranks
    /// Error feedback: `count` floats that the caller keeps between steps, zero at first. NULL:
    /// none.
    float *residual;
    /// Names the bucket, for the history of GN_SCALE_AUTO. The same on all ranks, below 65536,
    /// or GN_BUCKET_NONE.
    uint32_t id;
    /// GN_SWITCH: this is layer `layer` of `layers`. 1 is the front layer, which the next iteration
    /// needs first. 0: not known.
    uint16_t layer, layers;
} gn_bucket;

/// Does what gn_allreduce() does for one bucket.
/// @return as gn_allreduce(); GN_INVALID also for a residual without `quantise`, or one that
/// overlaps the buffers.
GN_API gn_status gn_allreduce_bucket(gn_comm *comm, const gn_bucket *bucket);

/// Starts an allreduce and returns. Requests run in the order in which they were started. The
/// buffers belong to the library until gn_wait() returns, or gn_test() with `*done`. When it fails
/// to start, `*request` is NULL, and there is nothing to wait for.
GN_API gn_status gn_iallreduce(gn_comm *comm, const gn_bucket *bucket, gn_request **request);

/// What a gn_call does.
typedef enum gn_collective {
    GN_ALLREDUCE,  ///< recv[i] = send[i] of all ranks, combined
    GN_BARRIER,    ///< returns when every rank has called it
    /// `send` has a block for each rank. recv = this rank's block of all ranks, combined.
    GN_REDUCE_SCATTER,
    GN_ALL_GATHER,  ///< send = this rank's block. `recv` gets those of all ranks, in their order.
    GN_BROADCAST,   ///< recv = that of rank `root`
    GN_REDUCE,      ///< recv[i] = send[i] of all ranks, combined, at rank `root` only
    GN_GATHER,      ///< as GN_ALL_GATHER, with equal blocks, at rank `root` only
    GN_SCATTER,     ///< `send` of rank `root` has an equal block for each rank. recv = this one's.
    GN_ALL_TO_ALL,  ///< block i of `send` goes to rank i, and block i of `recv` comes from there
    GN_TRANSFER,    ///< `recv` of rank `to` = `send` of rank `root`. All ranks call it.
    GN_COLLECTIVES  ///< the number of collectives, not a collective
} gn_collective;

/// Returns "allreduce", "barrier", "reduce_scatter", "all_gather", "broadcast", "reduce", "gather",
/// "scatter", "all_to_all" or "transfer"; NULL for any other number.
GN_API const char *gn_collective_name(gn_collective collective);

/// A collective with all that it may need. What is zero is not needed, or has its default. All
/// ranks give the same values, but for pointers.
///
/// All run with every algorithm. What does not pass the codec, and what an algorithm has no
/// connections for, travels as messages between two ranks do, without compression.
typedef struct gn_call {
    gn_collective collective;  ///< which
    gn_type type;              ///< of the elements
    gn_op op;                  ///< GN_ALLREDUCE, GN_REDUCE_SCATTER, GN_REDUCE
    const void *send;          ///< not changed, and not needed where this rank gives nothing
    /// Not needed where this rank gets nothing. It may be `send` for GN_ALLREDUCE, GN_REDUCE and
    /// GN_TRANSFER. For GN_ALL_GATHER and GN_GATHER `send` may be this rank's block in `recv`, and
    /// for GN_SCATTER `recv` this rank's block in `send`. Else the two must not overlap.
    void *recv;
    /// Elements. Where the vector has a block for each rank, those of one block.
    size_t count;
    /// GN_REDUCE_SCATTER, GN_ALL_GATHER: elements of each rank's block, [size]. NULL: all `count`.
    const size_t *counts;
    int root;  ///< GN_TRANSFER: who sends
    int to;    ///< GN_TRANSFER: who receives
    /// GN_ALL_GATHER of f32, bf16, f16: pass the values through `codec`. Without it they arrive as
    /// they are. Needs `quantise`.
    bool lossy;
    /// f32, bf16, f16, with GN_ALLREDUCE or GN_REDUCE_SCATTER and `quantise`: error feedback in
    /// binary32, as many as `send` has. NULL: none.
    float *residual;
    uint32_t id;             ///< as gn_bucket has it
    uint16_t layer, layers;  ///< as gn_bucket has them
} gn_call;

/// Runs any collective. f32, bf16 and f16 are summed in binary32, and compressed with `quantise`.
/// The result is rounded once to the type, to nearest, ties to even. All else travels as it is.
///
/// Beyond the caller's buffers and what gn_allreduce() says it needs at most 10 MiB. GN_SWITCH with
/// 16-bit floats needs 4 bytes a value.
/// @return as gn_allreduce_bucket()
GN_API gn_status gn_comm_run(gn_comm *comm, const gn_call *call);

/// Starts any collective and returns, as gn_iallreduce() does. `counts` is copied.
GN_API gn_status gn_comm_start(gn_comm *comm, const gn_call *call, gn_request **request);

/// Does what gn_allreduce() does, for elements of a type.
GN_API gn_status gn_allreduce_typed(gn_comm *comm, const void *send, void *recv, size_t count, gn_type type, gn_op op);
/// Combines equal blocks. `send` has `count` elements for each rank, one block behind the other.
/// `recv` gets this rank's. It must not overlap `send`. For different blocks see gn_call.
GN_API gn_status gn_reduce_scatter(gn_comm *comm, const void *send, void *recv, size_t count, gn_type type, gn_op op);
/// Gathers equal blocks of `count` elements from each rank, as they are. `send` may be this rank's
/// block in `recv`. For different blocks see gn_call.
GN_API gn_status gn_all_gather(gn_comm *comm, const void *send, void *recv, size_t count, gn_type type);
/// Combines vectors at rank `root`. Other ranks may give NULL for `recv`.
GN_API gn_status gn_reduce(gn_comm *comm, const void *send, void *recv, size_t count, gn_type type, gn_op op, int root);
/// Copies bytes from rank `root` to all.
GN_API gn_status gn_broadcast(gn_comm *comm, void *bytes, size_t count, int root);
/// Brings `count` bytes of each rank to rank `root`.
GN_API gn_status gn_gather(gn_comm *comm, const void *send, void *recv, size_t count, int root);
/// Brings `count` bytes to each rank from rank `root`.
GN_API gn_status gn_scatter(gn_comm *comm, const void *send, void *recv, size_t count, int root);
/// Brings `count` bytes from each rank to each rank.
GN_API gn_status gn_all_to_all(gn_comm *comm, const void *send, void *recv, size_t count);
/// Sends `count` bytes from one rank to another. All ranks call it: those between pass them on.
/// `bytes` is used at those two only.
GN_API gn_status gn_transfer(gn_comm *comm, void *bytes, size_t count, int from, int to);

/// For gn_recv() and gn_probe(): a message from any rank; with any tag.
enum { GN_ANY_RANK = -1, GN_ANY_TAG = -1 };

/// What a message was.
typedef struct gn_received {
    int rank, tag;  ///< who has sent it, and with which tag
    size_t bytes;   ///< of the message
} gn_received;

/// Sends `count` bytes to one rank, which calls gn_recv() for them. Only these two take part, with
/// any algorithm. Messages of two ranks with one tag arrive in order. `tag` is any number from 0
/// on.
///
/// It returns when `bytes` may be used again. A message of at most 64 KiB does not wait for the
/// receiver, as long as it has less than 1 MiB of such messages of this rank unread. Each counts 64
/// bytes more. So two ranks may send to each other first. A larger message waits until it is
/// wanted. The first message to a rank waits for the connection; where a secret is set, that needs
/// the other rank to be in some call of this group.
///
/// A rank that is waited for and gives no sign of life for timeout_ms is lost, as in a collective.
/// A message that has not moved for twice as long ends with GN_TIMEOUT.
/// @return as gn_allreduce(); GN_MISMATCH when the receiver has no room for it
GN_API gn_status gn_send(gn_comm *comm, const void *bytes, size_t count, int to, int tag);

/// Receives the first message that fits from rank `from`, or GN_ANY_RANK, with `tag`, or
/// GN_ANY_TAG. Without `got` it has just `count` bytes. With `got` it may have fewer. A larger one
/// ends the communicator with GN_MISMATCH.
GN_API gn_status gn_recv(gn_comm *comm, void *bytes, size_t count, int from, int tag, gn_received *got);

/// Starts gn_send() and returns, as gn_iallreduce() does. Messages do not wait for each other, nor
/// for collectives. A request has deadlines only while somebody is in gn_wait().
GN_API gn_status gn_isend(gn_comm *comm, const void *bytes, size_t count, int to, int tag, gn_request **request);
/// Starts gn_recv() in the same way. `*got` is written when the request is done.
GN_API gn_status gn_irecv(gn_comm *comm, void *bytes, size_t count, int from, int tag, gn_received *got,
                          gn_request **request);

/// Looks whether a message is there that gn_recv() would take, and what it is. It does not wait.
/// `found` may be NULL.
GN_API gn_status gn_probe(gn_comm *comm, int from, int tag, bool *there, gn_received *found);

/// Makes groups of the ranks of a group: those that give the same `colour` are one. Their order is
/// that of `key`, and then that of their ranks. All ranks of `comm` call it. A negative colour
/// means no group: then `*sub` is NULL. A new group has the configuration of `comm`, the secret
/// too, and a life of its own.
/// @return as gn_comm_run(), with the text at `comm`; or as gn_comm_init(), with the text at NULL,
/// and `comm` goes on
GN_API gn_status gn_comm_split(gn_comm *comm, int colour, int key, gn_comm **sub);

/// Asks whether a request is done. With `*done` it frees the request and returns its result.
/// @return the result; GN_INVALID for NULL, with `*done`, so that a loop ends.
GN_API gn_status gn_test(gn_request *request, bool *done);

/// Waits for a request, frees it, and returns its result. GN_INVALID for NULL.
GN_API gn_status gn_wait(gn_request *request);
/// As gn_wait(). `*done` becomes true before the request is freed: for languages in which a signal
/// may interrupt a caller between the return of this function and the use of its result.
GN_API gn_status gn_wait_done(gn_request *request, bool *done);

/// Returns when every rank has called it. It may fail where others succeed, as gn_allreduce() may.
GN_API gn_status gn_barrier(gn_comm *comm);

/// Ends whatever runs with GN_ABORTED: here, and over the out-of-band connections at every rank.
/// Any thread may call it. GN_INVALID for NULL.
GN_API gn_status gn_comm_abort(gn_comm *comm, const char *reason);

/// Says goodbye and frees. Requests that were started run to their end first, and must have been
/// waited for. NULL: nothing happens. In a forked process it only lets go of the copy: see Forks.
///
/// GN_SWITCH: the first rank that leaves ends the job at the switch. So this waits until every rank
/// has its last results, at most timeout_ms. It does not wait for a rank that has given no sign of
/// life for timeout_ms already.
GN_API void gn_comm_free(gn_comm *comm);

/// GN_SWITCH: says for about how many seconds the job will still run. Any thread may call it, as
/// often as a better value is known. Without it, as long as the job has run so far is assumed.
///
/// A switch may share its memory by priority. A job's priority is higher the sooner it is done, the
/// more of its time it exchanges (which is measured), and the nearer a bucket's layer is to the
/// front.
/// @return GN_OK; GN_INVALID for NULL, a negative number or a NaN.
GN_API gn_status gn_comm_set_remaining(gn_comm *comm, double seconds);

/// What gn_comm_scale() says of a bucket that has no scale yet.
enum { GN_SCALE_UNSEEN = -32767 };

/// GN_SCALE_AUTO: the scale that the next use of bucket `id` will have, as floor(log2(RMS)) of the
/// values before. A program that saves its state saves this, too: so it goes on with the same bits.
/// Not while a collective runs.
/// @return -150 to 128; GN_SCALE_UNSEEN before the first use, without GN_SCALE_AUTO, and for NULL
GN_API int gn_comm_scale(const gn_comm *comm, uint32_t id);

/// Sets what gn_comm_scale() says: to a value of it, the same on all ranks, or the next collective
/// on the bucket is a GN_MISMATCH. Not while a collective runs.
/// @return GN_OK; GN_INVALID for NULL, another value, a bad id, or without GN_SCALE_AUTO;
/// GN_NO_MEMORY
GN_API gn_status gn_comm_set_scale(gn_comm *comm, uint32_t id, int exponent);

/// GN_SCALE_AUTO for programs that scale by themselves, such as on a GPU. `counts[e]` is how many
/// values have the biased exponent `e`. The ranks take the largest result of all.
/// @return floor(log2(RMS)), estimated from that alone; GN_SCALE_UNSEEN when no value is finite and
/// not 0
GN_API int gn_scale_of_exponents(const uint64_t counts[256]);

/// Returns the power of two by which GN_SCALE_AUTO multiplies values with such a result, and
/// divides the sums. It is 0 for GN_SCALE_UNSEEN.
GN_API int gn_scale_shift(int scale_target, int exponent);

/// Returns this process's rank; -1 for NULL.
GN_API int gn_comm_rank(const gn_comm *comm);

/// Returns the number of ranks; -1 for NULL.
GN_API int gn_comm_size(const gn_comm *comm);

/// Returns the text of the last error: rank and address of the peer, phase, bytes done. With NULL
/// it is the text of the calling thread's last failed gn_comm_init(). Valid until the next call on
/// `comm`.
GN_API const char *gn_comm_last_error(const gn_comm *comm);

/// What a communicator has done.
typedef struct gn_comm_stats {
    /// Bytes of values, uncompressed. GN_SWITCH: bytes of datagrams, up and down.
    uint64_t sent_bytes, received_bytes;
    /// Where the time of collectives went.
    double quantise_seconds, reduce_seconds, wait_seconds, total_seconds;
    /// GN_SWITCH: packets sent again; those of them that had not been lost; chunks that rank 0
    /// summed in binary32.
    uint64_t resent_packets, late_packets, fallback_chunks;
    /// The same as sent_bytes and received_bytes, as they were given to sockets: with offload
    /// library compressed. GN_SWITCH: the same figures.
    uint64_t sent_wire_bytes, received_wire_bytes;
    /// Algorithms with groups: those of the four above that stayed within the rank's group.
    uint64_t group_sent_bytes, group_received_bytes, group_sent_wire_bytes, group_received_wire_bytes;
} gn_comm_stats;

/// Returns what was done since gn_comm_init(); zeros for NULL.
GN_API gn_comm_stats gn_comm_get_stats(const gn_comm *comm);

/// Gives the structures gn_comm_config, gn_call, gn_received and gn_comm_stats, as
/// gn_codec_layout() does.
GN_API const gn_layout *gn_comm_layout(size_t *count);

#ifdef __cplusplus
}
#endif
#endif
