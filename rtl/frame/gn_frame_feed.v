// SPDX-License-Identifier: Apache-2.0
// Reads stored frames, a beat a cycle. A range of each goes to an engine, moved to the start of a
// beat. Of the whole frame come the sums that gn_frame_assemble needs for the new headers.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gn_frame_feed #(
    parameter LOG2       = 10,  // the store has 2^LOG2 beats
    parameter USER_WIDTH = 10   // bits that the engine gets with its range
) (
    input  wire                  clk,
    input  wire                  rst,            // synchronous, active high

    // Frames: packets of TCP or UDP, with at least one byte of payload. Bytes count from the
    // frame's first, and payload <= from <= start <= stop <= end.
    input  wire [LOG2-1:0]       s_first,        // where its first beat is in the store
    input  wire                  s_tagged,       // one VLAN tag
    input  wire                  s_six,          // IPv6
    input  wire                  s_tcp,          // TCP, not UDP
    input  wire [6:0]            s_l4,           // where the L4 header begins
    input  wire [7:0]            s_payload,      // where the payload begins
    input  wire [16:0]           s_from,         // [s_from, s_start) goes on verbatim
    input  wire [16:0]           s_start,        // [s_start, s_stop) goes to the engine
    input  wire [16:0]           s_stop,         // [s_stop, s_end), up to 3 bytes, goes on verbatim
                                                 // behind what the engine makes
    input  wire [16:0]           s_end,          // where the packet ends
    input  wire                  s_engine,       // there is something for the engine; if not, all
                                                 // may be one range: s_start = s_stop = s_end
    input  wire [USER_WIDTH-1:0] s_user,
    input  wire                  s_valid,
    output wire                  s_ready,

    // the store's reader
    output wire [LOG2-1:0]       address,
    input  wire [255:0]          data,           // two cycles later

    // the engine's range: AXI4-Stream (source)
    output wire [255:0]          m_axis_tdata,
    output wire [31:0]           m_axis_tkeep,
    output wire                  m_axis_tlast,
    output wire [USER_WIDTH-1:0] m_axis_tuser,   // the same in all beats
    output wire                  m_axis_tvalid,
    input  wire                  m_axis_tready,

    // As gn_frame_sums says, of every frame. They cannot be refused: no more frames may be on their
    // way than the receiver has places.
    output wire [15:0]           sums_lead,
    output wire [15:0]           sums_rest,
    output wire [15:0]           sums_tail,
    output wire [15:0]           sums_field,
    output wire                  sums_valid
);

    // ---- what is read of the frame: its beats, and those of the range, counted

    reg [LOG2-1:0]       p_first;
    reg                  p_tagged, p_six, p_tcp, p_engine;
    reg [6:0]            p_l4;
    reg [7:0]            p_payload;
    reg [16:0]           p_from, p_start, p_stop, p_end;
    reg [USER_WIDTH-1:0] p_user;
    reg                  p_valid = 1'b0;

    wire        p_ready;
    wire [16:0] p_bytes   = p_stop - p_start;
    wire [16:0] p_last_of = p_end - 17'd1;
    wire [16:0] p_stop_of = p_stop - 17'd1;
    wire [16:0] p_round   = p_bytes + 17'd31;
    wire [11:0] p_span    = p_stop_of[16:5] - p_start[16:5];
    wire        unused_low = &{1'b0, p_last_of[4:0], p_round[4:0]};

    assign s_ready = !p_valid || p_ready;

    always @(posedge clk) begin
        if (s_ready) begin
            p_first   <= s_first;
            p_tagged  <= s_tagged;
            p_six     <= s_six;
            p_tcp     <= s_tcp;
            p_engine  <= s_engine;
            p_l4      <= s_l4;
            p_payload <= s_payload;
            p_from    <= s_from;
            p_start   <= s_start;
            p_stop    <= s_stop;
            p_end     <= s_end;
            p_user    <= s_user;
            p_valid   <= s_valid;
        end
        if (rst) p_valid <= 1'b0;
    end

    // ---- the frame that is read

    // Each count has a flag beside it that says whether it is over. So what is decided in a cycle
    // depends on flags only.
    reg [LOG2-1:0]       address_reg;
    reg [11:0]           number_reg;                    // of the beat in the frame
    reg [11:0]           more_reg;                      // beats that follow
    reg [11:0]           ahead_reg;                     // beats ahead of the range
    reg [11:0]           range_more_reg;                // of the range, beats that follow its first
    reg [11:0]           places_reg;                    // beats that the range will give and that
                                                        // have no place yet
    reg                  last_reg, range_first_reg, range_last_reg, places_left_reg;
    reg                  within_reg;                    // the range has begun
    reg                  tagged_reg, six_reg, tcp_reg, engine_reg;
    reg [6:0]            l4_reg;
    reg [7:0]            payload_reg;
    reg [16:0]           from_reg, start_reg, stop_reg, end_reg;
    reg [5:0]            to_reg;
    reg [USER_WIDTH-1:0] user_reg;
    reg                  busy_reg = 1'b0;

    wire room, unused_idle;
    wire issue    = busy_reg && room;
    wire in_range = range_first_reg || within_reg;
    wire place    = issue && in_range && places_left_reg;

    assign p_ready = !busy_reg || (room && last_reg);
    assign address = address_reg;

    always @(posedge clk) begin
        if (issue) begin
            address_reg     <= address_reg + 1'b1;
            number_reg      <= number_reg + 12'd1;
            more_reg        <= more_reg - 12'd1;
            last_reg        <= more_reg == 12'd1;
            ahead_reg       <= ahead_reg - 12'd1;
            range_first_reg <= engine_reg && ahead_reg == 12'd1;
            within_reg      <= in_range && !range_last_reg;
            if (in_range) begin
                range_more_reg <= range_more_reg - 12'd1;
                range_last_reg <= range_more_reg == 12'd1;
            end
            if (place) begin
                places_reg      <= places_reg - 12'd1;
                places_left_reg <= places_reg != 12'd1;
            end
            if (last_reg) busy_reg <= 1'b0;
        end
        if (p_valid && p_ready) begin
            address_reg     <= p_first;
            number_reg      <= 12'd0;
            more_reg        <= p_last_of[16:5];
            last_reg        <= p_last_of[16:5] == 12'd0;
            ahead_reg       <= p_start[16:5];
            range_first_reg <= p_engine && p_start[16:5] == 12'd0;
            range_more_reg  <= p_span;
            range_last_reg  <= p_span == 12'd0;
            places_reg      <= p_round[16:5];
            places_left_reg <= 1'b1;
            within_reg      <= 1'b0;
            tagged_reg      <= p_tagged;
            six_reg         <= p_six;
            tcp_reg         <= p_tcp;
            engine_reg      <= p_engine;
            l4_reg          <= p_l4;
            payload_reg     <= p_payload;
            from_reg        <= p_from;
            start_reg       <= p_start;
            stop_reg        <= p_stop;
            end_reg         <= p_end;
            to_reg          <= {1'b0, p_stop_of[4:0]} + 6'd1;
            user_reg        <= p_user;
            busy_reg        <= 1'b1;
        end
        if (rst) busy_reg <= 1'b0;
    end

    // A place in the FIFO is taken with each beat of the range. The range may have one beat more
    // than it gives: then the last takes none.
    gn_credit_counter #(.CREDITS(17), .MOST(1)) credits (
        .clk(clk), .rst(rst), .ok(room), .idle(unused_idle), .take({2'd0, place}), .give({2'd0, m_axis_tvalid && m_axis_tready}));

    gn_frame_sums sums (
        .clk(clk), .rst(rst), .s_valid(issue), .s_last(last_reg), .s_number(number_reg), .s_tagged(tagged_reg), .s_six(six_reg),
        .s_tcp(tcp_reg), .s_l4(l4_reg), .s_payload(payload_reg), .s_from(from_reg), .s_to(start_reg), .s_tail(stop_reg),
        .s_end(end_reg), .s_data(data), .m_lead(sums_lead), .m_rest(sums_rest), .m_tail(sums_tail), .m_field(sums_field),
        .m_valid(sums_valid));

    // ---- with the beat, two cycles later

    reg [1:0] first_pipe, last_pipe;
    reg [1:0] valid_pipe = 2'b00;
    reg [4:0] from_1, from_2;  // where the range begins, one and two cycles later
    reg [5:0] to_1, to_2;

    always @(posedge clk) begin
        first_pipe <= {first_pipe[0], range_first_reg};
        last_pipe  <= {last_pipe[0], range_last_reg};
        from_1     <= start_reg[4:0];
        from_2     <= from_1;
        to_1       <= to_reg;
        to_2       <= to_1;
        valid_pipe <= rst ? 2'b00 : {valid_pipe[0], issue && in_range};
    end

    wire [255:0] r_data;
    wire [5:0]   r_bytes;
    wire         r_last, r_valid;

    gn_byte_realign realign (
        .clk(clk), .rst(rst), .s_data(data), .s_from(from_2), .s_to(to_2), .s_first(first_pipe[1]),
        .s_last(last_pipe[1]), .s_valid(valid_pipe[1]), .m_data(r_data), .m_bytes(r_bytes), .m_last(r_last), .m_valid(r_valid));

    wire [5:0] m_bytes;
    assign m_axis_tkeep = ~(32'hffffffff << m_bytes);

    gn_credit_fifo #(.WIDTH(263), .LOG2(4)) beats (
        .clk(clk), .rst(rst), .s_data({r_last, r_bytes, r_data}), .s_valid(r_valid),
        .m_data({m_axis_tlast, m_bytes, m_axis_tdata}), .m_valid(m_axis_tvalid), .m_ready(m_axis_tready));

    // A range takes places from its first beat on, so there are no more ranges inside than places.
    wire unused_user_valid;
    gn_credit_fifo #(.WIDTH(USER_WIDTH), .LOG2(4)) users (
        .clk(clk), .rst(rst), .s_data(user_reg), .s_valid(issue && range_first_reg),
        .m_data(m_axis_tuser), .m_valid(unused_user_valid), .m_ready(m_axis_tvalid && m_axis_tready && m_axis_tlast));

endmodule

`resetall
