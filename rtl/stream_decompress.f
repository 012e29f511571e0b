// SPDX-License-Identifier: Apache-2.0
+incdir+codec
lib/credit_counter.v
lib/credit_fifo.v
lib/keep_count.v
codec/lane_decompress.v
codec/quad_unpack.v
codec/decompress_unit.v
codec/record_table.v
codec/record_window.v
codec/stream_decompress.v
