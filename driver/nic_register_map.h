// SPDX-License-Identifier: Apache-2.0
// Made by rtl/nic/registers.py of rtl/nic/registers.json.
// clang-format off
#ifndef GRADNIC_DRIVER_NIC_REGISTER_MAP_H
#define GRADNIC_DRIVER_NIC_REGISTER_MAP_H
/// Addresses of the NIC's registers, numbers of counters, and values after a reset (GN_NIC_*).
/// nic_registers.h is what to include.

enum {
    GN_REG_ID = 0x000,
    GN_REG_VERSION = 0x004,
    GN_REG_PARAMS = 0x008,
    GN_REG_CONTROL = 0x00c,
    GN_REG_SNAPSHOT = 0x010,
    GN_REG_COMMIT = 0x014,
    GN_REG_MTU = 0x018,
    GN_REG_MAX_RESTORED = 0x01c,
    GN_REG_FLOWS = 0x020,
    GN_REG_FLOWS_SEED = 0x024,
    GN_REG_RULES = 0x100,
    GN_REG_RULE_STEP = 0x10,
    GN_RULE_WORDS = 3,
    GN_REG_TX = 0x400,
    GN_REG_TX_RULES = 0x500,
    GN_REG_TX_RULE_STEP = 0x40,
    GN_REG_RX = 0x800,
    GN_TX_REGISTERS = 19,
    GN_TX_RULE_REGISTERS = 5,
    GN_RX_REGISTERS = 21,
    GN_NIC_ID = 0x474e4943,
    GN_NIC_VERSION = 0x00010002,
    GN_NIC_MTU = 1500,
    GN_NIC_MAX_RESTORED = 9000,
    GN_REG_COUNTER = 8  ///< bytes of a counter: 64 bits, the low word first
};

/// Every register that is neither a rule's nor a counter: ROW(name, access, reset). Access: READ,
/// WRITE (read and written) or COMMAND (written, reads as 0). Reset: -1 when the build says it.
#define GN_NIC_REGISTER_ROWS(ROW) \
    ROW(ID, READ, 0x474e4943) \
    ROW(VERSION, READ, 0x00010002) \
    ROW(PARAMS, READ, -1) \
    ROW(CONTROL, WRITE, 0) \
    ROW(SNAPSHOT, COMMAND, 0) \
    ROW(COMMIT, COMMAND, 0) \
    ROW(MTU, WRITE, 1500) \
    ROW(MAX_RESTORED, WRITE, 9000) \
    ROW(FLOWS, READ, -1) \
    ROW(FLOWS_SEED, READ, -1)

/// Words of a rule: ROW(bits that exist, value of rule 0 after a reset).
#define GN_NIC_RULE_WORD_ROWS(ROW) \
    ROW(0x8003ffff, 0x80020028) \
    ROW(0xffffffff, 0xffff0000) \
    ROW(0x0000ffff, 0x0000000a)

/// Counters of each block, in their order: ROW(name, field of the model's counters), or OTHER(name)
/// of frames that the model never sees.
#define GN_TX_REGISTER_ROWS(ROW, OTHER) \
    ROW("packets", packets) \
    ROW("bytes", bytes) \
    ROW("passed", passed) \
    ROW("pass_bypass", pass_bypass) \
    ROW("pass_no_rule", pass_no_rule) \
    ROW("pass_not_ip", pass_not_ip) \
    ROW("pass_fragment", pass_fragment) \
    ROW("pass_extension", pass_extension) \
    ROW("pass_protocol", pass_protocol) \
    ROW("pass_empty", pass_empty) \
    ROW("pass_too_big", pass_too_big) \
    ROW("stored_no_gain", stored_no_gain) \
    ROW("stored_no_syn", stored_no_syn) \
    ROW("stored_syn", stored_syn) \
    OTHER("dropped_bad") \
    OTHER("dropped_long") \
    ROW("flows_added", flows_added) \
    ROW("flows_evicted", flows_evicted) \
    ROW("flows_closed", flows_closed)

#define GN_TX_RULE_REGISTER_ROWS(ROW, OTHER) \
    ROW("compressed", compressed) \
    ROW("stored", stored) \
    ROW("values", values) \
    ROW("payload_bytes", payload_bytes) \
    ROW("wire_bytes", wire_bytes)

#define GN_RX_REGISTER_ROWS(ROW, OTHER) \
    ROW("packets", packets) \
    ROW("bytes", bytes) \
    ROW("passed", passed) \
    ROW("foreign", foreign) \
    ROW("restored_stored", restored[0]) \
    ROW("restored_paper", restored[1]) \
    ROW("restored_lattice", restored[2]) \
    ROW("restored_dense", restored[3]) \
    ROW("wire_bytes", wire_bytes) \
    ROW("payload_bytes", payload_bytes) \
    ROW("malformed", malformed) \
    ROW("bad_version", bad_version) \
    ROW("bad_kind", bad_kind) \
    ROW("bad_bound", bad_bound) \
    ROW("bad_head", bad_head) \
    ROW("bad_length", bad_length) \
    ROW("bad_stream", bad_stream) \
    ROW("bad_checksum", bad_checksum) \
    OTHER("dropped_bad") \
    OTHER("dropped_long") \
    ROW("too_large", too_large)

#endif
