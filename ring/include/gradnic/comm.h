// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_COMM_H
#define GRADNIC_COMM_H
/// @file comm.h
/// Gradient exchange: sums a binary32 vector over N workers so that every worker ends with the same bits,
/// over links whose NICs may compress what is sent.
///
/// A newcomer, started once per rank with RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT set (torchrun does):
///
///     gn_comm_config config = gn_comm_config_default();
///     gn_comm *comm;
///     if (gn_comm_init(&comm, &config) != GN_OK) ...   // gn_comm_last_error(NULL) says why
///     gn_allreduce(comm, gradient, gradient, count, GN_AVERAGE);
///     gn_comm_free(comm);
///
/// Every wait has a deadline: a dead or silent peer gives GN_PEER_LOST at every survivor, with an error
/// text that names rank, address, phase and bytes done. After an error the communicator is dead and says so: further calls
/// return GN_DEAD. GN_INVALID is the exception: the arguments are wrong by themselves (NULL, no such op, bucket id, overlapping
/// buffers), nothing was sent, and the caller may call again; the other ranks wait for it until their deadline.
/// The library never prints, exits or touches signals.
///
/// Threads: collectives on one communicator are called from one thread at a time, in the same order on every
/// rank; gn_comm_abort() from any thread; different communicators are independent, but for two things: a thread that waits in one also
/// sends signs of life on the others of its process (and reads theirs, and may call their `log`), and gn_comm_free() tells the
/// peers when another one's failure is the reason. A failure that is seen in this way is returned by the next call.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gradnic/codec.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gn_comm gn_comm;
typedef struct gn_request gn_request;

typedef enum gn_op { GN_SUM, GN_AVERAGE } gn_op;

typedef enum gn_algorithm {
    GN_RING,               ///< INCEPTIONN Algorithm 1
    GN_WORKER_AGGREGATOR,  ///< the paper's baseline: rank 0 gathers, sums and sends back
    GN_SWITCH,  ///< in the network: a switch (docs/switch.md) adds, each value crosses a link once up and once down
    GN_ALGORITHMS
} gn_algorithm;

/// "ring", "worker-aggregator", "switch"; NULL for no algorithm.
GN_API const char *gn_algorithm_name(gn_algorithm algorithm);

typedef enum gn_scale {
    GN_SCALE_NONE,  ///< the bound is absolute
    GN_SCALE_AUTO   ///< per bucket, a power of two from its RMS, agreed by all: the bound is relative
} gn_scale;

typedef enum gn_log_level { GN_LOG_ERROR, GN_LOG_WARNING, GN_LOG_INFO, GN_LOG_DEBUG } gn_log_level;

enum { GN_TOS_AUTO = -1 };                                    ///< of gn_comm_config.data_tos
enum { GN_SEGMENT_MIN = 4 << 10, GN_SEGMENT_MAX = 2 << 20 };  ///< of gn_comm_config.segment_bytes

typedef struct gn_comm_config {
    int rank;                ///< -1: from RANK
    int size;                ///< -1: from WORLD_SIZE; at most 256
    const char *rendezvous;  ///< NULL or "env": MASTER_ADDR and MASTER_PORT; "tcp://host:port"; "file:///path"
    const char *
        interface;  ///< NULL: route to the rendezvous; a name ("gn0"), a CIDR ("10.9.0.0/24"), exclusions ("^lo,docker0")
    int timeout_ms;  ///< how long a peer may give no sign of life while it is waited for; in gn_comm_init() how long all may
                     ///< take to come, and then again to connect; the least of all ranks counts; 0: 30000
    gn_algorithm algorithm;
    size_t segment_bytes;  ///< pipelining unit of data, brought between GN_SEGMENT_MIN and _MAX; 0: 256 KiB
    /// ToS of the gradient legs: 0x28 so that the NIC compresses, 0 for none. GN_TOS_AUTO, the default: 0x28 with `quantise`, else 0.
    int data_tos;
    // GN_SWITCH. Without `quantise` values travel as block floating point (int32, docs/switch.md), with lattice or dense as streams of the codec, which
    // the switch adds as they are; paper has no sums of integers and is refused.
    const char *switch_address;  ///< "host:port" of this rank's switch. Ranks may have different ones, under one parent
    unsigned switch_streams;  ///< parts of a vector that travel on their own, with a thread each from 2 on: at most 16,
                              ///< the same on all ranks; 0: 1
    unsigned
        switch_slots;  ///< chunks of a stream that may be on their way: a power of two up to 32768; 0: 256, compressed 512.
                       ///< The switch may grant less
    unsigned switch_values;  ///< values of a packet, at most 2048, the least of all ranks; 0: what fits the MTU of the
                             ///< route to the switch, streams in a sixth of their length, at most 2048
    unsigned switch_rto_us;  ///< least time after which a packet is sent again, longer than stragglers take; 0: 10000
    bool switch_nic;  ///< values leave as binary32 with data_tos, for this host's NIC to compress: its rule for UDP
                      ///< has the codec and head 32
    bool aggregator_weights;  ///< worker-aggregator: second leg is not a gradient, sent with ToS 0 (the paper's case)
    bool quantise;            ///< pass each contribution (and, with GN_PAPER, each reduced block) through `codec`
    /// What the NIC's rule for data_tos applies; same on all ranks; dense 2^-10 by default, as the NIC's rule is. Without `quantise`, NICs must leave data_tos alone, or replicas drift.
    gn_codec codec;
    gn_scale scale;
    int8_t
        scale_target;  ///< GN_SCALE_AUTO brings the RMS to about 2^scale_target, so the bound is 2^(-k - target) of it; default 0
    /// Called on every piece of data before it is sent, when not NULL, in place of a NIC: may change the values as the two
    /// NICs on the way would, count, and pace. `bytes` is a multiple of 4. Used where no TUN device may be made.
    void (*wire)(void *context, float *values, size_t count);
    /// The same for data that is sent with ToS 0 (the second leg of aggregator_weights), which NICs leave alone: count and pace.
    void (*wire_plain)(void *context, size_t bytes);
    void *wire_context;                                                ///< of both
    void (*log)(void *context, gn_log_level level, const char *text);  ///< NULL: silent
    void *log_context;
} gn_comm_config;

GN_API gn_comm_config gn_comm_config_default(void);

/// Whether the fields are such that gn_comm_init() takes them, for programs that want to refuse them
/// before they begin. Looks at the rendezvous, too, but does not touch the network; rank and size
/// are not looked at. @return GN_OK, or GN_INVALID, with gn_comm_last_error(NULL) for the reason.
GN_API gn_status gn_comm_config_check(const gn_comm_config *config);

/// Connects all ranks. @return GN_OK, GN_INVALID (also for NULL), GN_NO_MEMORY, GN_IO, GN_TIMEOUT (says which ranks did not
/// come), GN_PEER_LOST (who was lost, or gave no sign of life, while the group was set up: a rank, or the switch), GN_MISMATCH (says who has which configuration). `*comm` is NULL on failure.
GN_API gn_status gn_comm_init(gn_comm **comm, const gn_comm_config *config);

/// Sums (or averages) `count` floats over all ranks. `send == recv` is in place; otherwise no overlap. Bucket 0 for GN_SCALE_AUTO.
/// A failure in the next collective, at a rank that is ahead, is told by the next call. Where it is an abort, or a connection is
/// lost as well, it may end this one, though others have finished it: then `recv` is unspecified.
/// Beyond the caller's buffers it needs at most 8 MiB (GN_SWITCH: 2.2 MiB a stream), whatever `count`.
GN_API gn_status gn_allreduce(gn_comm *comm, const float *send, float *recv, size_t count, gn_op op);

/// The long form: one bucket (tensor) of a gradient.
typedef struct gn_bucket {
    const float *send;
    float *recv;
    size_t count;
    gn_op op;
    float *residual;  ///< error feedback: `count` floats kept by the caller between steps, zero at first; NULL: none
    uint32_t id;      ///< names the bucket, for GN_SCALE_AUTO's history: the same on all ranks, below 65536
    uint16_t layer,
        layers;  ///< GN_SWITCH: layer so of so many, 1 is the front one, which the next iteration needs first; 0: not known
} gn_bucket;

/// @return GN_INVALID as above, also for a residual without `quantise` or one that overlaps the buffers.
GN_API gn_status gn_allreduce_bucket(gn_comm *comm, const gn_bucket *bucket);

/// Starts an allreduce and returns; requests run in the order in which they were started. The buffers belong to the
/// library until gn_wait(), or gn_test() with *done, which also frees the request. When it fails to start, *request is NULL and
/// nothing is to be waited for; gn_wait(NULL) and gn_test(NULL, ..) are GN_INVALID (with *done, so that a loop ends).
GN_API gn_status gn_iallreduce(gn_comm *comm, const gn_bucket *bucket, gn_request **request);
GN_API gn_status gn_test(gn_request *request, bool *done);
GN_API gn_status gn_wait(gn_request *request);

/// Returns when every rank has called it. May fail where others succeed, as gn_allreduce() does.
GN_API gn_status gn_barrier(gn_comm *comm);

/// Ends whatever runs, here and (over the control connections) at every rank, with GN_ABORTED. Any thread. NULL: GN_INVALID.
GN_API gn_status gn_comm_abort(gn_comm *comm, const char *reason);

/// Says goodbye and frees; started requests run to their end first, and must have been waited for. NULL: nothing.
/// GN_SWITCH: waits, at most timeout_ms, until every rank has its last results, for the job at the switch ends with the first that leaves; but for no rank
/// that has given no sign of life for timeout_ms already.
GN_API void gn_comm_free(gn_comm *comm);

/// GN_SWITCH: about how many seconds the job still has to go; any thread, as often as is known better. Where a switch's memory is shared by priority, jobs
/// have the more of it the sooner they are done, the more of their time they exchange (which is measured) and the nearer a bucket's layer is to the
/// front. Without it, as long as the job has run so far is assumed. @return GN_INVALID for NULL, a negative number or a NaN.
GN_API gn_status gn_comm_set_remaining(gn_comm *comm, double seconds);

/// -1 for NULL.
GN_API int gn_comm_rank(const gn_comm *comm);
GN_API int gn_comm_size(const gn_comm *comm);

/// Text of the last error: rank and address of the peer, phase, bytes done. With NULL: of the calling
/// thread's last failed gn_comm_init(). Valid until the next call on `comm`.
GN_API const char *gn_comm_last_error(const gn_comm *comm);

typedef struct gn_comm_stats {
    uint64_t sent_bytes, received_bytes;  ///< data legs, before any NIC; GN_SWITCH: datagrams up and down
    double quantise_seconds, reduce_seconds, wait_seconds, total_seconds;
    // GN_SWITCH, packets and chunks: sent again; of those, though nothing had been lost; summed by rank 0 in binary32
    uint64_t resent_packets, late_packets, fallback_chunks;
} gn_comm_stats;

/// Since gn_comm_init(); zeros for NULL.
GN_API gn_comm_stats gn_comm_get_stats(const gn_comm *comm);

#ifdef __cplusplus
}
#endif
#endif
