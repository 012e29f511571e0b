// SPDX-License-Identifier: Apache-2.0
#include "report.h"
#include "tools/kit/codec_options.h"
#include "tools/kit/units.h"

#include <algorithm>
#include <cmath>

namespace sim
{

constexpr double SATURATED = 0.99, BACKLOG = 0.02;

static double share(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

static double cycles(const PortUse &port, double period)
{
    return port.beats ? static_cast<double>(port.window.length()) / period + 1 : 0;
}

static double beats_a_cycle(const PortUse &port, double period)
{
    return share(static_cast<double>(port.beats), cycles(port, period));
}

// The mean over all of the time. A FIFO is empty while its clock sleeps.
static double mean(const Level &level, double period, const Window &window)
{
    return share(level.sum * period, static_cast<double>(window.length()));
}

// The last part that is busy all the time holds up the rest. The decompressor counts only if frames
// wait for it: one that keeps up with the link is as busy as the link. When no part is busy, the
// host does not give more.
static const char *find_bottleneck(const Figures &f)
{
    if (f.decompressor_busy >= SATURATED && f.receive_stalls >= BACKLOG) return "decompressor";
    if (f.link_busy >= SATURATED) return "link";
    if (f.compressor_busy >= SATURATED) return "compressor";
    return "host";
}

Figures figures_of(const Direction &d, const gn_sim_nic_options &o)
{
    Figures f = {};
    const double sent = 1e12 / static_cast<double>(d.transmit_hz), received = 1e12 / static_cast<double>(d.receive_hz);
    const double rate = static_cast<double>(o.rate);
    const double link_seconds = static_cast<double>(d.link_bytes) * 8 / rate;
    f.seconds = static_cast<double>(d.whole.length()) * 1e-12;
    f.goodput = share(static_cast<double>(d.delivered_payload) * 8, f.seconds);
    f.plain_goodput = share(static_cast<double>(d.payload_bytes), static_cast<double>(d.plain_link_bytes)) * rate;
    f.link_rate = share(static_cast<double>(d.link_bytes) * 8, f.seconds);
    f.link_busy = share(link_seconds, static_cast<double>(d.link.length()) * 1e-12);
    f.link_ratio = share(static_cast<double>(d.plain_link_bytes), static_cast<double>(d.link_bytes));

    std::vector<uint64_t> sorted = d.latencies;
    std::sort(sorted.begin(), sorted.end());
    const double at[4] = {0, 0.5, 0.99, 1};
    for (int i = 0; i < 4; i++)
        f.latency_ns[i] =
            sorted.empty()
                ? NAN
                : static_cast<double>(sorted[static_cast<size_t>(at[i] * static_cast<double>(sorted.size() - 1))]) /
                      1e3;

    f.transmit_rate[0] = beats_a_cycle(d.transmit_in, sent);
    f.transmit_rate[1] = beats_a_cycle(d.transmit_out, sent);
    f.receive_rate[0] = beats_a_cycle(d.receive_in, received);
    f.receive_rate[1] = beats_a_cycle(d.receive_out, received);
    const double transmit = cycles(d.transmit_in, sent), receive = cycles(d.receive_in, received);
    f.transmit_stalls = share(static_cast<double>(d.transmit_in.stalls), transmit);
    f.receive_stalls = share(static_cast<double>(d.receive_in.stalls), receive);
    f.behind =
        o.pace == GN_SIM_PACE_MAX ? NAN : share(static_cast<double>(d.behind), static_cast<double>(d.whole.length()));
    f.compressor_busy = share(static_cast<double>(d.transmit_in.beats + d.engine_stalls), transmit);
    // What it gives may be more than what it takes: the wider side counts.
    f.decompressor_busy =
        std::max(share(static_cast<double>(d.receive_in.beats + d.receive_in.stalls), receive), f.receive_rate[1]);
    f.fifo_mean[0] = mean(d.transmit_fifo, sent, d.whole);
    f.fifo_mean[1] = mean(d.receive_fifo, received, d.whole);
    f.bottleneck = find_bottleneck(f);
    return f;
}

// -- the table

static void print_setup(const gn_sim_nic_options &o)
{
    printf("%s: link %s, %s; NICs %s at %s", o.input, gn_human_bits(static_cast<double>(o.rate)).s,
           gn_human_duration(static_cast<double>(o.delay_ns)).s, o.rtl ? "rtl" : "behavioural",
           gn_human_frequency(static_cast<double>(o.clock_hz)).s);
    if (o.clock_b_hz != o.clock_hz) printf(", b at %s", gn_human_frequency(static_cast<double>(o.clock_b_hz)).s);
    if (o.bypass)
        printf(", no compression");
    else
        printf(", %s %s", gn_profile_name(o.rules[0].codec.profile), gn_human_bound(o.rules[0].codec.bound_exp).s);
    printf("; MTU %u\n", o.host_mtu);
}

// Rows of the table: a title and a cell for each direction.
class Rows
{
  public:
    Rows(const Outcome &outcome, const gn_sim_nic_options &options, size_t directions)
        : table_(gn_table_new(directions == 2 ? "<|a to b|b to a" : "<|a to b"))
    {
        for (size_t i = 0; i < directions; i++) {
            directions_.push_back(&outcome.directions[i]);
            figures_.push_back(figures_of(outcome.directions[i], options));
        }
    }
    template <class Cell> void add(const char *title, const Cell &cell)
    {
        std::string row = title;
        for (size_t i = 0; i < directions_.size(); i++) row += "|" + cell(*directions_[i], figures_[i]);
        gn_table_row(table_, "%s", row.c_str());
    }
    // Left out where it is 0 in all directions.
    void count(const char *title, uint64_t Direction::*member)
    {
        bool any = false;
        for (const Direction *d : directions_) any |= d->*member != 0;
        if (any) add(title, [member](const Direction &d, const Figures &) { return std::to_string(d.*member); });
    }
    void print()
    {
        if (gn_table_print(table_, stdout) || fflush(stdout)) throw std::runtime_error("the report cannot be written");
    }

  private:
    gn_table *table_;
    std::vector<const Direction *> directions_;
    std::vector<Figures> figures_;
};

static std::string text(const char *format, double a, double b = 0)
{
    char buffer[64];
    snprintf(buffer, sizeof buffer, format, a, b);
    return buffer;
}

static std::string percent(double part)
{
    return text("%.1f %%", part * 100);
}

static std::string duration(double nanoseconds)
{
    return std::isnan(nanoseconds) ? "-" : gn_human_duration(nanoseconds).s;
}

static std::string bits(double rate)
{
    return gn_human_bits(rate).s;
}

static std::string level(const Level &level, double mean_bytes)
{
    return std::string(gn_human_bytes(level.most).s) + ", " + gn_human_bytes(static_cast<uint64_t>(mean_bytes)).s;
}

static void print_table(const Outcome &outcome, const gn_sim_nic_options &o, size_t directions)
{
    using D = const Direction &;
    using F = const Figures &;
    print_setup(o);
    Rows rows(outcome, o, directions);
    rows.add("simulated time", [](D, F f) { return duration(f.seconds * 1e9); });
    rows.add("frames given", [](D d, F) { return std::to_string(d.frames); });
    rows.add("frames delivered", [](D d, F) { return std::to_string(d.delivered); });
    rows.count("lost on the link", &Direction::lost);
    rows.count("damaged on the link", &Direction::corrupted);
    rows.count("dropped, wrong FCS", &Direction::dropped_bad);
    rows.count("dropped, FIFO full", &Direction::overflowed);
    rows.count("dropped, malformed", &Direction::refused);
    rows.add("goodput", [](D, F f) { return bits(f.goodput); });
    rows.add("... of the link, untouched", [](D, F f) { return bits(f.plain_goodput); });
    rows.add("on the link", [](D, F f) { return bits(f.link_rate); });
    rows.add("ratio, payload", [](D d, F) { return text("%.2f", d.payload_ratio); });
    rows.add("ratio, on the link", [](D, F f) { return text("%.2f", f.link_ratio); });
    rows.add("latency, least", [](D, F f) { return duration(f.latency_ns[0]); });
    rows.add("latency, median", [](D, F f) { return duration(f.latency_ns[1]); });
    rows.add("latency, most", [](D, F f) { return duration(f.latency_ns[3]); });
    if (o.pace != GN_SIM_PACE_MAX) rows.add("host behind its pace", [](D, F f) { return percent(f.behind); });
    rows.add("compressor, beats a cycle in, out",
             [](D, F f) { return text("%.3f, %.3f", f.transmit_rate[0], f.transmit_rate[1]); });
    rows.add("... host waits", [](D, F f) { return percent(f.transmit_stalls); });
    rows.add("decompressor, beats a cycle in, out",
             [](D, F f) { return text("%.3f, %.3f", f.receive_rate[0], f.receive_rate[1]); });
    rows.add("... MAC waits", [](D, F f) { return percent(f.receive_stalls); });
    rows.add("FIFO to the MAC, most, mean", [](D d, F f) { return level(d.transmit_fifo, f.fifo_mean[0]); });
    rows.add("FIFO from the MAC, most, mean", [](D d, F f) { return level(d.receive_fifo, f.fifo_mean[1]); });
    rows.add("busy: compressor", [](D, F f) { return percent(f.compressor_busy); });
    rows.add("busy: link", [](D, F f) { return percent(f.link_busy); });
    rows.add("busy: decompressor", [](D, F f) { return percent(f.decompressor_busy); });
    rows.add("bottleneck", [](D, F f) { return std::string(f.bottleneck); });
    rows.print();
}

// -- JSON

static json_t *port_json(double in, double out, double stalls, double busy, const PortUse &port)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "beats_in", gn_json_count(port.beats), "stalled_cycles",
                     gn_json_count(port.stalls), "beats_per_cycle_in", gn_json_real(in), "beats_per_cycle_out",
                     gn_json_real(out), "stalled", gn_json_real(stalls), "busy", gn_json_real(busy));
}

static json_t *fifo_json(const Level &level, double mean_bytes)
{
    return json_pack("{s:o, s:o}", "max_bytes", gn_json_count(level.most), "mean_bytes", gn_json_real(mean_bytes));
}

static json_t *direction_json(const Direction &d, const gn_sim_nic_options &o)
{
    const Figures f = figures_of(d, o);
    json_t *frames = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "given", gn_json_count(d.frames), "delivered",
                               gn_json_count(d.delivered), "lost", gn_json_count(d.lost), "corrupted",
                               gn_json_count(d.corrupted), "dropped_fcs", gn_json_count(d.dropped_bad), "dropped_fifo",
                               gn_json_count(d.overflowed), "dropped_malformed", gn_json_count(d.refused));
    json_t *latency =
        json_pack("{s:o, s:o, s:o, s:o}", "min", gn_json_real(f.latency_ns[0]), "median", gn_json_real(f.latency_ns[1]),
                  "p99", gn_json_real(f.latency_ns[2]), "max", gn_json_real(f.latency_ns[3]));
    json_t *link =
        json_pack("{s:o, s:o, s:o, s:o}", "frames", gn_json_count(d.link_frames), "bytes", gn_json_count(d.link_bytes),
                  "bit_s", gn_json_real(f.link_rate), "busy", gn_json_real(f.link_busy));
    return json_pack(
        "{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s}", "from",
        d.from.c_str(), "to", d.to.c_str(), "seconds", gn_json_real(f.seconds), "frames", frames, "payload_bytes",
        gn_json_count(d.payload_bytes), "delivered_payload_bytes", gn_json_count(d.delivered_payload), "goodput_bit_s",
        gn_json_real(f.goodput), "untouched_bit_s", gn_json_real(f.plain_goodput), "link", link, "ratio",
        gn_json_real(d.payload_ratio), "link_ratio", gn_json_real(f.link_ratio), "latency_ns", latency, "behind_pace",
        gn_json_real(f.behind), "compressor",
        port_json(f.transmit_rate[0], f.transmit_rate[1], f.transmit_stalls, f.compressor_busy, d.transmit_in),
        "decompressor",
        port_json(f.receive_rate[0], f.receive_rate[1], f.receive_stalls, f.decompressor_busy, d.receive_in),
        "fifo_to_mac", fifo_json(d.transmit_fifo, f.fifo_mean[0]), "fifo_from_mac",
        fifo_json(d.receive_fifo, f.fifo_mean[1]), "bottleneck", f.bottleneck);
}

static json_t *counters_json(const Counters &counters, const std::vector<CounterRegister> &order)
{
    json_t *object = json_object();
    for (const CounterRegister &r : order)
        json_object_set_new(object, r.name.c_str(), gn_json_count(counters.at(r.name)));
    return object;
}

static json_t *setup_json(const gn_sim_nic_options &o)
{
    return json_pack(
        "{s:o, s:s, s:o, s:o, s:o, s:i, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:s}", "input", gn_json_name(o.input),
        "model", o.rtl ? "rtl" : "behavioural", "rate_bit_s", gn_json_count(o.rate), "clock_hz",
        gn_json_count(o.clock_hz), "clock_b_hz", gn_json_count(o.clock_b_hz), "mtu", static_cast<int>(o.host_mtu),
        "profile", o.bypass ? "none" : gn_profile_name(o.rules[0].codec.profile), "bound_exp",
        o.bypass ? json_null() : json_integer(o.rules[0].codec.bound_exp), "delay_ns", gn_json_count(o.delay_ns),
        "loss", gn_json_real(o.loss), "corrupt", gn_json_real(o.corrupt), "seed", gn_json_count(o.seed), "fifo_bytes",
        gn_json_count(o.fifo_bytes), "duplex", o.duplex, "transport", o.tcp ? "tcp" : "udp");
}

void print_report(const Outcome &outcome, const gn_sim_nic_options &o, size_t directions, gn_result_file &file)
{
    if (!o.result.json) print_table(outcome, o, directions);
    json_t *list = json_array(), *nics = json_array();
    for (size_t i = 0; i < directions; i++) json_array_append_new(list, direction_json(outcome.directions[i], o));
    for (size_t i = 0; i < 2; i++)
        json_array_append_new(nics, json_pack("{s:s, s:o, s:o}", "host", outcome.directions[i].from.c_str(), "transmit",
                                              counters_json(outcome.transmit[i], transmit_registers()), "receive",
                                              counters_json(outcome.receive[i], receive_registers())));
    json_t *all = json_pack("{s:o, s:o, s:o, s:o}", "environment", gn_json_environment(), "setup", setup_json(o),
                            "directions", list, "nics", nics);
    gn_error error;
    if (gn_result_write(&file, &o.result, all, stdout, &error)) throw std::runtime_error(error.text);
}

}  // namespace sim
