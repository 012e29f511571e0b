// SPDX-License-Identifier: Apache-2.0
+incdir+switch
lib/block_ram.v
lib/credit_counter.v
lib/credit_fifo.v
lib/keep_count.v
frame/checksum.v
frame/frame_parse.v
frame/frame_store.v
frame/byte_realign.v
frame/frame_sums.v
frame/frame_feed.v
switch/crc_step.v
switch/slot_judge.v
switch/slot_add.v
switch/slot_reader.v
switch/gn_aggregator.v
