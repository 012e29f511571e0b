// SPDX-License-Identifier: Apache-2.0
#include "ethernet.h"

#include <cstring>
#include <stdexcept>

#include <zlib.h>

#include "driver/nic_registers.h"
#include "net/error.h"

namespace sim
{

// The IP packet in a frame. Without one it is empty.
struct Packet {
    const uint8_t *bytes;
    size_t offset, length;
    explicit Packet(const Bytes &frame)
        : offset(gn_frame_ethernet_offset(frame.data(), frame.size())), length(offset ? frame.size() - offset : 0)
    {
        bytes = frame.data() + offset;
    }
};

size_t payload_bytes(const Bytes &frame)
{
    const Packet packet(frame);
    gn_headers h;
    return gn_packet_parse(packet.bytes, packet.length, &h) == GN_PARSE_OK ? static_cast<size_t>(h.end - h.payload) : 0;
}

uint32_t frame_check_sequence(const uint8_t *frame, size_t length)
{
    return static_cast<uint32_t>(crc32(0, frame, static_cast<uInt>(length)));
}

static void check(int status, const gn_error &error)
{
    if (status) throw std::runtime_error(std::string("the rules: ") + error.text);
}

Model::Model(const gn_rule *rules, size_t count, bool bypass)
{
    gn_engine_config config = {};
    config.rules = rules;
    config.rule_count = count;
    config.flow_capacity = 64;
    config.bypass = config.no_restore = bypass;
    gn_error error;
    check(gn_model_open(&model_, &config, &error), error);
}

Model::~Model()
{
    gn_model_close(model_);
}

void Model::set_rules(const gn_rule *rules, size_t count)
{
    gn_error error;
    check(gn_model_set_rules(model_, rules, count, &error), error);
}

void Model::set_bypass(bool transmit, bool receive)
{
    gn_model_set_bypass(model_, transmit, receive);
}

void Model::set_limits(size_t mtu, size_t max_restored)
{
    gn_tx_set_wire_mtu(model_->tx, mtu ? mtu : 1);
    gn_rx_set_max_restored(model_->rx, max_restored ? max_restored : 1);
}

int Model::head(const Bytes &frame)
{
    const Packet packet(frame);
    return gn_tx_head(model_->tx, packet.bytes, packet.length);
}

// Puts the Ethernet header of `frame` ahead of the packet that was written into `out`.
static Bytes assemble(const Bytes &frame, size_t offset, Bytes out, size_t length)
{
    std::copy(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(offset), out.begin());
    out.resize(offset + length);
    return out;
}

Bytes Model::transmit(const Bytes &frame, int head)
{
    const Packet packet(frame);
    Bytes out(frame.size() + GN_SHIM_BYTES);
    size_t length = 0;
    tx_bytes_ += frame.size();
    if (gn_tx_packet_head(model_->tx, packet.bytes, packet.length, head, out.data() + packet.offset,
                          out.size() - packet.offset, &length) == GN_VERDICT_PASS)
        return frame;
    return assemble(frame, packet.offset, std::move(out), length);
}

std::optional<Bytes> Model::receive(const Bytes &frame)
{
    const Packet packet(frame);
    Bytes out(packet.offset + GN_PACKET_MAX);
    size_t length = 0;
    rx_bytes_ += frame.size();
    switch (gn_rx_packet(model_->rx, packet.bytes, packet.length, out.data() + packet.offset,
                         out.size() - packet.offset, &length)) {
    case GN_VERDICT_PASS:
        return frame;
    case GN_VERDICT_WRITE:
        return assemble(frame, packet.offset, std::move(out), length);
    default:
        return std::nullopt;
    }
}

// Adds the model's counters that a block of counter registers has.
static void add_counters(Counters &all, const gn_counter_register *registers, unsigned count, const void *counters,
                         const std::string &prefix = "")
{
    for (unsigned i = 0; i < count; i++) {
        uint64_t value;
        if (registers[i].offset == GN_NOT_IN_MODEL) continue;
        memcpy(&value, static_cast<const uint8_t *>(counters) + registers[i].offset, sizeof value);
        all[prefix + registers[i].name] = value;
    }
}

std::string rule_prefix(unsigned rule)
{
    return "rule" + std::to_string(rule) + "_";
}

Counters Model::transmit_counters() const
{
    Counters all;
    add_counters(all, gn_tx_registers, GN_TX_REGISTERS, &tx());
    for (unsigned i = 0; i < NIC_RULES; i++)
        add_counters(all, gn_tx_rule_registers, GN_TX_RULE_REGISTERS, &tx().rule[i], rule_prefix(i));
    all["bytes"] = tx_bytes_;
    // The flows are the driver's, which says where values begin: these NICs have no table of them.
    for (const char *name : {"flows_added", "flows_evicted", "flows_closed"}) all[name] = 0;
    return all;
}

Counters Model::receive_counters() const
{
    Counters all;
    add_counters(all, gn_rx_registers, GN_RX_REGISTERS, gn_rx_get_counters(model_->rx));
    all["bytes"] = rx_bytes_;
    return all;
}

}  // namespace sim
