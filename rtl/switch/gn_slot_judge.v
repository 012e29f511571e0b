// SPDX-License-Identifier: Apache-2.0
// Decides what becomes of a packet of aggregation: the rules of gn_switch_rx() for mode
// partitioned and formats int32 and dense, at a root. It knows of each slot's two copies all but
// the sums. A header every four cycles: four to check it by itself, four to look up the slot,
// decide, and write back what has changed. So the next packet of the same slot finds what this one
// has left.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gn_slot_judge #(
    parameter JOBS_LOG2  = 4,  // 2^JOBS_LOG2 jobs, at most 64
    parameter SLOTS_LOG2 = 6   // 2^SLOTS_LOG2 slots, each in two copies; at most 15
) (
    input  wire                  clk,
    input  wire                  rst,             // synchronous, active high

    // What software says, as gn_aggregator has it. Nothing is judged while slots are emptied.
    input  wire                  cfg_write,
    input  wire [15:0]           cfg_address,
    input  wire [31:0]           cfg_data,
    output wire                  cfg_busy,        // slots are being emptied: write nothing

    // headers
    input  wire [255:0]          s_header,        // byte 0 in the lowest bits
    input  wire [16:0]           s_length,        // bytes of the UDP payload, from the header on
    input  wire                  s_shimmed,       // a shim is ahead of it,
    input  wire [47:0]           s_shim,          // which says this, behind its magic
    input  wire                  s_beats,         // beats of values have come, or will
    input  wire                  s_bad,           // they are of a stream, and that is corrupt,
    input  wire                  s_raw,           // or has values that are not integers
    input  wire [15:0]           s_port,          // where it came in
    input  wire                  s_valid,
    output wire                  s_ready,

    input  wire                  room,            // from a register: one more answer can be taken

    // An answer for each header. It cannot be refused: `room` was there.
    output reg  [4:0]            m_verdict,       // as agg.vh says
    output reg                   m_add,           // its values are added
    output reg                   m_first,         // or written: they are the slot's first
    output reg                   m_read,          // a sum is read again
    output reg                   m_beats,         // it has beats of values, wanted or not
    output reg                   m_dense,         // the job's format
    output reg  [JOBS_LOG2-1:0]  m_index,         // of the job
    output reg  [2:0]            m_child,         // whose packet it is
    output reg  [2:0]            m_last_child,    // of the job
    output reg  [SLOTS_LOG2-1:0] m_slot,          // in the memory
    output reg                   m_version,
    output reg  [15:0]           m_job,
    output reg  [15:0]           m_gen,
    output reg  [3:0]            m_level,
    output reg  [14:0]           m_slot_field,    // slot, as the header has it
    output reg  [88:0]           m_state,         // of the copy, afterwards: as agg.vh says
    output reg                   m_valid
);

    `include "agg.vh"
    localparam [4:0] DROP_MALFORMED = 5'd1, DROP_TYPE = 5'd2, DROP_JOB = 5'd3, DROP_GEN = 5'd4, DROP_PORT = 5'd5,
                     DROP_LEVEL = 5'd6, DROP_SLOT = 5'd7, DROP_STALE = 5'd8, DROP_EARLY = 5'd9, DROP_DUPLICATE = 5'd10,
                     DROP_FORMAT = 5'd11, DROP_STREAM = 5'd12, DONE_ADDED = 5'd16, DONE_SOFTWARE = 5'd19;  // DONE_SOFTWARE: binary32

    localparam JOBS  = 1 << JOBS_LOG2;

    // ---- software's tables

    reg [JOBS-1:0]       used_reg = {JOBS{1'b0}};
    reg [15:0]           number_reg [0:JOBS-1];
    reg [27:0]           info       [0:JOBS-1];  // slots as a power of two, level, last child, gen
    reg [8:0]            codec      [0:JOBS-1];  // k; dense
    reg [SLOTS_LOG2-1:0] base       [0:JOBS-1];
    reg [15:0]           ports      [0:8*JOBS-1];
    reg [11:0]           limit_reg = 12'd0;      // most values of a packet

    reg [SLOTS_LOG2-1:0] clear_at_reg;
    reg [SLOTS_LOG2:0]   clear_reg = {SLOTS_LOG2+1{1'b0}};  // slots that are still to be emptied
    reg                  clearing_reg = 1'b0;

    wire                 cfg_job   = cfg_write && cfg_address[15:14] == 2'd0;
    wire                 cfg_child = cfg_write && cfg_address[15:14] == 2'd1;
    wire [JOBS_LOG2-1:0] cfg_index = cfg_address[2 +: JOBS_LOG2];
    wire                 unused_cfg = &{1'b0, cfg_address, cfg_data};
    wire                 empty;  // nobody is being judged

    assign cfg_busy = clearing_reg;

    always @(posedge clk) begin
        if (cfg_job && cfg_address[1:0] == 2'd0) begin
            number_reg[cfg_index] <= cfg_data[15:0];
            used_reg[cfg_index]   <= cfg_data[16];
            codec[cfg_index]      <= {cfg_data[31:24], cfg_data[17]};
        end
        if (cfg_job && cfg_address[1:0] == 2'd1) info[cfg_index] <= cfg_data[27:0];
        if (cfg_job && cfg_address[1:0] == 2'd2) begin
            base[cfg_index] <= cfg_data[SLOTS_LOG2-1:0];
            clear_at_reg    <= cfg_data[SLOTS_LOG2-1:0];
        end
        if (cfg_child && cfg_address[3:0] == 4'd8) ports[cfg_address[4 +: JOBS_LOG2+3]] <= cfg_data[15:0];
        if (cfg_write && cfg_address[15:14] == 2'd2) limit_reg <= cfg_data[11:0];

        if (cfg_job && cfg_address[1:0] == 2'd3) begin
            clear_reg    <= cfg_data[SLOTS_LOG2:0];
            clearing_reg <= cfg_data[SLOTS_LOG2:0] != {SLOTS_LOG2+1{1'b0}};
        end else if (clearing_reg && empty) begin
            clear_at_reg <= clear_at_reg + 1'b1;
            clear_reg    <= clear_reg - 1'b1;
            clearing_reg <= clear_reg != {{SLOTS_LOG2{1'b0}}, 1'b1};
        end
        if (rst) begin
            used_reg     <= {JOBS{1'b0}};
            clearing_reg <= 1'b0;
        end
    end

    // ---- a: the header by itself, in four phases

    function [15:0] big16;
        input [15:0] bytes;
        big16 = {bytes[7:0], bytes[15:8]};
    endfunction
    function [31:0] big32;
        input [31:0] bytes;
        big32 = {bytes[7:0], bytes[15:8], bytes[23:16], bytes[31:24]};
    endfunction

    reg [1:0] phase_reg = 2'd0;
    reg       turn = 1'b0;  // phase 3
    assign s_ready = turn && room && !clearing_reg;

    reg [255:0] a_header;
    reg [16:0]  a_length;
    reg [15:0]  a_port;
    reg [47:0]  a_shim;
    reg         a_shimmed, a_beats, a_bad, a_raw, a_valid = 1'b0;

    always @(posedge clk) begin
        phase_reg <= rst ? 2'd0 : phase_reg + 2'd1;
        turn      <= !rst && phase_reg == 2'd2;
        if (turn) begin
            a_header <= s_header;
            a_length <= s_length;
            a_port   <= s_port;
            {a_shimmed, a_shim} <= {s_shimmed, s_shim};
            {a_beats, a_bad, a_raw} <= {s_beats, s_bad, s_raw};
            a_valid  <= s_valid && s_ready;
        end
        if (rst) a_valid <= 1'b0;
    end

    wire [15:0] a_slot_field = big16(a_header[8*6 +: 16]);
    wire [3:0]  a_type   = a_header[3:0];
    wire [7:0]  a_flags  = a_header[15:8];
    wire [15:0] a_values = big16(a_header[8*26 +: 16]);
    wire [63:0] a_bitmap = {big32(a_header[8*12 +: 32]), big32(a_header[8*16 +: 32])};
    wire [15:0] a_fan    = big16(a_header[8*20 +: 16]);
    wire [11:0] a_fanin  = a_fan[11:0];
    localparam FLOAT = 0, POISON = 1, ECN = 3, LATE = 4, HALVES = 5;

    // The CRC: 8 bytes in each of three phases, then 4.
    reg  [31:0] crc_reg;
    wire [31:0] crc_from = phase_reg == 2'd0 ? 32'hffffffff : crc_reg;
    wire [31:0] crc_8, crc_4;
    gn_crc_step #(.BITS(64)) step_8 (.crc(crc_from), .data(a_header[{phase_reg, 6'd0} +: 64]), .next(crc_8));
    gn_crc_step #(.BITS(32)) step_4 (.crc(crc_reg), .data(a_header[8*24 +: 32]), .next(crc_4));

    // The shim: its check, and what it has to say about the header. Kind 0: the payload as it was.
    `include "shim.vh"
    wire [7:0]  shim_says, shim_crc, shim_bound, shim_head;
    wire [15:0] shim_length;
    wire [3:0]  shim_version, shim_kind;
    assign {shim_says, shim_head, shim_length[7:0], shim_length[15:8], shim_bound, shim_version, shim_kind} = a_shim;
    gn_shim_check crc (.shim({a_shim[39:0], SHIM_MAGIC}), .check(shim_crc));
    wire        a_stored = shim_kind == 4'd0;
    reg         a_shim_wrong, a_shim_over, a_compressed;

    // What is impossible whatever the job. Each register below has its answer a phase later than
    // what it is made of; the header stays for all four.
    reg [63:0]     a_beyond;
    reg            a_wrong, a_words, a_halves, a_over, a_fault, a_known;
    reg [JOBS-1:0] a_hit;
    reg [JOBS_LOG2-1:0]  a_index, hit_index;
    reg [27:0]           a_info;
    reg [8:0]            a_codec;
    reg [SLOTS_LOG2-1:0] a_base;
    integer        j;

    always @* begin
        hit_index = {JOBS_LOG2{1'b0}};
        for (j = 0; j < JOBS; j = j + 1)
            if (a_hit[j]) hit_index = hit_index | j[JOBS_LOG2-1:0];
    end

    always @(posedge clk) begin
        crc_reg <= turn ? crc_4 : crc_8;

        a_beyond <= a_bitmap >> {a_fanin[5:3], 3'd0};
        a_over   <= !a_fanin[6] && |(a_beyond >> a_fanin[2:0]);
        a_wrong  <= a_header[7:4] != 4'd1 || a_type >= 4'd7 || a_flags[7:6] != 2'd0 || a_fanin == 12'd0 ||
                    a_fanin > 12'd64 || (a_flags[POISON] && a_values != 16'd0) || (a_flags[HALVES] && a_flags[FLOAT]) ||
                    (a_type == 4'd0 && a_bitmap == 64'd0);
        a_words  <= {2'd0, a_length} == {1'b0, a_values, 2'd0} + 19'd32;
        a_halves <= {2'd0, a_length} == {2'd0, a_values, 1'b0} + 19'd32 && a_flags[HALVES];
        a_compressed <= a_shimmed && !a_stored;
        a_shim_wrong <= shim_crc != shim_says || shim_version != SHIM_VERSION || shim_kind > 4'd3 || a_flags[HALVES] ||
                        {3'd0, shim_length} != {1'b0, a_values, 2'd0} + 19'd32;
        a_shim_over  <= a_compressed && (shim_head != 8'd32 || shim_bound != a_header[8*25 +: 8] || a_values == 16'd0 ||
                                         a_flags[FLOAT] || a_length[16:5] == 12'd0);
        a_fault  <= a_wrong || (a_shimmed && (a_shim_wrong || a_shim_over)) || !(a_words || a_halves || a_compressed);

        for (j = 0; j < JOBS; j = j + 1) a_hit[j] <= used_reg[j] && number_reg[j] == big16(a_header[8*2 +: 16]);
        a_index <= hit_index;
        a_known <= |a_hit;
        a_info  <= info[a_index];
        a_codec <= codec[a_index];
        a_base  <= base[a_index];
    end

    // ---- b: the packet at its job and slot, in four phases

    reg [15:0]           b_job, b_gen, b_priority, b_values, b_port, b_slot_field;
    reg [31:0]           b_psn, b_check;
    reg [63:0]           b_bitmap;
    reg [11:0]           b_fanin;
    reg [7:0]            b_flags, b_exponent, b_next;
    reg [3:0]            b_type, b_level;
    reg [27:0]           b_info;
    reg [JOBS_LOG2-1:0]  b_index;
    reg [SLOTS_LOG2-1:0] b_slot;
    reg [8:0]            b_codec;
    reg                  b_fault, b_known, b_beats, b_shimmed, b_stream, b_corrupt, b_raw;
    reg                  b_valid = 1'b0;

    assign empty = !a_valid && !b_valid;

    always @(posedge clk) begin
        if (turn) begin
            b_type       <= a_type;
            b_flags      <= a_flags;
            b_job        <= big16(a_header[8*2 +: 16]);
            b_gen        <= big16(a_header[8*4 +: 16]);
            b_slot_field <= a_slot_field;
            b_psn        <= big32(a_header[8*8 +: 32]);
            b_bitmap     <= a_bitmap;
            b_level      <= a_fan[15:12];
            b_fanin      <= a_fanin;
            b_priority   <= big16(a_header[8*22 +: 16]);
            b_exponent   <= a_header[8*24 +: 8];
            b_next       <= a_header[8*25 +: 8];
            b_values     <= a_values;
            b_check      <= big32(a_header[8*28 +: 32]);
            b_port       <= a_port;
            b_info       <= a_info;
            b_index      <= a_index;
            b_slot       <= a_base + a_slot_field[SLOTS_LOG2-1:0];
            b_fault      <= a_fault || a_over;
            b_known      <= a_known;
            b_codec      <= a_codec;
            b_beats      <= a_beats;
            b_shimmed    <= a_shimmed;
            b_stream     <= shim_kind == 4'd3;  // of dense
            b_corrupt    <= a_bad || !a_beats;
            b_raw        <= a_raw;
            b_valid      <= a_valid;
        end
        if (rst) b_valid <= 1'b0;
    end

    // Phase 0: what the slot's copies hold is fetched. It is there in phases 2 and 3.
    wire [STATE-1:0] state_0, state_1;
    wire             write;
    wire [STATE-1:0] write_state;

    // Packets of other jobs may still be here when software wants slots empty.
    wire                  wipe     = clearing_reg && empty;
    wire [SLOTS_LOG2-1:0] write_at = wipe ? clear_at_reg : b_slot;

    gn_block_ram #(.WIDTH(STATE), .LOG2(SLOTS_LOG2)) copy_0 (
        .clk(clk), .write(wipe || (write && !b_slot_field[15])), .write_address(write_at),
        .write_data(write_state), .read_address(b_slot), .read_data(state_0));
    gn_block_ram #(.WIDTH(STATE), .LOG2(SLOTS_LOG2)) copy_1 (
        .clk(clk), .write(wipe || (write && b_slot_field[15])), .write_address(write_at),
        .write_data(write_state), .read_address(b_slot), .read_data(state_1));

    wire [15:0] b_job_gen  = b_info[15:0];
    wire [2:0]  b_last     = b_info[18:16];
    wire [3:0]  b_job_lev  = b_info[23:20];
    wire [3:0]  b_log2     = b_info[27:24];
    wire        b_dense    = b_codec[0];
    wire        unused_b   = &{1'b0, b_info[19], b_bitmap[63:8]};
    wire [31:0] b_uses     = b_psn >> b_log2;          // of the slot, before this one
    wire [14:0] b_psn_slot = b_psn[14:0] & ~(15'h7fff << b_log2);

    reg [31:0] c_psn_before;  // of the slot's chunk before
    reg [15:0] c_port;
    reg [4:0]  c_reason;
    reg [2:0]  c_child;
    reg [7:0]  c_bit;
    reg        c_whole_crc, c_gen, c_slot, c_level, c_none_before, c_one_before, c_port_ok, c_format, c_other, c_counts;
    reg        c_same, c_seen, c_older, c_before, c_values, c_exponent, c_told, c_sealed;

    wire [STATE-1:0] mine  = b_slot_field[15] ? state_1 : state_0;
    wire [STATE-1:0] other = b_slot_field[15] ? state_0 : state_1;
    wire [31:0]      age   = b_psn - mine[AT_PSN +: 32];
    wire             unused_age = &{1'b0, age[30:0], other};

    always @(posedge clk) begin
        // from the packet and its job: there in phase 1
        c_whole_crc   <= ~crc_reg == b_check;  // in phase 0 alone it is this header's
        c_gen         <= b_gen == b_job_gen;
        c_slot        <= b_slot_field[14:0] == b_psn_slot && b_slot_field[15] == b_uses[0];
        c_none_before <= b_uses == 32'd0;
        c_one_before  <= b_uses[31:1] == 31'd0;
        c_psn_before  <= b_psn - (32'd1 << b_log2);
        c_format      <= b_values > {4'd0, limit_reg} || (b_dense && b_next != b_codec[8:1]);
        c_other       <= b_shimmed != b_dense || (b_shimmed && !b_stream);
        c_counts      <= !b_flags[POISON] && b_values != 16'd0;
        c_level       <= b_level == b_job_lev && b_fanin == {9'd0, b_last} + 12'd1 && b_bitmap[7:0] != 8'd0 &&
                         (b_bitmap[7:0] & (b_bitmap[7:0] - 8'd1)) == 8'd0;
        c_child       <= {|b_bitmap[7:4], |{b_bitmap[7:6], b_bitmap[3:2]},
                          b_bitmap[7] || b_bitmap[5] || b_bitmap[3] || b_bitmap[1]};
        c_bit         <= b_bitmap[7:0];
        // there in phase 2
        if (phase_reg == 2'd1) c_sealed <= c_whole_crc;
        c_port <= ports[{b_index, c_child}];
        // there in phase 3
        c_reason   <= b_fault || !c_sealed ? DROP_MALFORMED : !b_known ? DROP_JOB : !c_gen ? DROP_GEN :
                      !c_slot ? DROP_SLOT : c_format ? DROP_FORMAT :
                      b_flags[FLOAT] ? DONE_SOFTWARE :
                      b_type == 4'd1 || b_type == 4'd4 || b_type == 4'd6 ? DROP_PORT :  // there is no parent
                      b_type != 4'd0 ? DROP_TYPE : !c_level ? DROP_LEVEL : 5'd0;
        c_port_ok  <= c_port == b_port;
        c_same     <= mine[AT_USED] && mine[AT_PSN +: 32] == b_psn;
        c_seen     <= |(mine[AT_SEEN +: 8] & c_bit);
        c_older    <= mine[AT_USED] && age[31];
        c_before   <= other[AT_WHOLE] && other[AT_PSN +: 32] == c_psn_before;
        c_values   <= {4'd0, mine[AT_VALUES +: 12]} == b_values;
        c_exponent <= mine[AT_EXPONENT +: 8] == b_exponent;
        c_told     <= mine[AT_POISON] && mine[AT_VALUES +: 12] == 12'd0;  // only that it is poisoned
    end

    // Phase 3: decided, and written back

    wire       may_open = (!mine[AT_USED] && c_none_before) ||
                          (c_before && (mine[AT_USED] ? mine[AT_WHOLE] : c_one_before));
    wire       again    = c_same && c_seen;
    wire       fits     = (c_values || b_flags[POISON] || c_told) && (c_exponent || b_dense);
    wire       poisoned = c_same && mine[AT_POISON];
    wire       wrong    = (c_same && !fits) || b_flags[HALVES] || (c_counts && c_other);
    wire       corrupt  = c_counts && b_dense && b_corrupt;
    wire       not_int  = b_dense && b_raw;
    wire       adds     = !again && (c_same || may_open) && !wrong && !corrupt && c_reason == 5'd0 && c_port_ok;
    wire [7:0] seen     = (c_same ? mine[AT_SEEN +: 8] : 8'd0) | c_bit;
    wire       whole    = seen == ~(8'hfe << b_last);
    wire [7:0] next     = mine[AT_NEXT +: 8];

    wire [4:0] verdict = c_reason != 5'd0 ? c_reason : !c_port_ok ? DROP_PORT :
                         again ? (mine[AT_WHOLE] ? DONE_REPEATED : DROP_DUPLICATE) :
                         c_same || may_open ? (wrong ? DROP_FORMAT : corrupt ? DROP_STREAM : whole ? DONE_WHOLE : DONE_ADDED) :
                         c_older ? DROP_STALE : DROP_EARLY;

    wire [STATE-1:0] after;
    assign after[AT_PSN +: 32]      = b_psn;
    assign after[AT_SEEN +: 8]      = seen;
    assign after[AT_VALUES +: 12]   = c_same && mine[AT_VALUES +: 12] != 12'd0 ? mine[AT_VALUES +: 12] : b_values[11:0];
    assign after[AT_USED]           = 1'b1;
    assign after[AT_WHOLE]          = whole;
    assign after[AT_POISON]         = poisoned || b_flags[POISON] || (c_counts && not_int);
    assign after[AT_ECN]            = (c_same && mine[AT_ECN]) || b_flags[ECN];
    assign after[AT_LATE]           = (c_same && mine[AT_LATE]) || b_flags[LATE];
    assign after[AT_EXPONENT +: 8]  = c_same ? mine[AT_EXPONENT +: 8] : b_exponent;
    assign after[AT_NEXT +: 8]      = c_same && $signed(next) > $signed(b_next) ? next : b_next;
    assign after[AT_PRIORITY +: 16] = c_same && mine[AT_PRIORITY +: 16] > b_priority ? mine[AT_PRIORITY +: 16] : b_priority;

    assign write       = turn && b_valid && adds;
    assign write_state = wipe ? {STATE{1'b0}} : after;

    initial m_valid = 1'b0;

    always @(posedge clk) begin
        m_verdict    <= verdict;
        m_add        <= adds && b_values != 16'd0 && !poisoned && !not_int;
        m_first      <= !c_same;
        m_read       <= verdict == DONE_REPEATED && !mine[AT_POISON] && mine[AT_VALUES +: 12] != 12'd0;
        m_beats      <= b_beats;
        m_dense      <= b_dense;
        m_index      <= b_index;
        m_child      <= c_child;
        m_last_child <= b_last;
        m_slot       <= b_slot;
        m_version    <= b_slot_field[15];
        m_job        <= b_job;
        m_gen        <= b_gen;
        m_level      <= b_level;
        m_slot_field <= b_slot_field[14:0];
        m_state      <= adds ? after : mine;
        m_valid      <= turn && b_valid && !rst;
    end

    generate
        if (JOBS_LOG2 < 1 || JOBS_LOG2 > 6 || SLOTS_LOG2 < 1 || SLOTS_LOG2 > 15) begin : g_check
            JOBS_LOG2_must_be_1_to_6_and_SLOTS_LOG2_1_to_15 error();
        end
    endgenerate

endmodule

`resetall
