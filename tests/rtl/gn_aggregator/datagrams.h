// SPDX-License-Identifier: Apache-2.0
// Datagrams for gn_aggregator and frames around them: those of workers that obey, and those that
// are wrong somewhere.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/rtl/common/frames.h"
#include "tests/rtl/common/values.h"
#include "tests/rtl/gn_aggregator/streams.h"

extern "C" {
#include <gradnic/switch.h>

#include "switch/daemon/rtl/aggregator_words.h"
#include "switch/state.h"
}

#ifndef GN_RTL_SLOTS_LOG2
#define GN_RTL_SLOTS_LOG2 6
#define GN_RTL_BEATS_LOG2 5
#endif
enum {
    SLOTS = 1 << GN_RTL_SLOTS_LOG2,
    VALUES = 8 << GN_RTL_BEATS_LOG2,
    JOBS = 4,
    CHILDREN = GN_AGGREGATOR_CHILDREN,
    HEADERS = 42  // ahead of a result
};

struct Job {
    gn_switch_job job;
    unsigned index;
    std::vector<uint32_t> psn;  // of each slot: the chunk that is under way
    gn_aggregator_child child[CHILDREN];
};

namespace datagrams
{

using bench::Bytes;
using bench::fail;

inline std::vector<int32_t> small(bench::Random &random, unsigned count)
{
    std::vector<int32_t> values(count);
    for (int32_t &v : values) v = static_cast<int32_t>(random.next()) >> 4;
    return values;
}
inline std::vector<int32_t> large(bench::Random &random, unsigned count)
{
    std::vector<int32_t> values = small(random, count);
    for (int32_t &v : values)
        if (random.percent(3)) v = random.percent(50) ? INT32_MAX - static_cast<int>(random.below(3)) : INT32_MIN;
    return values;
}

// With groups of zeros, in any number, and then whole quads of them.
inline std::vector<int32_t> of_dense(bench::Random &random, unsigned count, unsigned most)
{
    static const unsigned zeros[8] = {0, 20, 20, 50, 80, 90, 97, 100};
    return streams::integers(random, count, most, zeros[random.below(8)]);
}

inline void spoil_fields(bench::Random &random, const Job &j, gn_agg_packet &p, std::vector<int32_t> &values,
                         unsigned &from)
{
    switch (random.below(21)) {
    case 0:  // of the chunk before, or one that has not begun
        p.psn += random.percent(50) ? j.job.slots : -static_cast<uint32_t>(j.job.slots);
        p.version = (p.psn & j.job.slots) != 0;
        break;
    case 1:
        p.psn += j.job.slots * (random.below(9) - 4);
        p.version = (p.psn & j.job.slots) != 0;
        break;
    case 2:
        p.gen = static_cast<uint16_t>(p.gen + 1 - random.below(3));
        break;
    case 3:
        p.job = static_cast<uint16_t>(p.job ^ 1 << random.below(16));
        break;
    case 4:
        from = random.below(j.job.children);
        break;
    case 5:
        p.level = static_cast<uint8_t>(random.below(4));
        break;
    case 6:
        p.fanin = static_cast<uint16_t>(random.below(random.percent(50) ? 10 : 100));
        break;
    case 7:
        p.bitmap = random.percent(50) ? random.below(256) : random.next() >> random.below(64);
        break;
    case 8:
        p.version = !p.version;
        break;
    case 9:
        p.slot = static_cast<uint16_t>(random.below(random.percent(50) ? 4 : 0x8000));
        break;
    case 10:
        p.exponent = static_cast<int8_t>(p.exponent + 1);
        break;
    case 11:
        p.type = static_cast<uint8_t>(random.below(16));
        break;
    case 12:
        p.flags = static_cast<uint8_t>(random.next());
        break;
    case 13:
        p.flags |= static_cast<uint8_t>(1 << random.below(8));
        break;
    case 14:  // a length that the chunk does not have
        p.values = static_cast<uint16_t>(random.below(VALUES + 3));
        values = small(random, p.values);
        break;
    case 15:  // a length that the header does not say
        values = small(random, random.below(VALUES + 3));
        break;
    case 16:
        p.psn = static_cast<uint32_t>(random.next());
        break;
    case 17:
        p.flags |= GN_AGG_HALVES, values.resize((values.size() + 1) / 2);
        break;
    case 18:
        p.next = static_cast<int8_t>(p.next + 1 - random.below(3));
        break;
    case 19:
        p.fanin = 0, p.bitmap = 0, p.type = static_cast<uint8_t>(random.below(7));
        break;
    case 20:
        p.fanin = static_cast<uint16_t>(p.fanin ^ 1 << random.below(12));
        break;
    }
}

inline Bytes words(const gn_agg_packet &p, const std::vector<int32_t> &values)
{
    Bytes datagram(GN_AGG_HEADER + 4 * values.size());
    gn_agg_write_header(&p, datagram.data());
    if (!values.empty()) memcpy(datagram.data() + GN_AGG_HEADER, values.data(), 4 * values.size());
    return datagram;
}
// A shim, the header, and a stream: of the integers, or of binary32 that has other values, too.
// `other`: the shim may say something else, with a check that is right.
inline Bytes stream(bench::Random &random, const gn_agg_packet &p, const std::vector<int32_t> &values, bool other,
                    bool loosely)
{
    gn_codec codec;
    const unsigned count = static_cast<unsigned>(values.size());
    const gn_profile profile = other && random.percent(10) ? GN_LATTICE : GN_DENSE;
    if (gn_codec_init(&codec, profile, std::max(-31, std::min<int>(31, p.next)))) fail("no codec");
    gn_agg_packet header = p;
    header.values = static_cast<uint16_t>(count);
    Bytes datagram(gn_agg_bound(count));
    size_t bytes;
    if (profile == GN_LATTICE || random.percent(5)) {
        std::vector<float> floats(count);
        for (unsigned i = 0; i < count; i++)
            floats[i] = random.percent(2) ? NAN : ldexpf(static_cast<float>(values[i] % 20000), -codec.bound_exp);
        bytes = gn_agg_write_stream(&header, &codec, nullptr, floats.data(), datagram.data(), datagram.size());
    } else {
        bytes = gn_agg_write_stream(&header, &codec, values.data(), nullptr, datagram.data(), datagram.size());
    }
    if (!bytes) fail("no stream of %u values", count);
    datagram.resize(bytes);
    if (loosely && profile == GN_DENSE && random.percent(20)) {
        const Bytes loose = streams::loose(random, values);
        datagram.resize(GN_SHIM_BYTES + GN_AGG_HEADER);
        datagram.insert(datagram.end(), loose.begin(), loose.end());
    }
    if (header.values != p.values) gn_agg_write_header(&p, datagram.data() + GN_SHIM_BYTES);
    if (other && random.percent(30)) {
        gn_shim shim;
        if (!gn_shim_read(datagram.data(), &shim)) fail("no shim");
        switch (random.below(5)) {
        case 0:
            shim.kind = static_cast<uint8_t>(1 + random.below(15));
            break;
        case 1:
            shim.bound_exp = static_cast<int8_t>(shim.bound_exp + 1);
            break;
        case 2:
            shim.length = static_cast<uint16_t>(shim.length + 4 - 4 * random.below(3));
            break;
        case 3:
            shim.head = static_cast<uint8_t>(shim.head ^ 1 << random.below(8));
            break;
        case 4:
            shim.version = static_cast<uint8_t>(random.below(16));
            break;
        }
        gn_shim_write(&shim, datagram.data());
    }
    return datagram;
}

inline Bytes wrap(const Bytes &datagram, int version, unsigned from)
{
    packet headers = {};
    headers.version = version, headers.protocol = 17;
    headers.source = static_cast<uint16_t>(from), headers.destination = 7777;
    Bytes frame(14 + datagram.size() + 120);
    frame[12] = version == 6 ? 0x86 : 0x08, frame[13] = version == 6 ? 0xdd : 0;
    frame.resize(14 + packet_build(&headers, datagram.data(), datagram.size(), frame.data() + 14));
    return frame;
}
// What is around a packet and does not matter: a tag, and bytes behind it.
inline void surround(bench::Random &random, Bytes &frame)
{
    if (random.percent(10))
        for (unsigned i = 4; i--;)
            frame.insert(frame.begin() + 12, i > 1 ? static_cast<uint8_t>(random.next()) : i ? 0x00 : 0x81);
    if (random.percent(10))
        for (unsigned i = random.below(60); i--;) frame.push_back(static_cast<uint8_t>(random.next()));
}
// Then it is not for the judge.
inline bool spoil_frame(bench::Random &random, Bytes &frame)
{
    switch (random.below(4)) {
    case 0:
        frame[frame.size() - 1 - random.below(8)] ^= static_cast<uint8_t>(1 << random.below(8));
        break;
    case 1:
        frame[12] = 0x88;
        break;
    case 2:
        frame.resize(14 + random.below(static_cast<uint32_t>(frame.size() - 14)));
        break;
    case 3:  // no checksum
        const size_t at = 14 + (frame[12] == 8 ? 20 : 40) + 6;
        frame[at] = frame[at + 1] = 0;
        break;
    }
    return true;
}

}  // namespace datagrams
