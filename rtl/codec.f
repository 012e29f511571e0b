// SPDX-License-Identifier: Apache-2.0
+incdir+codec
lib/gn_credit_counter.v
lib/gn_credit_fifo.v
lib/gn_keep_count.v
lib/gn_pair_fifo.v
codec/gn_lane_compress.v
codec/gn_compress_unit.v
codec/gn_group_class.v
codec/gn_quad_pack.v
codec/gn_record_packer.v
codec/gn_stream_compress.v
codec/gn_lane_decompress.v
codec/gn_quad_unpack.v
codec/gn_decompress_unit.v
codec/gn_record_table.v
codec/gn_record_window.v
codec/gn_stream_decompress.v
