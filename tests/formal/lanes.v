// SPDX-License-Identifier: Apache-2.0
// Every binary32 and every k. What comes back is as near as docs/codec.md says, and passes again
// unchanged. The lanes have no feedback; their registers are wires here.
// method: sat
// sources: codec/gn_lane_compress.v codec/gn_lane_decompress.v
// parameters: PROFILE=0 PROFILE=1 PROFILE=2
// mutant: codec/gn_lane_decompress.v s/8'd126 \+ WIDTH/8'd127 + WIDTH/
// mutant: gn_lane_compress.v /lost +=/s/value\[0\]/1'b0/; s/127 - bound_exp;/126 - bound_exp;/
`default_nettype none

module proof #(
    parameter PROFILE = 1  // 0 paper, 1 lattice, 2 dense
) (
    input wire        clk,
    input wire [31:0] f,
    input wire [7:0]  k
);

    wire [1:0]  profile = PROFILE;
    wire [1:0]  tag, tag_2, tag_n;
    wire [31:0] payload, payload_2, payload_n;
    wire [31:0] g, g_2;

    // dense has no tags between its lanes: raw, or an integer
    wire [1:0] back   = PROFILE == 2 ? {1'b1, &tag} : tag;
    wire [1:0] back_2 = PROFILE == 2 ? {1'b1, &tag_2} : tag_2;

    gn_lane_compress   encode   (.clk(clk), .profile(profile), .bound_exp(k), .value(f), .tag(tag), .payload(payload));
    gn_lane_decompress decode   (.clk(clk), .profile(profile), .bound_exp(k), .tag(back), .payload(payload), .value(g));
    gn_lane_compress   encode_2 (.clk(clk), .profile(profile), .bound_exp(k), .value(g), .tag(tag_2), .payload(payload_2));
    gn_lane_decompress decode_2 (.clk(clk), .profile(profile), .bound_exp(k), .tag(back_2), .payload(payload_2), .value(g_2));
    gn_lane_compress   encode_n (.clk(clk), .profile(profile), .bound_exp(k), .value({!f[31], f[30:0]}), .tag(tag_n), .payload(payload_n));

    // |f| is its significand times 2^s eps, over 2^23; here it is in units of 2^-26 eps, where 2^-3
    // eps <= |f| < 2^17 eps
    wire signed [10:0] s  = $signed({3'd0, f[30:23]}) - 11'sd127 + $signed({{3{k[7]}}, k});
    wire signed [10:0] sg = $signed({3'd0, g[30:23]}) - 11'sd127 + $signed({{3{k[7]}}, k});
    wire [44:0] F = {20'd0, 1'b1, f[22:0]} << (s + 11'sd3);
    wire [44:0] G = g[30:0] == 31'd0 ? 45'd0 : {20'd0, 1'b1, g[22:0]} << (sg + 11'sd3);
    wire [44:0] error = F > G ? F - G : G - F;
    localparam [44:0] EPS = 45'd1 << 26;

    // paper: in units of 2^-54 where 2^-31 <= |f| < 1
    wire [55:0] P = {32'd0, 1'b1, f[22:0]} << (f[30:23] - 8'd96);
    wire [55:0] Q = g[30:0] == 31'd0 ? 56'd0 : {32'd0, 1'b1, g[22:0]} << (g[30:23] - 8'd96);

    wire special = f[30:23] == 8'd255;

    generate
        if (PROFILE == 0) begin : g_paper
            always @* begin
                assume (k >= 8'd1 && k <= 8'd126);
                if (f[30:23] >= 8'd127)
                    assert (tag == 2'd3 && g == f);
                else if (f[30:23] < 8'd127 - k)
                    assert (tag == 2'd0 && g == 32'd0);                 // |f| < eps
                else if (f[30:23] >= 8'd96) begin
                    assert (g[30:0] == 31'd0 || g[31] == f[31]);
                    assert (tag[0] ^ tag[1]);
                    // 2^-15, 2^-7
                    assert (Q <= P && P - Q < (tag == 2'd2 ? 56'd1 << 39 : 56'd1 << 47));
                end else
                    assert (g == 32'd0);  // |f| < 2^-31: nothing of it is left
                assert (tag != 2'd2 || f[30:23] >= 8'd127 - {1'b0, k[7:1]});
                assert (tag != 2'd1 || f[30:23] < 8'd127 - {1'b0, k[7:1]});
            end
        end else begin : g_bound
            always @* begin
                assume ($signed(k) >= -8'sd31 && $signed(k) <= 8'sd31);
                if (tag == 2'd3)
                    // exact, and only what would be rounded to |q| >= 32768, ties being even
                    assert (g == f && (special || s > 11'sd15 || (s == 11'sd15 && F >= 45'd65535 << 26)));
                else if (s < -11'sd3)
                    assert (tag == 2'd0 && g == 32'd0);                 // |f| < eps / 8
                else begin
                    assert (!special && s <= 11'sd15);
                    assert (g == 32'd0 || (g[31] == f[31] && sg >= 11'sd1 && sg <= 11'sd16));
                    assert (error <= EPS);
                    assert (G[26:0] == 27'd0);  // a whole number of steps of 2 eps
                end
            end
        end
    endgenerate

    always @* begin
        assert (g_2 == g);
        assert (tag_n == tag || PROFILE == 2);
        if (PROFILE == 1 && tag == 2'd2) assert (payload_n[15:0] == -payload[15:0]);
        if (PROFILE == 1 && tag == 2'd1) assert (payload_n[7:0] == -payload[7:0]);
        if (PROFILE == 2 && !(&tag)) assert (payload_n == -payload);
        if (tag == 2'd3) assert (payload_n == {!payload[31], payload[30:0]});
    end

endmodule

`resetall
