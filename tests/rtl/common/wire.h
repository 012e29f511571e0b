// SPDX-License-Identifier: Apache-2.0
// What comes by on a wire between two NICs, for the benches: payloads as gradnic sends them, the
// same malformed, and packets that are none of ours.
#pragma once

#include <gradnic/shim.h>

#include "frames.h"
#include "values.h"

extern "C" {
#include "cmodel/payload.h"
}

namespace bench
{

// What a sender puts on the wire, and what else comes by there.
class Traffic
{
  public:
    // longest: bytes of a frame; some say that they become about as long
    Traffic(uint64_t seed, unsigned longest) : random_{seed ^ 0x7a}, longest_(longest), make_(seed ^ 0x3b)
    {
        for (const char *name : {"cnn-it100-w1", "mlp-it1000-w0", "cnn-it30-w2"})
            gradients_.push_back(bench::gradient(name));
    }

    // A payload as gradnic sends it: shim, head, stream, tail; or stored.
    Bytes sent(const Setting &s, size_t head, const Bytes &in)
    {
        Bytes out(in.size() + GN_SHIM_BYTES);
        const gn_codec codec = bench::codec(s.profile, s.k);
        const gn_encoded e = head > in.size() || head > 255
                                 ? gn_payload_store(in.data(), in.size(), out.data())
                                 : gn_payload_encode(&codec, head, in.data(), in.size(), out.data());
        out.resize(e.bytes);
        return out;
    }
    Bytes stored(const Bytes &in)
    {
        Bytes out(in.size() + GN_SHIM_BYTES);
        gn_payload_store(in.data(), in.size(), out.data());
        return out;
    }
    // Of any profile: those that are not built come by too.
    Setting setting()
    {
        Setting s = any_setting(random_);
        if (random_.percent(10)) s = {static_cast<gn_profile>(random_.below(GN_PROFILE_COUNT)), 10};
        return s;
    }
    Bytes values(const Setting &s, size_t bytes)
    {
        const size_t count = bytes / 4 + 1;
        std::vector<float> values;
        if (random_.percent(60)) {
            values = values_of(static_cast<Mix>(random_.below(MIX_COUNT)), s, count, random_);
        } else {
            const std::vector<float> &g = gradients_[random_.below(static_cast<uint32_t>(gradients_.size()))];
            const size_t at = random_.below(static_cast<uint32_t>(g.size()));
            for (size_t i = 0; i < count; i++) values.push_back(g[(at + i) % g.size()]);
        }
        Bytes all = make_.noise(random_.below(4));
        const Bytes tail = bytes_of(values);
        all.insert(all.end(), tail.begin(), tail.end());
        all.resize(bytes);
        return all;
    }
    Bytes payload(size_t bytes)
    {
        const Setting s = setting();
        const Bytes in = values(s, bytes);
        return random_.percent(15)
                   ? stored(in)
                   : sent(s, random_.percent(50) ? random_.below(4) : random_.below(random_.percent(80) ? 40 : 256),
                          in);
    }
    // The same with something changed that a receiver has to see; the shim's check is right again.
    Bytes malformed(Bytes p)
    {
        gn_shim shim;
        if (!gn_shim_read(p.data(), &shim)) fail("the model's own shim is not read");
        const unsigned what = random_.below(12);
        const uint32_t any = random_.below(1 << 16);
        if (what == 0) shim.version = static_cast<uint8_t>(any & 15);
        if (what == 1) shim.kind = static_cast<uint8_t>(random_.percent(50) ? any & 3 : any & 15);
        if (what == 2)
            shim.bound_exp = static_cast<int8_t>(
                random_.percent(50) ? (any & 1 ? 32 : -32) + static_cast<int>(any >> 1) % 3 - 1 : any);
        if (what == 3) shim.bound_exp = static_cast<int8_t>(any & 1 ? any >> 1 & 1 : 125 + (any >> 1) % 4);
        if (what == 4) shim.length = static_cast<uint16_t>(shim.length + any % 9 - 4);
        if (what == 5)
            shim.length = static_cast<uint16_t>(random_.percent(20)   ? 0
                                                : random_.percent(40) ? longest_ - any % 200
                                                                      : any);
        if (what == 6) shim.head = static_cast<uint8_t>(shim.head + any % 9 - 4);
        if (what == 7)
            shim.head = static_cast<uint8_t>(any),
            shim.length = static_cast<uint16_t>(random_.percent(50) ? shim.head + any % 5 : shim.length);
        gn_shim_write(&shim, p.data());
        if (what == 8) p.resize(GN_SHIM_BYTES + random_.below(static_cast<uint32_t>(p.size() - GN_SHIM_BYTES + 1)));
        if (what == 9)
            for (uint32_t more = 1 + random_.below(random_.percent(60) ? 3 : 40); more; more--)
                p.push_back(static_cast<uint8_t>(random_.next()));
        if (what == 10 && p.size() > GN_SHIM_BYTES)
            p[GN_SHIM_BYTES + random_.below(static_cast<uint32_t>(p.size() - GN_SHIM_BYTES))] ^=
                static_cast<uint8_t>(1u << random_.below(8));
        if (what == 11) {  // whatever it says, over whatever follows
            shim = {1, static_cast<uint8_t>(any & 3), static_cast<int8_t>(any & 3 ? 10 : 0),
                    static_cast<uint16_t>(random_.below(300)), static_cast<uint8_t>(random_.below(4))};
            p = make_.noise(GN_SHIM_BYTES + random_.below(300));
            if (random_.percent(50)) std::fill(p.begin(), p.end(), 0);
            gn_shim_write(&shim, p.data());
        }
        return p;
    }
    Bytes frame(const Bytes &payload)
    {
        packet p{};
        p.version = random_.percent(60) ? 4 : 6;
        p.protocol = random_.percent(50) ? 6 : 17;
        static const int tos[] = {0x28, 0x28, 0x28, 0x28, 0x48, 0x04};
        p.tos = tos[random_.below(6)] | static_cast<int>(random_.below(4));
        if (p.version == 4 && random_.percent(5)) p.ip_options = 4 + 4 * random_.below(10);
        if (random_.percent(40)) p.tcp_options = 4 * random_.below(11);
        p.flags = static_cast<int>(random_.below(256));
        p.seq = static_cast<uint32_t>(random_.next());
        return make_.frame(p, payload);
    }
    // On the way, something happens to a frame that was right.
    Bytes damaged(Bytes f)
    {
        const size_t at = gn_frame_ethernet_offset(f.data(), f.size());
        gn_headers h;
        if (!at || gn_packet_parse(f.data() + at, f.size() - at, &h) != GN_PARSE_OK) return f;
        const size_t sum = at + gn_packet_checksum_at(&h);
        switch (random_.below(5)) {
        case 0:  // one bit, anywhere
            f[random_.below(static_cast<uint32_t>(f.size()))] ^= static_cast<uint8_t>(1u << random_.below(8));
            break;
        case 1:  // no checksum, or the other zero
            f[sum] = f[sum + 1] = random_.percent(70) ? 0 : 0xff;
            break;
        case 2:  // two half words change places: the sum does not see it
            if (h.end - h.payload >= 4)
                std::swap(f[at + h.payload], f[at + h.payload + 2]),
                    std::swap(f[at + h.payload + 1], f[at + h.payload + 3]);
            break;
        case 3:  // magic or check
            if (h.end - h.payload >= 8) {
                static const size_t where[] = {0, 1, 7, 7};
                f[at + h.payload + where[random_.below(4)]] ^= static_cast<uint8_t>(1u << random_.below(8));
                if (random_.percent(80)) packet_fix(f.data() + at);
            }
            break;
        default:  // cut, or more behind it
            if (random_.percent(50))
                f.resize(1 + random_.below(static_cast<uint32_t>(f.size())));
            else
                f.resize(f.size() + random_.below(60), 0x55);
        }
        return f;
    }
    Bytes any(size_t longest)
    {
        const size_t bytes = 1 + random_.below(static_cast<uint32_t>(longest));
        const unsigned what = random_.below(20);
        if (what < 8) return frame(payload(bytes));
        if (what < 14) return frame(malformed(payload(bytes)));
        if (what < 17) return damaged(frame(payload(bytes)));
        if (what == 17) return make_.random_frame();
        if (what == 18) return make_.doubtful(bytes);
        return frame(make_.noise(random_.below(12)));
    }
    // A packet of a host that has not been sent: values, for a sender to compress.
    Bytes host(size_t bytes) { return frame(values(setting(), bytes)); }
    // A frame of so many bytes, of noise, as a host sends it under the default rule.
    Bytes unsent(size_t bytes) { return sized(bytes - GN_SHIM_BYTES, nullptr); }
    // A frame of so many bytes before it was compressed; gradients at this setting, or stored
    Bytes sized(size_t bytes, const Setting *s)
    {
        packet p{};
        p.protocol = 17;
        const size_t at = 14 + 28;
        Bytes in = s ? bytes_of(stretch((bytes - at) / 4 + 1)) : make_.noise(bytes - at);
        in.resize(bytes - at);
        const Bytes body = s ? sent(*s, 0, in) : stored(in);
        Bytes ip(body.size() + 120), f(12, 0x02);
        ip.resize(packet_build(&p, body.data(), body.size(), ip.data()));
        f.push_back(8), f.push_back(0);
        f.insert(f.end(), ip.begin(), ip.end());
        if (f.size() < 60) f.resize(60);
        return f;
    }
    Random random_;

  private:
    std::vector<float> stretch(size_t count)
    {
        const std::vector<float> &g = gradients_[0];
        std::vector<float> values;
        const size_t at = random_.below(static_cast<uint32_t>(g.size()));
        for (size_t i = 0; i < count; i++) values.push_back(g[(at + i) % g.size()]);
        return values;
    }
    unsigned longest_;
    Maker make_;
    std::vector<std::vector<float>> gradients_;
};

}  // namespace bench
