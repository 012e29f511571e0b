// SPDX-License-Identifier: Apache-2.0
// The behaviour of gn_nic_top: its ports, and in each direction a bus of one beat a cycle, a store
// for 1024 beats of frames, and the C model. A frame's first beat leaves a fixed number of cycles
// after its last beat came in. It is much faster than the Verilated hardware, and a second opinion
// on it.
// With several lanes it is that of gn_nic_lanes: a frame goes to the lane that has least to do. A
// lane takes 32 bytes a cycle, and gives 32. Frames leave whole, in their order.
#pragma once

#include <deque>

#include "registers.h"

namespace sim
{

SC_MODULE(Behavioural)
{
    template <class T> using In = sc_core::sc_in<T>;
    template <class T> using Out = sc_core::sc_out<T>;

    In<bool> clk{"clk"}, rst{"rst"};
    In<Beat> s_axis_host_tdata, s_axis_wire_tdata;
    In<Keep> s_axis_host_tkeep, s_axis_wire_tkeep;
    In<uint32_t> s_axis_host_tuser;
    In<bool> s_axis_host_tlast, s_axis_host_tvalid, s_axis_wire_tlast, s_axis_wire_tvalid, s_axis_wire_tuser;
    Out<bool> s_axis_host_tready, s_axis_wire_tready;
    Out<Beat> m_axis_wire_tdata, m_axis_host_tdata;
    Out<Keep> m_axis_wire_tkeep, m_axis_host_tkeep;
    Out<bool> m_axis_wire_tlast, m_axis_wire_tvalid, m_axis_host_tlast, m_axis_host_tvalid;
    In<bool> m_axis_wire_tready, m_axis_host_tready;
    // never driven: nobody in the simulation looks
    In<bool> s_axis_host_side, s_axis_wire_side, tx_drop_ready, rx_drop_ready;
    Out<bool> m_axis_wire_side, m_axis_host_side, tx_drop_side, tx_drop_valid, rx_drop_side, rx_drop_valid;
    Out<uint32_t> m_axis_wire_length, m_axis_host_length;
    In<uint32_t> s_axil_awaddr, s_axil_wdata, s_axil_wstrb, s_axil_araddr;
    In<bool> s_axil_awvalid, s_axil_wvalid, s_axil_bready, s_axil_arvalid, s_axil_rready;
    Out<bool> s_axil_awready, s_axil_wready, s_axil_bvalid, s_axil_arready, s_axil_rvalid;
    Out<uint32_t> s_axil_bresp, s_axil_rdata, s_axil_rresp;

    SC_HAS_PROCESS(Behavioural);
    Behavioural(sc_core::sc_module_name, unsigned lanes);

  private:
    // When a lane has taken and given all that it has to do: cycles.
    struct Lane {
        uint64_t taken, given;
    };
    // The store of one direction.
    struct Store {
        struct Frame {
            Bytes bytes;
            uint64_t ready;  // the cycle from which it may leave
            size_t room;     // beats that it holds until it has left
        };
        Bytes in;
        std::deque<Frame> out;
        size_t at = 0, used = 0;  // of the frame that leaves; beats
        bool valid = false;
        std::vector<Lane> lanes;
        uint64_t dropped_bad = 0, dropped_long = 0;
    };

    void cycle();
    void reset();
    // Both are called at every edge: they take the beat that comes in, and offer the next one.
    template <class Ready, class Transform>
    void take(Store & store, bool valid, Ready &ready, const Beat &data, Keep keep, bool last, bool bad,
              const Transform &transform);
    uint64_t leaves(Store & store, const std::optional<Bytes> &out, size_t shim) const;
    template <class Data, class Keeps, class Flag, class Valid>
    void give(Store & store, Data & data, Keeps & keep, Flag & last, Valid & valid, bool ready);
    void writes();
    void reads();
    uint32_t write_register(uint32_t address, uint32_t value);
    uint32_t read_register(uint32_t address, uint32_t & value);
    void apply();
    void snapshot();

    Model model_{nullptr, 0, false};
    const unsigned lanes_;
    const size_t store_beats_;  // of each direction
    Store tx_, rx_;
    uint64_t now_ = 0;
    gn_rule_words rules_[NIC_RULES] = {};
    uint32_t control_ = 0, mtu_ = GN_NIC_MTU, max_restored_ = GN_NIC_MAX_RESTORED;
    std::map<uint32_t, uint64_t> counters_;  // the snapshot, by address
    bool write_taken_ = false, write_answered_ = false, read_taken_ = false, read_answered_ = false;
};

}  // namespace sim
