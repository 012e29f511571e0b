// SPDX-License-Identifier: Apache-2.0
+incdir+codec
lib/credit_counter.v
lib/credit_fifo.v
lib/keep_count.v
lib/pair_fifo.v
codec/lane_compress.v
codec/compress_unit.v
codec/quad_pack.v
codec/record_packer.v
codec/stream_compress.v
codec/lane_decompress.v
codec/quad_unpack.v
codec/decompress_unit.v
codec/record_table.v
codec/record_window.v
codec/stream_decompress.v
