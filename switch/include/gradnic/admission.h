// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_ADMISSION_H
#define GRADNIC_ADMISSION_H
/// @file admission.h
/// Admission: how a worker gets a job at a switch. It uses one TCP connection to the switch's port,
/// beside the datagrams of aggregate.h.
///
///     worker                    switch
///     JOIN    ────────────────▶        who I am, what the job is, my UDP ports
///             ◀──────────────── WELCOME  all children have joined, and the parent has welcomed
///     PING    ────────────────▶        is the switch alive?
///             ◀──────────────── PONG     yes; and whom it waits for, in words
///             ◀──────────────── GONE     the job is over: why, in words
///     GONE    ────────────────▶        the job is over here, and ends everywhere: why
///     LEAVE   ────────────────▶        the child has come to its end, and closes
///     (closes) ───────────────▶        the child leaves
///
/// - PONG names who has not joined. Later it names who is missing in a sum.
/// - GONE comes when somebody is lost, when somebody left whose part is still missing, or when the
///   job was removed.
/// - A switch sends LEAVE when all children below it have left. A switch that closes without LEAVE
///   is lost. A worker that closes without LEAVE is recorded.
/// - After a child leaves, others can still ask for results. The job ends when one of them waits
///   for the part of the child that left.
///
/// A job has 1 to 16 *channels*: parts of its vectors that travel on their own. So threads of
/// workers and switch have nothing to share. Each channel is a job of switch.h, with its own
/// number, slots and UDP ports. A switch that has a parent joins it in the same way, as one child.
///
/// A frame is 4 bytes "GNAD", the version, the type, and 2 bytes for the length of the body.
/// Numbers are big-endian. A body is either a text without its 0, or the fields of a structure, in
/// order and without gaps. Arrays are last: in JOIN udp_port[channels] and, from a switch,
/// below[ranks]; in WELCOME (job, gen, udp_port)[channels]. Thread-safe.

#include <stddef.h>
#include <stdint.h>

#include <gradnic/worker.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    GN_ADMISSION_VERSION = 5,                              ///< of this protocol
    GN_ADMISSION_HEADER = 8,                               ///< bytes of a frame before its body
    GN_ADMISSION_MAX = 512,                                ///< bytes of a whole frame
    GN_ADMISSION_NAME = 48,                                ///< bytes of a job's name with its 0
    GN_ADMISSION_TEXT = 256,                               ///< bytes of a text with its 0
    GN_ADMISSION_FAULT = 128,                              ///< bytes of what is wrong with a frame, with its 0
    GN_ADMISSION_CHANNELS_MAX = 16,                        ///< channels of a job
    GN_ADMISSION_RANKS_MAX = 256,                          ///< most workers of a job
    GN_ADMISSION_STREAMS_MAX = GN_ADMISSION_CHANNELS_MAX,  ///< the old name, for one release
    GN_ADMISSION_NOT_BELOW = 255                           ///< in `below`: not below this switch
};

/// What a frame is.
typedef enum gn_admission_type {
    GN_ADMISSION_JOIN,     ///< a child asks for a job
    GN_ADMISSION_WELCOME,  ///< the child has it
    GN_ADMISSION_REFUSED,  ///< `text` says why; the connection is closed
    GN_ADMISSION_PING,     ///< is the other end alive?
    GN_ADMISSION_PONG,     ///< `text`: whom the switch waits for; empty: nobody, or not for long
    /// `text` says why; the connection is closed; from a child: its job is over.
    GN_ADMISSION_GONE,
    GN_ADMISSION_LEAVE,  ///< a child has come to its end; from a switch: so have all below it
    GN_ADMISSION_TYPES   ///< the number of types, not a type
} gn_admission_type;

/// Who asks for a job.
typedef enum gn_asker {
    GN_ASKER_WORKER,     ///< a worker asks its switch
    GN_ASKER_SWITCH,     ///< a switch asks its parent
    GN_ASKER_PS_SWITCH,  ///< a switch asks its parameter server
    GN_ASKERS            ///< the number of askers, not an asker
} gn_asker;

/// A child asks for its job. All children of a switch must agree on everything that is not their
/// own. Their own are rank, bit, UDP ports, and what they say of themselves: listens, instance,
/// patience_ms, below. `leader` need not agree where it is not known. children <= ranks, and the
/// format's profile must have bound_exp.
typedef struct gn_admission_join {
    /// Of the job: printable, unique to one run, the same at all workers and switches.
    char name[GN_ADMISSION_NAME];
    uint16_t rank, ranks;  ///< of the worker, of all workers; a switch gives its lowest worker
    /// Level of the switch that is asked: 0 when a worker asks. With `bits`: level of the switch
    /// that asks.
    uint8_t level;
    uint8_t bit, children;  ///< which child of this switch it is, of how many
    /// This switch's place at its parent; 0 children: it is the root.
    uint8_t parent_bit, parent_children;
    /// The child on the way to rank 0. GN_AGG_WORKERS_MAX: rank 0 is not below this switch, or it
    /// is not known.
    uint8_t leader;
    /// From a switch that shares its slots, to a parent: how many contribute below it. Otherwise 0.
    uint8_t bits;
    uint8_t format;          ///< gn_agg_format
    int8_t bound_exp;        ///< k of the compressed formats, otherwise 0
    uint16_t packet_values;  ///< values of a full chunk
    uint16_t slots;          ///< wanted for each channel: a power of two; the switch may grant less
    uint16_t priority;       ///< to begin with (mode preemptive)
    uint8_t asker;           ///< gn_asker
    /// The TCP port of a switch that asks: its name for people; a worker: 0.
    uint16_t listens;
    /// Random, of a switch's process, below 2^31: so that it knows itself. A worker: 0.
    uint32_t instance;
    /// How long the worker waits without a sign of life before it gives up. A switch: the least
    /// below it.
    uint32_t patience_ms;
    union {
        uint8_t channels;  ///< 1 to GN_ADMISSION_CHANNELS_MAX
        uint8_t streams;   ///< the old name, for one release
    };
    /// Of the child, by channel, at the address that it connects from.
    uint16_t udp_port[GN_ADMISSION_CHANNELS_MAX];
    /// From a switch, for each rank: which contribution of the switch has its values, counted from
    /// 0, or GN_ADMISSION_NOT_BELOW.
    uint8_t below[GN_ADMISSION_RANKS_MAX];
} gn_admission_join;

/// Returns how many contributions a child's sums are made of, as the switch that it asks counts
/// them. They are those of `below`, and all of them occur.
static inline unsigned gn_admission_contributors(const gn_admission_join *join)
{
    if (join->asker == GN_ASKER_PS_SWITCH) return join->children;
    return join->bits ? join->bits : 1;
}

/// A child gets its job.
typedef struct gn_admission_welcome {
    uint8_t mode;  ///< gn_memory_mode; how workers recover depends on it
    union {
        uint8_t channels;  ///< as was asked for
        uint8_t streams;   ///< the old name, for one release
    };
    uint16_t slots;  ///< granted for each channel: a power of two
    /// To a child with `bits`: the first of them at this switch, and how many there are in all.
    /// Otherwise 0.
    uint8_t bit, fanin;
    /// Number and generation by channel.
    uint16_t job[GN_ADMISSION_CHANNELS_MAX], gen[GN_ADMISSION_CHANNELS_MAX];
    /// Of the switch, by channel.
    uint16_t udp_port[GN_ADMISSION_CHANNELS_MAX];
} gn_admission_welcome;

/// One frame, parsed.
typedef struct gn_admission {
    gn_admission_type type;        ///< which of the following counts
    gn_admission_join join;        ///< GN_ADMISSION_JOIN
    gn_admission_welcome welcome;  ///< GN_ADMISSION_WELCOME
    char text[GN_ADMISSION_TEXT];  ///< REFUSED, GONE, PONG: printable, ends with 0
} gn_admission;

/// Writes one frame into `out`. Characters of a text that are not printable become '?'.
/// @return its bytes, at most GN_ADMISSION_MAX.
GN_API size_t gn_admission_write(const gn_admission *frame, uint8_t out[GN_ADMISSION_MAX]);

/// Reads the frame at the start of what has come so far. The bytes may come from anywhere; every
/// field is checked against its range.
/// @return its bytes; 0 when it is not whole yet; -1 when it is not a frame, or a field is out of
/// range. Then `*wrong` (may be NULL) is the name of that field ("slots"), or "magic", "version",
/// "type" or "length".
GN_API int gn_admission_parse(const uint8_t *bytes, size_t count, gn_admission *frame, const char **wrong);

/// Says in words what gn_admission_parse() finds wrong with these bytes, whoever sent them: "sent
/// JOIN with slots 3: want a power of two", "speaks version 2 of admission, not 5". The text is
/// empty when nothing is wrong.
/// @return text
GN_API const char *gn_admission_fault(const uint8_t *bytes, size_t count, char text[GN_ADMISSION_FAULT]);

#ifdef __cplusplus
}
#endif
#endif
