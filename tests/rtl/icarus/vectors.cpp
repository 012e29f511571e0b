// SPDX-License-Identifier: Apache-2.0
// What engines.v sends and what it must get, as the C model says: frames of every profile, in
// beats. Usage: vectors DIRECTORY. Writes values.hex, streams.hex and back.hex there, of each a
// line a beat, {last, tuser, tkeep, tdata}; bytes that tkeep leaves out are 0.
#include <memory>

#include "tests/rtl/common/values.h"

using bench::fail;

namespace
{

enum { FRAMES = 400, BEAT = 32 };

class Lines
{
  public:
    Lines(const std::string &directory, const char *name)
        : path_(directory + "/" + name), file_(fopen(path_.c_str(), "w"), fclose)
    {
        if (!file_) fail("%s cannot be written", path_.c_str());
    }
    // `user`: {number of values, bound_exp, profile}, in every beat.
    void add(const std::vector<uint8_t> &bytes, uint64_t user)
    {
        for (size_t at = 0; at < bytes.size(); at += BEAT) {
            const size_t rest = bytes.size() - at, kept = rest < BEAT ? rest : BEAT;
            fprintf(file_.get(), "%x%09llx%08x", rest <= BEAT, (unsigned long long)user,
                    kept == BEAT ? 0xffffffffu : (1u << kept) - 1);
            for (size_t i = BEAT; i--;) fprintf(file_.get(), "%02x", i < kept ? bytes[at + i] : 0u);
            fputc('\n', file_.get());
        }
    }
    void end()
    {
        if (fflush(file_.get())) fail("%s cannot be written", path_.c_str());
    }

  private:
    std::string path_;
    std::unique_ptr<FILE, int (*)(FILE *)> file_;
};

}  // namespace

int main(int argc, char **argv)
{
    if (argc != 2) fail("usage: vectors DIRECTORY");
    Lines values_out(argv[1], "values.hex"), streams_out(argv[1], "streams.hex"), back_out(argv[1], "back.hex");
    bench::Random random{1};
    for (unsigned n = 0; n < FRAMES; n++) {
        const bench::Setting s = bench::any_setting(random);
        const size_t count = 1 + random.below(n % 4 ? 40 : 300);
        const auto mix = static_cast<bench::Mix>(random.below(bench::MIX_COUNT));
        const std::vector<float> values = bench::values_of(mix, s, count, random);
        const std::vector<uint8_t> stream = bench::stream_of(s, values);
        std::vector<float> back(count);
        const gn_codec c = bench::codec(s.profile, s.k);
        if (gn_stream_decode(&c, stream.data(), stream.size(), back.data(), count, nullptr))
            fail("the model does not decode");
        const uint64_t user = s.user() | static_cast<uint64_t>(count) << 10;
        values_out.add(bench::bytes_of(values), user);
        streams_out.add(stream, user);
        back_out.add(bench::bytes_of(back), user);
    }
    values_out.end(), streams_out.end(), back_out.end();
    return 0;
}
