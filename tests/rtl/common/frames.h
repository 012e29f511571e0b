// SPDX-License-Identifier: Apache-2.0
// Ethernet frames for the benches: captures, and packets of every kind, whole and not.
#pragma once

#include <algorithm>
#include <vector>

#include <gradnic/frame.h>
#include <gradnic/packet.h>

#include "bench.h"

extern "C" {
#include "tests/unit/packets.h"
}

namespace bench
{

using Bytes = std::vector<uint8_t>;

// What gn_frame_parse says of a frame whose IP packet begins at `at` (0: there is none); `h` as
// gn_packet_parse() fills it.
enum { NO_PAYLOAD = GN_PARSE_PROTOCOL + 1 };
inline unsigned parse_code(const Bytes &frame, size_t at, gn_headers &h)
{
    const gn_parse parse = at ? gn_packet_parse(frame.data() + at, frame.size() - at, &h) : GN_PARSE_NOT_IP;
    if (parse != GN_PARSE_OK) return parse;
    if (gn_packet_has_options(&h)) return GN_PARSE_EXTENSION;
    return h.payload == h.end ? static_cast<unsigned>(NO_PAYLOAD) : static_cast<unsigned>(GN_PARSE_OK);
}

// For failures: what a frame is, as the C model sees it, and how it begins.
inline std::string describe(const Bytes &frame)
{
    static const char *const why[] = {"", "no whole IP packet", "a fragment", "an extension header",
                                      "neither TCP nor UDP"};
    const size_t at = gn_frame_ethernet_offset(frame.data(), frame.size());
    gn_headers h{};
    const gn_parse parse = at ? gn_packet_parse(frame.data() + at, frame.size() - at, &h) : GN_PARSE_NOT_IP;
    char text[200];
    if (parse == GN_PARSE_OK)
        snprintf(text, sizeof text, "%zu bytes, %sIPv%d, %s, L4 at %zu, payload at %zu, end at %zu:", frame.size(),
                 at == 18 ? "tagged, " : "", h.version, h.protocol == GN_PROTOCOL_TCP ? "TCP" : "UDP", at + h.l4,
                 at + h.payload, at + h.end);
    else
        snprintf(text, sizeof text, "%zu bytes, %s:", frame.size(), why[parse]);
    std::string all = text;
    const size_t shown = std::min<size_t>(frame.size(), 160);
    for (size_t i = 0; i < shown; i++) snprintf(text, sizeof text, "%s%02x", i % 4 ? "" : " ", frame[i]), all += text;
    return shown < frame.size() ? all + " ..." : all;
}

// And where one that came out differs from what it should be.
inline std::string difference(const Bytes &got, const Bytes &want)
{
    size_t at = 0;
    while (at < want.size() && at < got.size() && want[at] == got[at]) at++;
    char text[120];
    if (at < got.size() && at < want.size())
        snprintf(text, sizeof text, "byte %zu is %02x, should be %02x (%zu bytes, should be %zu)", at, got[at],
                 want[at], got.size(), want.size());
    else
        snprintf(text, sizeof text, "it has %zu bytes, should have %zu", got.size(), want.size());
    return text;
}

// The frames of a capture of Ethernet in the classic format and this machine's byte order.
inline std::vector<Bytes> capture(const char *name)
{
    const std::string path = std::string(GN_TEST_DATA "/captures/") + name;
    FILE *file = fopen(path.c_str(), "rb");
    uint32_t header[6], record[4];
    if (!file || fread(header, sizeof header, 1, file) != 1 || header[0] != 0xa1b2c3d4 || header[5] != 1)
        fail("%s: no capture of Ethernet", path.c_str());
    std::vector<Bytes> frames;
    while (fread(record, sizeof record, 1, file) == 1) {
        Bytes frame(record[2]);
        if (fread(frame.data(), 1, frame.size(), file) != frame.size()) fail("%s ends within a frame", path.c_str());
        frames.push_back(std::move(frame));
    }
    fclose(file);
    if (frames.empty()) fail("%s is empty", path.c_str());
    return frames;
}

class Maker
{
  public:
    explicit Maker(uint64_t seed) : random_{seed} {}

    Bytes noise(size_t length)
    {
        Bytes bytes(length);
        for (uint8_t &b : bytes) b = static_cast<uint8_t>(random_.next());
        return bytes;
    }
    // A packet that is whole, of any kind, in a frame; padded when it is short.
    Bytes good(size_t payload)
    {
        packet p{};
        p.version = random_.percent(50) ? 4 : 6;
        p.protocol = random_.percent(50) ? 6 : 17;
        if (random_.percent(5)) p.protocol = static_cast<int>(random_.below(256));
        // in IPv6, extension headers
        if (random_.percent(4)) p.protocol = 43 + static_cast<int>(random_.below(2));
        p.tos = static_cast<int>(1 + random_.below(255));
        p.ip_options = p.version == 4 && random_.percent(10) ? 4 * (1 + random_.below(10)) : 0;
        p.tcp_options = 4 * random_.below(11);
        p.flags = static_cast<int>(random_.below(256));
        p.seq = static_cast<uint32_t>(random_.next());
        p.source = static_cast<uint16_t>(random_.next()), p.destination = static_cast<uint16_t>(random_.next());
        const size_t most = 65535 - 40 - 40 - 60;  // of payload, whatever the headers
        return frame(p, noise(std::min(payload, most)));
    }
    Bytes frame(const packet &p, const Bytes &payload)
    {
        Bytes ip(payload.size() + 140);
        ip.resize(packet_build(&p, payload.data(), payload.size(), ip.data()));
        return ethernet(ip, p.version);
    }
    // Something is wrong, or might be.
    Bytes doubtful(size_t payload)
    {
        Bytes f = good(payload);
        const size_t at = gn_frame_ethernet_offset(f.data(), f.size());
        switch (random_.below(6)) {
        case 0:  // cut
            f.resize(1 + random_.below(static_cast<uint32_t>(f.size())));
            break;
        case 1:  // more behind the packet
            f.resize(f.size() + random_.below(70));
            break;
        case 2:  // one byte of the headers
            f[random_.below(static_cast<uint32_t>(std::min<size_t>(f.size(), 140)))] =
                static_cast<uint8_t>(random_.next());
            break;
        case 3:  // a length, off by little
            f[at + (random_.percent(50) ? 3 : 5)] += static_cast<uint8_t>(random_.below(5) - 2);
            break;
        case 4:  // fragment, extension header, version, header length
            f[at + 6] = static_cast<uint8_t>(random_.percent(50) ? random_.below(64) : random_.next());
            f[at + random_.below(2) * 6] += static_cast<uint8_t>(random_.below(3));
            break;
        default: {  // a bit of the lengths within the headers
            const size_t l4 = at + (f[at] >> 4 == 4 ? (f[at] & 15) * 4u : 40u);
            const size_t byte = l4 + (random_.percent(50) ? 12 : 5);
            if (byte < f.size()) f[byte] = static_cast<uint8_t>(f[byte] ^ 1u << random_.below(8));
        }
        }
        return f;
    }
    // Random bytes, some of them as an IP packet's first.
    Bytes random_frame()
    {
        Bytes f = noise(1 + random_.below(random_.percent(50) ? 100 : 400));
        const size_t at = random_.percent(50) ? 14 : 18;
        if (f.size() > at && random_.percent(70)) {
            const bool six = random_.percent(50);
            if (at == 18) f[12] = 0x81, f[13] = 0;
            f[at - 2] = six ? 0x86 : 8, f[at - 1] = six ? 0xdd : 0;
            f[at] = static_cast<uint8_t>((six ? 0x60 : 0x40) | random_.below(16));
            if (f.size() > at + 9) {
                f[at + (six ? 4 : 2)] = 0, f[at + (six ? 6 : 9)] = random_.percent(50) ? 6 : 17;
                if (!six) f[at + 6] = f[at + 7] = 0;
            }
        }
        return f;
    }

  private:
    Bytes ethernet(const Bytes &ip, int version)
    {
        Bytes f = noise(12);
        const unsigned tags = random_.below(20) ? random_.below(2) : 2;  // two are not ours
        for (unsigned i = 0; i < tags; i++) {
            const uint8_t tag[] = {0x81, 0, static_cast<uint8_t>(random_.next()), static_cast<uint8_t>(random_.next())};
            f.insert(f.end(), tag, tag + 4);
        }
        f.push_back(version == 4 ? 0x08 : 0x86), f.push_back(version == 4 ? 0x00 : 0xdd);
        if (random_.percent(2)) f[f.size() - 1 - random_.below(2)] ^= static_cast<uint8_t>(1u << random_.below(8));
        f.insert(f.end(), ip.begin(), ip.end());
        if (f.size() < 60) f.resize(60);
        return f;
    }
    Random random_;
};

}  // namespace bench
