// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_ADMISSION_H
#define GRADNIC_ADMISSION_H
/// @file admission.h
/// How a worker comes to have a job at a switch: over one TCP connection to the switch's port, beside the datagrams of aggregate.h.
///
///     worker                          switch
///     JOIN    ──────────────────────▶          who I am, what the job is, my UDP ports
///             ◀────────────────────── WELCOME  when all children have joined (and the parent has welcomed the switch)
///     PING    ──────────────────────▶          while it waits: is the switch alive?
///             ◀────────────────────── PONG     and whom it waits for, in words: who has not joined, or whose part of a sum is missing
///             ◀────────────────────── GONE     somebody is lost, or was waited for and has left, or the job was removed: why, in words
///     GONE    ──────────────────────▶          the job is over here, why: it ends everywhere
///     LEAVE   ──────────────────────▶          it closes because it has come to its end; a switch because all below it have. A switch that closes without a word is
///                                              taken for lost; of a worker it is noted
///     (closes) ─────────────────────▶          leaves. Others can still ask for results; the job ends when one of them waits for its part
///
/// A job has `streams`: parts of its vectors that travel on their own, so that several threads of workers and switch have nothing to
/// share. Each is a job of switch.h with its own number, slots and UDP ports. A switch that has a parent joins it in the same way, as one
/// child. Frames: 4 bytes "GNAD", version, type, u16 bytes of the body that follows; numbers big-endian. Bodies: the fields of the structures in
/// their order without gaps, in JOIN udp_port[streams] and, from a switch, below[ranks], in WELCOME (job, gen, udp_port)[streams] last; or the text without its 0. Thread-safe.

#include <stddef.h>
#include <stdint.h>

#include <gradnic/worker.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    GN_ADMISSION_VERSION = 5,
    GN_ADMISSION_HEADER = 8,   ///< bytes of a frame before its body
    GN_ADMISSION_MAX = 512,    ///< bytes of a whole frame
    GN_ADMISSION_NAME = 48,    ///< bytes of a job's name with its 0
    GN_ADMISSION_TEXT = 256,   ///< bytes of a text with its 0
    GN_ADMISSION_FAULT = 128,  ///< bytes of what is wrong with a frame, with its 0
    GN_ADMISSION_STREAMS_MAX = 16,
    GN_ADMISSION_NOT_BELOW = 255  ///< in `below`
};

typedef enum gn_admission_type {
    GN_ADMISSION_JOIN,
    GN_ADMISSION_WELCOME,
    GN_ADMISSION_REFUSED,  ///< `text` says why; the connection is closed
    GN_ADMISSION_PING,
    GN_ADMISSION_PONG,   ///< `text`: whom the switch waits for; empty: nobody, or not for long
    GN_ADMISSION_GONE,   ///< `text` says who; the connection is closed; from a child: its job is over
    GN_ADMISSION_LEAVE,  ///< a child has come to its end: all of a switch below it have left
    GN_ADMISSION_TYPES
} gn_admission_type;

typedef enum gn_asker {
    GN_ASKER_WORKER,
    GN_ASKER_SWITCH,     ///< a switch asks its parent
    GN_ASKER_PS_SWITCH,  ///< a switch asks its parameter server
    GN_ASKERS
} gn_asker;

/// A child asks for its job. All children of a switch must agree in everything that is not their own: all but rank, bit, UDP ports, what they say of
/// themselves (listens, instance, patience_ms, below), and `leader` where it is not known. children <= ranks; bound_exp is one that the format's profile has.
typedef struct gn_admission_join {
    char name[GN_ADMISSION_NAME];  ///< of the job: printable, unique to one run; the same at all workers and switches
    uint16_t rank, ranks;          ///< of the worker among all workers of the job; a switch gives its lowest worker's
    uint8_t level;  ///< of the switch that is asked: 0 when a worker asks; with `bits`, that of the switch that asks
    uint8_t bit, children;                ///< which child of this switch it is, of how many
    uint8_t parent_bit, parent_children;  ///< this switch's place at its parent; 0 children: the switch is the root
    uint8_t leader;  ///< the child on the way to rank 0; GN_AGG_WORKERS_MAX: not below this switch, or not known
    uint8_t bits;  ///< of a switch that shares its slots, and asks a parent: how many contribute below it; otherwise 0
    uint8_t format;          ///< gn_agg_format
    int8_t bound_exp;        ///< k of the compressed formats, otherwise 0
    uint16_t packet_values;  ///< of a full chunk
    uint16_t slots;          ///< wanted for each stream: a power of two; less may be granted
    uint16_t priority;       ///< mode preemptive, to begin with
    uint8_t asker;           ///< gn_asker
    uint16_t listens;        ///< TCP port at which a switch is asked itself: its name for people; of a worker 0
    uint32_t instance;       ///< random, of a switch's process, below 2^31: to know itself by; of a worker 0
    uint32_t
        patience_ms;  ///< after which the worker gives up who shows no sign of life; of a switch: the least below it
    uint8_t streams;  ///< 1 to GN_ADMISSION_STREAMS_MAX
    uint16_t udp_port[GN_ADMISSION_STREAMS_MAX];  ///< of the child, at the address it connects from: by stream
    uint8_t below[GN_WORKER_RANKS_MAX];  ///< from a switch, for each rank: which contribution of the switch its
                                         ///< values are in, counted from 0; or GN_ADMISSION_NOT_BELOW
} gn_admission_join;

/// Contributions that a child's sums are made of, as the switch that it asks counts them: those of `below`, all of which occur.
static inline unsigned gn_admission_contributors(const gn_admission_join *join)
{
    if (join->asker == GN_ASKER_PS_SWITCH) return join->children;
    return join->bits ? join->bits : 1;
}

typedef struct gn_admission_welcome {
    uint8_t mode;     ///< gn_memory_mode: workers' recovery depends on it
    uint8_t streams;  ///< as was asked for
    uint16_t slots;   ///< granted, for each stream: a power of two
    uint8_t bit,
        fanin;  ///< to a child with `bits`: the first of them at this switch, and how many there are in all; otherwise 0
    uint16_t job[GN_ADMISSION_STREAMS_MAX], gen[GN_ADMISSION_STREAMS_MAX];
    uint16_t udp_port[GN_ADMISSION_STREAMS_MAX];  ///< of the switch, by stream
} gn_admission_welcome;

/// One frame, parsed.
typedef struct gn_admission {
    gn_admission_type type;
    gn_admission_join join;        ///< GN_ADMISSION_JOIN
    gn_admission_welcome welcome;  ///< GN_ADMISSION_WELCOME
    char text[GN_ADMISSION_TEXT];  ///< REFUSED, GONE, PONG: printable, ends with 0
} gn_admission;

/// Writes one frame into `out`; characters of a text that are not printable as '?'. @return its bytes, at most GN_ADMISSION_MAX.
GN_API size_t gn_admission_write(const gn_admission *frame, uint8_t out[GN_ADMISSION_MAX]);

/// Reads the frame at the beginning of what has come so far. For bytes from anywhere; every field is checked against its range.
/// @return its bytes; 0 when it is not whole yet; -1 when it is none, or a field is out of range: `*wrong` (may be NULL) says which
/// ("slots"; "magic", "version", "type", "length" of the frame).
GN_API int gn_admission_parse(const uint8_t *bytes, size_t count, gn_admission *frame, const char **wrong);

/// What gn_admission_parse() finds wrong with these bytes, for people, of whoever sent them: "sent JOIN with slots 3: want a power of two", "speaks version 2 of
/// admission, not 4". Empty where there is nothing. @return text
GN_API const char *gn_admission_fault(const uint8_t *bytes, size_t count, char text[GN_ADMISSION_FAULT]);

#ifdef __cplusplus
}
#endif
#endif
