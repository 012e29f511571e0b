// SPDX-License-Identifier: Apache-2.0
+incdir+switch
lib/gn_block_ram.v
lib/gn_credit_counter.v
lib/gn_credit_fifo.v
lib/gn_keep_count.v
frame/gn_checksum.v
frame/gn_frame_parse.v
frame/gn_frame_store.v
frame/gn_byte_realign.v
frame/gn_frame_sums.v
frame/gn_frame_feed.v
switch/gn_crc_step.v
switch/gn_slot_judge.v
switch/gn_slot_add.v
switch/gn_slot_reader.v
switch/gn_aggregator.v
