// SPDX-License-Identifier: Apache-2.0
// Included inside a module. Profile dense: payload bytes of a group, by its class (docs/codec.md
// has the table of classes).
function [5:0] class_bytes(input [3:0] c);
    case (c)
    4'd9, 4'd10, 4'd11: class_bytes = {4'd0, c[1:0]};
    4'd12:              class_bytes = 6'd10;
    4'd13:              class_bytes = 6'd12;
    4'd14:              class_bytes = 6'd16;
    4'd15:              class_bytes = 6'd33;
    default:            class_bytes = {2'd0, c};
    endcase
endfunction
