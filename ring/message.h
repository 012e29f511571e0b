// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_MESSAGE_H
#define GRADNIC_RING_MESSAGE_H
/// The messages of the bootstrap and of the out-of-band connections, as bytes. This is the one
/// place where they are written, and where bytes from the network are parsed. Pure functions. The
/// formats are in docs/collectives.md.
///
/// Every message is a frame: magic "GNC1", type u8, zero u8, length of the body u16, and the body.
/// Little-endian.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    GN_RANKS_MAX = 256,
    GN_FRAME_HEADER = 8,
    GN_TOKEN_BYTES = 16,
    GN_TEXT_MAX = 400,
    GN_ADDRESS_BYTES = 24,
    /// The largest message is TABLE.
    GN_BODY_MAX = GN_TOKEN_BYTES + 14 + GN_RANKS_MAX * (GN_ADDRESS_BYTES + 2),
    GN_FRAME_MAX = GN_FRAME_HEADER + GN_BODY_MAX,
    GN_DATA_HELLO_BYTES = 32,
    GN_OP_BYTES = GN_FRAME_HEADER + 34,  ///< a whole OP
    GN_PROTOCOL_VERSION = 6              // 4 is that of a greeting with a secret
};

typedef enum gn_message_type {
    // Bootstrap, between rank i and rank 0.
    GN_MSG_HELLO = 1,   ///< i to 0: who I am, how I am configured, where I listen
    GN_MSG_ROSTER = 2,  ///< 0 to i: which ranks have come so far
    GN_MSG_TABLE = 3,   ///< 0 to i: all have come; the token and every address
    GN_MSG_READY = 4,   ///< i to 0: I am connected to my neighbours
    GN_MSG_GO = 5,      ///< 0 to i: all are ready
    // Bootstrap and out-of-band.
    GN_MSG_FAIL = 6,    ///< it is over, and why
    GN_MSG_ALIVE = 19,  ///< I am still here, and how far I am
    // Out-of-band.
    GN_MSG_JOIN = 7,     ///< the first message: who I am
    GN_MSG_WELCOME = 8,  ///< its answer
    GN_MSG_OP = 16,      ///< what I call; also ahead of small vectors, on data connections
    GN_MSG_AGREE = 17,   ///< my value of an agreement: it goes round the ring, or to rank 0
    GN_MSG_AGREED = 18,  ///< rank 0 to the others: the largest value
    GN_MSG_BYE = 20,     ///< I have called gn_comm_free(), and why
    GN_MSG_DONE = 21     ///< algorithm switch: i to 0: I have all results; 0 to i: all ranks have
    // 32 and 33 are those of net/greeting_frame.h, whose CALL looks like HELLO.
} gn_message_type;

/// Where a rank or a switch listens. `bytes` is IPv4 in the first 4, or IPv6.
typedef struct gn_address {
    uint8_t family;  ///< 4 or 6; 0: none
    uint16_t data_port, oob_port;
    uint8_t bytes[16];
} gn_address;

/// What must be the same on all ranks.
typedef struct gn_terms {
    uint8_t version, algorithm, quantise, profile;
    int8_t bound_exp;
    uint8_t scale;
    int8_t scale_target;
    uint8_t data_tos, aggregator_weights;
    uint8_t switch_channels;
    uint8_t switch_half;  ///< gn_half; in the two high bits of the channels' byte
    uint8_t offload;
    uint8_t group_offload;  ///< within a group; 0 where the algorithm has no groups
    uint16_t groups;        ///< gn_grouping.by; 0 where the algorithm has no groups
} gn_terms;

typedef struct gn_hello {
    uint64_t job;
    uint16_t rank, size;
    gn_terms terms;
    gn_address address;
    gn_address at_switch;    ///< algorithm switch: its data port; otherwise family 0
    uint16_t switch_values;  ///< of a packet, at most
    uint32_t timeout_ms;     ///< may differ
    uint32_t segment_bytes;  ///< may differ
    uint16_t group;          ///< gn_grouping.number
} gn_hello;

typedef struct gn_rank_table {
    uint8_t token[GN_TOKEN_BYTES];
    uint16_t size;
    gn_address address[GN_RANKS_MAX];
    uint16_t switch_values;              ///< the least of all ranks
    uint32_t timeout_ms;                 ///< the least of all ranks, and everyone's from here on
    uint32_t segment_bytes;              ///< the same of bytes of values that travel at a time
    uint8_t switch_index[GN_RANKS_MAX];  ///< equal for ranks at one switch, counted from 0
    uint8_t group[GN_RANKS_MAX];         ///< equal for ranks of one group, counted from 0
} gn_rank_table;

/// Limits of segment_bytes: GN_SEGMENT_MIN and GN_SEGMENT_MAX of gradnic/comm.h.
enum { GN_SEGMENT_LEAST = 4 << 10, GN_SEGMENT_MOST = 2 << 20 };
/// The nearest value that is allowed: within the limits, and whole cache lines.
uint32_t gn_segment_bytes_fit(uint32_t bytes);

typedef struct gn_roster {
    uint16_t size;
    uint8_t present[GN_RANKS_MAX / 8];  ///< bit r: rank r has come
} gn_roster;

enum { GN_NO_RANK = 0xFFFF };

typedef struct gn_failure {
    uint8_t status;
    uint16_t culprit, reporter;  ///< ranks, or GN_NO_RANK
    char text[GN_TEXT_MAX + 1];
} gn_failure;

typedef struct gn_join {
    uint8_t token[GN_TOKEN_BYTES];
    uint16_t rank;
} gn_join;

/// Not known yet, or a bucket of zeros, which says nothing.
enum { GN_EXPONENT_NONE = -32768 };

/// What a rank calls.
typedef struct gn_op_header {
    uint64_t sequence;
    uint64_t count;  ///< elements of a block; with different blocks, of all together
    uint8_t kind;    ///< gn_collective
    uint8_t op;      ///< gn_op; GN_ALL_GATHER: 1 when the values are compressed
    uint8_t algorithm, type;
    uint32_t bucket;
    int16_t exponent;
    uint16_t root, to;
    uint32_t shape;  ///< CRC of the ranks' counts, each a u64; 0: blocks are equal
} gn_op_header;

typedef struct gn_agree {
    uint64_t sequence;
    uint16_t origin;
    uint8_t round, hops;
    int16_t value;
} gn_agree;

typedef struct gn_alive {
    uint64_t sequence, data_sent;
} gn_alive;

typedef struct gn_frame {
    gn_message_type type;
    const uint8_t *body;
    size_t length;
} gn_frame;

/// Looks for a whole frame at the start of `bytes`.
/// @return its length in bytes; 0 when more bytes are needed; -1 when this cannot be one of our
/// frames, as soon as that is known
int gn_frame_parse(const uint8_t *bytes, size_t available, gn_frame *frame);

/// Each writes a whole frame. `out` has room for GN_FRAME_MAX bytes. @return its length
size_t gn_hello_write(uint8_t *out, const gn_hello *hello);
size_t gn_roster_write(uint8_t *out, const gn_roster *roster);
size_t gn_rank_table_write(uint8_t *out, const gn_rank_table *table);
size_t gn_failure_write(uint8_t *out, const gn_failure *failure);
size_t gn_bye_write(uint8_t *out, const gn_failure *why);  ///< status GN_OK: without a reason
size_t gn_join_write(uint8_t *out, const gn_join *join);
size_t gn_op_header_write(uint8_t *out, const gn_op_header *header);
size_t gn_agree_write(uint8_t *out, gn_message_type type, const gn_agree *agree);
size_t gn_alive_write(uint8_t *out, const gn_alive *alive);
size_t gn_done_write(uint8_t *out, uint64_t collectives);   ///< how many are finished
size_t gn_empty_write(uint8_t *out, gn_message_type type);  ///< READY, GO, WELCOME

/// Each reads the body of a frame of its type. Of a HELLO of another version of the protocol it
/// reads only version, job, rank and size. @return false when a field is out of its range or the
/// length is wrong; then the content of the destination is unspecified
bool gn_hello_read(const gn_frame *frame, gn_hello *hello);
bool gn_roster_read(const gn_frame *frame, gn_roster *roster);
bool gn_rank_table_read(const gn_frame *frame, gn_rank_table *table);
bool gn_failure_read(const gn_frame *frame, gn_failure *failure);
bool gn_bye_read(const gn_frame *frame, gn_failure *why);  ///< status GN_OK: without a reason
bool gn_join_read(const gn_frame *frame, gn_join *join);
bool gn_op_header_read(const gn_frame *frame, gn_op_header *header);
bool gn_agree_read(const gn_frame *frame, gn_agree *agree);
bool gn_alive_read(const gn_frame *frame, gn_alive *alive);
bool gn_done_read(const gn_frame *frame, uint64_t *collectives);

/// A data connection begins with 8 values that no profile of the NIC changes (net/as_values.h).
void gn_data_hello_write(uint8_t out[GN_DATA_HELLO_BYTES], const gn_join *join);
bool gn_data_hello_read(const uint8_t bytes[GN_DATA_HELLO_BYTES], gn_join *join);

/// A token as the name of a job: 32 hexadecimal digits and a 0.
void gn_token_text(const uint8_t token[GN_TOKEN_BYTES], char *text);

/// The rendezvous file: one line, "gradnic-rendezvous 1 ADDRESS PORT\n".
enum { GN_RENDEZVOUS_LINE = 128 };
bool gn_rendezvous_line_read(const char *text, size_t length, char host[GN_RENDEZVOUS_LINE], uint16_t *port);

#endif
