// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_DRIVER_RTL_RTL_NIC_H
#define GRADNIC_DRIVER_RTL_RTL_NIC_H
/// The Verilog NIC (rtl/nic/gn_nic_top.v) in Verilator: Ethernet frames into and out of its sides,
/// and its registers. Time passes only while a caller waits for a frame or a register. One thread
/// may use each side; either of them may use the registers.

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gn_rtl_nic gn_rtl_nic;

typedef enum gn_rtl_side {
    GN_RTL_TX,  ///< in from the host, out to the wire
    GN_RTL_RX   ///< in from the wire, out to the host
} gn_rtl_side;

/// A NIC that has just been reset. @return NULL when out of memory
gn_rtl_nic *gn_rtl_nic_new(void);
void gn_rtl_nic_free(gn_rtl_nic *nic);  ///< NULL allowed

/// Queues a frame of two pieces for a side to take in. `user` is the tuser of its last beat.
/// @return 0, or -1 when out of memory
int gn_rtl_nic_put(gn_rtl_nic *nic, gn_rtl_side side, const uint8_t *header, size_t header_bytes, const uint8_t *packet,
                   size_t packet_bytes, unsigned user);

/// Lets the clock run until a side has given a frame. The side is never held up.
/// @return the frame's length; 0 when nothing went in or out of this side for `cycles` cycles; -1
/// when something came out that is not a frame, or memory ran out: see gn_rtl_nic_fault()
long gn_rtl_nic_get(gn_rtl_nic *nic, gn_rtl_side side, uint8_t *frame, size_t room, unsigned cycles);

/// Why gn_rtl_nic_get() failed, in words.
const char *gn_rtl_nic_fault(const gn_rtl_nic *nic, gn_rtl_side side);

/// AXI4-Lite. @return 0; the response when it is not OKAY (2 or 3); -1 without an answer
int gn_rtl_nic_write(gn_rtl_nic *nic, unsigned address, uint32_t value);
int gn_rtl_nic_read(gn_rtl_nic *nic, unsigned address, uint32_t *value);

#ifdef __cplusplus
}
#endif
#endif
