// SPDX-License-Identifier: Apache-2.0
#include "traffic.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>

#include <sys/stat.h>

#include <pcap/pcap.h>

namespace sim
{

constexpr uint8_t MAC_A[6] = {2, 0, 0, 0, 0, 1}, MAC_B[6] = {2, 0, 0, 0, 0, 2};
constexpr uint8_t ADDRESS_A[4] = {10, 0, 0, 1}, ADDRESS_B[4] = {10, 0, 0, 2};
constexpr uint16_t PORT_FROM = 5000, PORT_TO = 5001;
constexpr size_t IPV4 = 20, UDP = 8, TCP = 20, VLAN_TAG = 4;
constexpr uint64_t LONGEST_NS = 100ull * 24 * 3600 * 1000000000u;  // simulated time has an end
constexpr uint32_t SEQUENCE = 1000;

static void put16(uint8_t *at, size_t value)
{
    at[0] = static_cast<uint8_t>(value >> 8);
    at[1] = static_cast<uint8_t>(value);
}

static void put32(uint8_t *at, uint32_t value)
{
    put16(at, value >> 16);
    put16(at + 2, value & 0xffff);
}

// The packets of one datagram socket, or of one side of a connection.
class PacketMaker
{
  public:
    PacketMaker(bool tcp, const gn_rule &rule) : tcp_(tcp), tos_(rule.tos)
    {
        if (rule.port_low > PORT_TO || rule.port_high < PORT_TO) port_ = rule.port_low;
    }
    size_t headers() const { return IPV4 + (tcp_ ? TCP : UDP); }

    Bytes make(const uint8_t *payload, size_t length, uint8_t tcp_flags)
    {
        Bytes frame(ETHERNET_HEADER_BYTES + headers() + length);
        std::copy(MAC_B, MAC_B + 6, frame.begin());
        std::copy(MAC_A, MAC_A + 6, frame.begin() + 6);
        put16(&frame[12], 0x0800);
        uint8_t *ip = &frame[ETHERNET_HEADER_BYTES];
        ip[0] = 0x45;
        ip[1] = tos_;
        put16(ip + 2, headers() + length);
        put16(ip + 4, id_++);
        put16(ip + 6, 0x4000);  // DF
        ip[8] = 64;
        ip[9] = tcp_ ? GN_PROTOCOL_TCP : GN_PROTOCOL_UDP;
        std::copy(ADDRESS_A, ADDRESS_A + 4, ip + 12);
        std::copy(ADDRESS_B, ADDRESS_B + 4, ip + 16);
        put16(ip + 10, gn_checksum_finish(gn_checksum_add(0, ip, IPV4)));
        uint8_t *l4 = ip + IPV4;
        put16(l4, PORT_FROM);
        put16(l4 + 2, port_);
        if (tcp_) {
            put32(l4 + 4, sequence_);
            l4[12] = TCP / 4 << 4;
            l4[13] = tcp_flags;
            put16(l4 + 14, 65535);
            sequence_ += static_cast<uint32_t>(length + (tcp_flags & GN_TCP_SYN ? 1 : 0));
        } else {
            put16(l4 + 4, UDP + length);
        }
        if (length) memcpy(ip + headers(), payload, length);
        gn_headers h;
        gn_packet_parse(ip, headers() + length, &h);
        const uint16_t sum =
            gn_checksum_finish(gn_checksum_add(gn_packet_pseudo_sum(ip, &h), l4, headers() + length - IPV4));
        put16(ip + gn_packet_checksum_at(&h), !tcp_ && !sum ? 0xffff : sum);
        return frame;
    }

  private:
    bool tcp_;
    uint8_t tos_;
    uint16_t port_ = PORT_TO, id_ = 1;
    uint32_t sequence_ = SEQUENCE;
};

static std::string name_of(const gn_sim_nic_options &o)
{
    return strcmp(o.input, "-") ? o.input : "standard input";
}

static Traffic from_gradients(const gn_sim_nic_options &o)
{
    float *values = nullptr;
    size_t count = 0;
    gn_error error;
    if (gn_values_load(o.input, GN_FORMAT_AUTO, &values, &count, &error)) {
        // A file with neither a known name nor known first bytes was perhaps meant to be a capture.
        // There is no --format here.
        if (!strstr(error.text, "--format")) throw std::runtime_error(error.text);
        throw std::runtime_error(name_of(o) +
                                 ": neither gradients (.npy, .f32, .gn, each also .gz) nor a capture (pcap, pcapng)");
    }
    const std::unique_ptr<float, void (*)(void *)> owner(values, free);
    if (!count) throw std::runtime_error(name_of(o) + ": no values");
    const uint8_t *bytes = reinterpret_cast<const uint8_t *>(values);
    const size_t all = o.size ? o.size / 4 * 4 : count * 4;

    Traffic traffic;
    PacketMaker maker(o.tcp, o.rules[0]);
    size_t room = o.host_mtu - maker.headers();
    if (!o.tcp) room = room / 4 * 4;  // a datagram holds whole values; a segment need not
    if (o.tcp) traffic.frames.push_back({maker.make(nullptr, 0, GN_TCP_SYN), 0});
    Bytes payload;
    for (size_t at = 0; at < all; at += payload.size()) {
        payload.resize(std::min(room, all - at));
        for (size_t i = 0; i < payload.size(); i++) payload[i] = bytes[(at + i) % (count * 4)];
        const bool last = at + payload.size() == all;
        traffic.frames.push_back(
            {maker.make(payload.data(), payload.size(), static_cast<uint8_t>(GN_TCP_ACK | (last ? GN_TCP_PSH : 0))),
             0});
    }
    return traffic;
}

// Puts an Ethernet header ahead of a packet from a link type without one.
static Bytes framed(int link_type, const uint8_t *bytes, size_t length)
{
    Bytes frame;
    if (link_type != DLT_EN10MB) {
        frame.resize(ETHERNET_HEADER_BYTES);
        std::copy(MAC_B, MAC_B + 6, frame.begin());
        std::copy(MAC_A, MAC_A + 6, frame.begin() + 6);
        put16(&frame[12], gn_packet_version(bytes, length) == 6 ? 0x86dd : 0x0800);
    }
    frame.insert(frame.end(), bytes, bytes + length);
    return frame;
}

[[noreturn]] static void refuse(const gn_sim_nic_options &o, size_t number, const std::string &why)
{
    throw std::runtime_error(name_of(o) + ": frame " + std::to_string(number) + " " + why);
}

static void check_frame(const gn_sim_nic_options &o, size_t number, const pcap_pkthdr &header, const Bytes &frame)
{
    const size_t offset = gn_frame_ethernet_offset(frame.data(), frame.size());
    const size_t most = (offset ? offset : ETHERNET_HEADER_BYTES + VLAN_TAG) + o.host_mtu;
    if (header.caplen < header.len)
        refuse(o, number,
               "was captured with " + std::to_string(header.caplen) + " of its " + std::to_string(header.len) +
                   " bytes: capture whole frames (tcpdump -s 0)");
    if (frame.size() < ETHERNET_HEADER_BYTES)
        refuse(o, number, "has " + std::to_string(frame.size()) + " bytes, less than an Ethernet header");
    if (frame.size() > most)
        refuse(
            o, number,
            "has " + std::to_string(frame.size()) + " bytes, more than --host-mtu " + std::to_string(o.host_mtu) +
                " allows: give a larger --host-mtu (a second VLAN tag counts); large segments cannot be sent: capture "
                "behind the NIC, or with "
                "offloads off");
}

// The file is closed with the capture.
static Traffic from_capture(const gn_sim_nic_options &o, FILE *file)
{
    char error[PCAP_ERRBUF_SIZE];
    const std::unique_ptr<pcap_t, void (*)(pcap_t *)> in(
        pcap_fopen_offline_with_tstamp_precision(file, PCAP_TSTAMP_PRECISION_NANO, error), pcap_close);
    if (!in) throw std::runtime_error(name_of(o) + ": " + error);
    const int link_type = pcap_datalink(in.get());
    if (link_type != DLT_EN10MB && link_type != DLT_RAW && link_type != DLT_IPV4 && link_type != DLT_IPV6) {
        const char *type = pcap_datalink_val_to_name(link_type);
        throw std::runtime_error(name_of(o) + ": the link type is " + (type ? type : std::to_string(link_type)) +
                                 ", not EN10MB (Ethernet), RAW, IPV4 or IPV6: capture on one Ethernet or TUN device");
    }
    Traffic traffic;
    traffic.capture = true;
    pcap_pkthdr *header;
    const uint8_t *bytes;
    uint64_t first = 0, before = 0;
    int got;
    while ((got = pcap_next_ex(in.get(), &header, &bytes)) == 1) {
        Bytes frame = framed(link_type, bytes, header->caplen);
        check_frame(o, traffic.frames.size() + 1, *header, frame);
        const uint64_t stamp =
            (static_cast<uint64_t>(header->ts.tv_sec) * 1000000000u + static_cast<uint64_t>(header->ts.tv_usec));
        if (traffic.frames.empty()) first = stamp;
        if (o.pace == GN_SIM_PACE_STAMPS && stamp > first + LONGEST_NS)
            refuse(o, traffic.frames.size() + 1, "comes more than 100 days after the first");
        const uint64_t after = stamp > first ? (stamp - first) * 1000 : 0;
        before = std::max(before, after);  // frames keep their order
        traffic.frames.push_back({std::move(frame), before});
    }
    if (got == PCAP_ERROR) throw std::runtime_error(name_of(o) + ": " + pcap_geterr(in.get()));
    if (traffic.frames.empty()) throw std::runtime_error(name_of(o) + ": no frames");
    return traffic;
}

// Looks at the first bytes, and puts them back. Knows pcapng, and pcap in both byte orders with
// micro- and nanoseconds.
static bool is_capture(const gn_sim_nic_options &o, FILE *file)
{
    uint8_t bytes[4];
    const size_t got = fread(bytes, 1, sizeof bytes, file);
    if (ferror(file)) throw std::runtime_error(name_of(o) + ": " + strerror(errno));
    // C promises room for one byte. glibc makes room for all, even if a pipe gave them one by one.
    for (size_t n = got; n > 0; n--)
        if (ungetc(bytes[n - 1], file) == EOF) throw std::runtime_error(name_of(o) + ": cannot be looked at");
    uint32_t magic = 0;
    if (got == sizeof bytes) memcpy(&magic, bytes, sizeof magic);
    for (const uint32_t known : {0xa1b2c3d4u, 0xd4c3b2a1u, 0xa1b23c4du, 0x4d3cb2a1u, 0x0a0d0d0au})
        if (magic == known) return true;
    return false;
}

Traffic load_traffic(const gn_sim_nic_options &o)
{
    const bool standard = !strcmp(o.input, "-");
    struct stat at;
    if (!standard && !stat(o.input, &at) && (S_ISFIFO(at.st_mode) || S_ISSOCK(at.st_mode)))
        throw std::runtime_error(name_of(o) + ": a pipe can be read only once: give it as standard input (-i -)");
    std::unique_ptr<FILE, int (*)(FILE *)> file(standard ? stdin : fopen(o.input, "rb"), fclose);
    if (!file) throw std::runtime_error(name_of(o) + ": " + strerror(errno));
    gn_output_spare(fileno(file.get()));
    const bool capture = is_capture(o, file.get());
    if (!capture && o.pace == GN_SIM_PACE_STAMPS)
        throw std::runtime_error(name_of(o) + ": is not a capture, so it has no time stamps for --pace stamps");
    if (capture && o.size) throw std::runtime_error(name_of(o) + ": is a capture; --size is for gradients");
    if (capture) return from_capture(o, file.release());
    if (standard) (void)file.release();  // read on by name
    return from_gradients(o);
}

Traffic turned(const Traffic &traffic)
{
    Traffic other = traffic;
    if (traffic.capture) return other;
    for (Traffic::Frame &frame : other.frames) {  // sums stay what they are
        std::swap_ranges(frame.bytes.begin(), frame.bytes.begin() + 6, frame.bytes.begin() + 6);
        uint8_t *packet = &frame.bytes[ETHERNET_HEADER_BYTES];
        gn_ip_header ip;
        gn_ip_header_read(packet, frame.bytes.size() - ETHERNET_HEADER_BYTES, &ip);
        std::swap_ranges(packet + ip.source, packet + ip.source + ip.address_bytes, packet + ip.destination);
    }
    return other;
}

}  // namespace sim
