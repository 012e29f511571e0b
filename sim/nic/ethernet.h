// SPDX-License-Identifier: Apache-2.0
// Ethernet frames without FCS, and the C model on such frames.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gradnic/frame.h>

#include "driver/model.h"

namespace sim
{

using Bytes = std::vector<uint8_t>;

enum : size_t {
    FCS_BYTES = 4,
    PREAMBLE_BYTES = 8,         // with the start of frame delimiter
    GAP_BYTES = 12,             // to the next preamble, at least
    FRAME_MIN = 60,             // without FCS; the MAC pads up to it
    ETHERNET_HEADER_BYTES = 14  // without a VLAN tag
};

// Time that a frame takes on the link, in bytes: from the first bit of its preamble to that of the
// next.
inline size_t link_bytes(size_t frame)
{
    return PREAMBLE_BYTES + (frame < FRAME_MIN ? static_cast<size_t>(FRAME_MIN) : frame) + FCS_BYTES + GAP_BYTES;
}

// Picoseconds that so many bytes take at a rate. Frames are short, so nothing overflows.
inline uint64_t bytes_ps(uint64_t bytes, uint64_t bits_per_second)
{
    return (bytes * 8 * 1000000000000u + bits_per_second / 2) / bits_per_second;
}

// Bytes of TCP or UDP payload; 0 when there is neither.
size_t payload_bytes(const Bytes &frame);

uint32_t frame_check_sequence(const uint8_t *frame, size_t length);

constexpr unsigned NIC_RULES = 4;  // rules that the NICs are built with

// The counters of gn_nic_regs by name; those of a rule have its prefix.
using Counters = std::map<std::string, uint64_t>;
std::string rule_prefix(unsigned rule);

// The C model on Ethernet frames: both directions of one NIC.
class Model
{
  public:
    Model(const gn_rule *rules, size_t count, bool bypass);
    ~Model();
    Model(const Model &) = delete;
    Model &operator=(const Model &) = delete;

    void set_rules(const gn_rule *rules, size_t count);
    void set_bypass(bool transmit, bool receive);
    // The longest IP packets: to the wire with a shim, and restored. As the registers' values, of
    // which 0 lets nothing through.
    void set_limits(size_t mtu, size_t max_restored);

    // The side-band that a driver gives with a frame: bytes up to the next value, or
    // GN_HEAD_STORED. To be called once for every frame, in order.
    int head(const Bytes &frame);
    Bytes transmit(const Bytes &frame, int head);
    // @return nothing when the frame is dropped
    std::optional<Bytes> receive(const Bytes &frame);

    // Bytes are those of frames. Frames that the model does not see are left out: bad and too long
    // ones.
    Counters transmit_counters() const;
    Counters receive_counters() const;
    const gn_tx_counters &tx() const { return *gn_tx_get_counters(model_->tx); }

  private:
    gn_model *model_ = nullptr;
    uint64_t tx_bytes_ = 0, rx_bytes_ = 0;
};

}  // namespace sim
