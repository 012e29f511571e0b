// SPDX-License-Identifier: Apache-2.0
#include "nic_options.h"

#include <argp.h>
#include <string.h>

#include "driver/rules.h"
#include "net/clock.h"
#include "tools/kit/codec_options.h"
#include "tools/kit/option_values.h"
#include "tools/kit/parse.h"
#include "tools/kit/units.h"

typedef struct parse_state {
    gn_sim_nic_options *o;
    const char *rule_texts[GN_SIM_NIC_RULES];
    gn_profile profile;
    int bound_exp;
} parse_state;

enum {
    OPT_RATE = 0x100,
    OPT_CLOCK,
    OPT_CLOCK_B,
    OPT_MODEL,
    OPT_LANES,
    OPT_PACE,
    OPT_MTU,
    OPT_HOST_MTU,
    OPT_TRANSPORT,
    OPT_SIZE,
    OPT_DUPLEX,
    OPT_RULE,
    OPT_DELAY,
    OPT_LOSS,
    OPT_CORRUPT,
    OPT_SEED,
    OPT_FIFO,
    OPT_PCAP_WIRE,
};

static const char doc[] =
    "Simulates two hosts, their NICs with gradnic in hardware, and the link between them, cycle by cycle. Reports what "
    "the link carried, what the hosts saw, and what was the bottleneck.\v"
    "Every output frame of a NIC is compared with the C model's. A difference ends the simulation. Times are "
    "simulated: the same input, options and seed give the same report.\n"
    "\n"
    "A host's DMA gives frames to its NIC over a bus of 256 bits at the NIC's clock (25.6 Gbit/s at 100 MHz), with "
    "--lanes of 512. The NIC "
    "writes its output frames to a FIFO. The MAC sends from there: preamble, at least 64 bytes with the FCS, gap. At "
    "the other end the MAC checks the FCS and fills a FIFO, which the other NIC reads. If that FIFO is full, the frame "
    "is dropped.\n"
    "\n"
    "Exit status: 0 done and all frames as in the C model, 1 failed, 2 wrong usage.\n"
    "\n"
    "Examples:\n"
    "  gradnic sim nic --rate 10gbit --input grads.npy\n"
    "  gradnic sim nic --rate 10gbit --pace 10gbit -i grads.npy -p lattice -k 8\n"
    "  gradnic sim nic --rate 100gbit --clock 250mhz --lanes 2 -i grads.npy\n"
    "  gradnic sim nic --rate 25gbit -i host.pcap --loss 1% --pcap-wire wire.pcap";

static const struct argp_option table[] = {
    {0, 0, 0, 0, "What is sent:", 1},
    {"input", 'i', "FILE", 0,
     "gradients to send: .npy, .f32, .gn, also .gz; or a capture of frames as a host gives them (pcap, pcapng; link "
     "type EN10MB or RAW); required",
     0},
    {"size", OPT_SIZE, "SIZE", 0,
     "bytes of gradients to send; the file is cut or repeated (default the size of the file)", 0},
    {"transport", OPT_TRANSPORT, "udp|tcp", 0,
     "packets of the gradients, with the first rule's ToS: datagrams, or segments of one connection "
     "(default udp)",
     0},
    {"mtu", OPT_MTU, "BYTES", 0, "MTU of the wire; the host's is 8 less (default 1508)", 0},
    {"host-mtu", OPT_HOST_MTU, "BYTES", 0, "MTU of the host; the wire's is 8 more (default 1500)", 0},
    {"pace", OPT_PACE, "max|stamps|RATE", 0,
     "when the host gives the next frame: as soon as the NIC takes it, at its time stamp in the capture, or as an "
     "Ethernet of that rate would (default max)",
     0},
    {"duplex", OPT_DUPLEX, 0, 0, "both hosts send the same", 0},
    {0, 0, 0, 0, "NICs:", 2},
    {"model", OPT_MODEL, "behavioural|rtl", 0,
     "the C model behind the NIC's ports, or the hardware itself, Verilated (default behavioural)", 0},
    {"lanes", OPT_LANES, "1|2|4", 0,
     "side by side in each NIC: 1 with a bus of 256 bits, more with one of 512, for the behavioural model (default 1)",
     0},
    {"clock", OPT_CLOCK, "FREQUENCY", 0, "clock of the NICs (default 100mhz)", 0},
    {"clock-b", OPT_CLOCK_B, "FREQUENCY", 0, "clock of host b's NIC (default as --clock)", 0},
    {"profile", 'p', "PROFILE", 0,
     "dense, lattice or paper, for rules that name none; none: compress nothing (default dense)", 0},
    {"bound", 'k', "K", 0, "error bound 2^-K of rules that name none (default 10)", 0},
    {"rule", OPT_RULE, "RULE", 0,
     "which packets are compressed, and how: tos=0x28,proto=tcp,port=5000-5010,profile=dense,k=10,head=0, each part "
     "optional; up to 4, the first that matches wins (default tos=0x28)",
     0},
    {0, 0, 0, 0, "MACs and link:", 3},
    {"rate", OPT_RATE, "RATE", 0, "speed of the link, as 1gbit, 10gbit (default 10gbit)", 0},
    {"fifo", OPT_FIFO, "SIZE", 0, "bytes of each FIFO between NIC and MAC (default 64K)", 0},
    {"delay", OPT_DELAY, "TIME", 0, "delay of the link (default 500ns)", 0},
    {"loss", OPT_LOSS, "P", 0, "lose packets with this probability, as 1% or 0.01 (default 0)", 0},
    {"corrupt", OPT_CORRUPT, "P", 0, "corrupt a bit of a packet with this probability (default 0)", 0},
    {"seed", OPT_SEED, "N", 0, "seed of the random numbers (default 1)", 0},
    {0, 0, 0, 0, "Output:", 4},
    {"pcap-wire", OPT_PCAP_WIRE, "FILE", 0, "capture the wire's packets, with simulated times", 0},
    GN_FORCE_OPTION(0),
    GN_QUIET_OPTION(0),
    GN_JSON_OPTION(0),
    {0},
};

static uint64_t rate_of(struct argp_state *state, int key, const char *text)
{
    const uint64_t rate = gn_option_rate(state, key, text, 0);
    if (rate < 1000000 || rate > 400000000000u) gn_option_wrong(state, key, "%s is outside 1mbit to 400gbit", text);
    return rate;
}

static void set_pace(struct argp_state *state, int key, gn_sim_nic_options *o, const char *text)
{
    if (!strcmp(text, "max")) {
        o->pace = GN_SIM_PACE_MAX;
    } else if (!strcmp(text, "stamps")) {
        o->pace = GN_SIM_PACE_STAMPS;
    } else {
        o->pace_rate = rate_of(state, key, text);
        o->pace = GN_SIM_PACE_RATE;
    }
}

static uint64_t clock_of(struct argp_state *state, int key, const char *text)
{
    gn_error error;
    uint64_t hertz = 0;
    gn_option_check(state, key, gn_parse_frequency(text, &hertz, &error), &error);
    if (hertz < 1000000 || hertz > 2000000000) gn_option_wrong(state, key, "%s is outside 1mhz to 2ghz", text);
    return hertz;
}

static void set_profile(struct argp_state *state, int key, parse_state *p, const char *text)
{
    gn_error error;
    p->o->bypass = !strcmp(text, "none");
    if (!p->o->bypass) gn_option_check(state, key, gn_parse_profile_or(text, "none", &p->profile, &error), &error);
}

enum { HOST_MTU_DEFAULT = 1500, HOST_MTU_LEAST = 68, HOST_MTU_MOST = 9000 };

static void set_mtu(struct argp_state *state, gn_sim_nic_options *o, unsigned host_mtu)
{
    if (o->host_mtu && o->host_mtu != host_mtu)
        argp_error(state, "--mtu and --host-mtu contradict each other: the wire's is 8 more");
    o->host_mtu = host_mtu;
}

static bool parse_traffic(int key, char *arg, struct argp_state *state, gn_sim_nic_options *o)
{
    switch (key) {
    case 'i':
        o->input = arg;
        return true;
    case OPT_SIZE:
        o->size = gn_option_size(state, key, arg, 4, UINT64_C(4) << 30);
        return true;
    case OPT_TRANSPORT:
        o->tcp = gn_option_choice(state, key, arg, "udp", "tcp");
        return true;
    case OPT_MTU:
        set_mtu(state, o,
                gn_option_unsigned(state, key, arg, HOST_MTU_LEAST + GN_SHIM_BYTES, HOST_MTU_MOST + GN_SHIM_BYTES) -
                    GN_SHIM_BYTES);
        return true;
    case OPT_HOST_MTU:
        set_mtu(state, o, gn_option_unsigned(state, key, arg, HOST_MTU_LEAST, HOST_MTU_MOST));
        return true;
    case OPT_PACE:
        set_pace(state, key, o, arg);
        return true;
    case OPT_DUPLEX:
        return o->duplex = true;
    default:
        return false;
    }
}

static bool parse_nic(int key, char *arg, struct argp_state *state, parse_state *p)
{
    switch (key) {
    case OPT_MODEL:
        p->o->rtl = gn_option_choice(state, key, arg, "behavioural", "rtl");
        return true;
    case OPT_LANES:
        p->o->lanes = gn_option_unsigned(state, key, arg, 1, 4);
        if (p->o->lanes == 3) gn_option_wrong(state, key, "3 is not 1, 2 or 4");
        return true;
    case OPT_CLOCK:
        p->o->clock_hz = clock_of(state, key, arg);
        return true;
    case OPT_CLOCK_B:
        p->o->clock_b_hz = clock_of(state, key, arg);
        return true;
    case 'p':
        set_profile(state, key, p, arg);
        return true;
    case 'k':
        p->bound_exp = gn_option_bound(state, key, arg);
        return true;
    case OPT_RULE:
        if (p->o->rule_count == GN_SIM_NIC_RULES) argp_error(state, "more than %d rules", GN_SIM_NIC_RULES);
        p->rule_texts[p->o->rule_count++] = arg;
        return true;
    default:
        return false;
    }
}

static bool parse_link(int key, char *arg, struct argp_state *state, gn_sim_nic_options *o)
{
    switch (key) {
    case OPT_RATE:
        o->rate = rate_of(state, key, arg);
        return true;
    case OPT_FIFO:
        o->fifo_bytes = gn_option_size(state, key, arg, 16 << 10, 1 << 30);
        return true;
    case OPT_DELAY:
        o->delay_ns = gn_option_duration(state, key, arg);
        if (o->delay_ns > GN_SECOND) gn_option_wrong(state, key, "%s is more than 1s", arg);
        return true;
    case OPT_LOSS:
        o->loss = gn_option_probability(state, key, arg);
        return true;
    case OPT_CORRUPT:
        o->corrupt = gn_option_probability(state, key, arg);
        return true;
    case OPT_SEED:
        o->seed = gn_option_number(state, key, arg, 0, INT64_MAX);
        return true;
    case OPT_PCAP_WIRE:
        o->pcap_wire = arg;
        return true;
    default:
        return gn_result_option_parse(key, arg, &o->result);
    }
}

/// Reads rules last, because only then their defaults are known.
static void finish(struct argp_state *state, parse_state *p)
{
    gn_error error;
    gn_sim_nic_options *o = p->o;
    if (!o->input) argp_error(state, "--input FILE is needed: gradients, or a capture");
    if (o->rtl && o->lanes > 1)
        argp_error(state, "--lanes is for --model behavioural: the hardware there has one lane");
    gn_option_check(state, 'k', gn_check_bound(p->profile, p->bound_exp, &error), &error);
    gn_rule defaults = gn_rule_default();
    gn_codec_init(&defaults.codec, p->profile, p->bound_exp);
    for (unsigned i = 0; i < o->rule_count; i++) {
        gn_error why;
        if (gn_rule_parse(p->rule_texts[i], &defaults, &o->rules[i], &why))
            argp_error(state, "--rule %s: %s", p->rule_texts[i], why.text);
    }
    if (!o->clock_b_hz) o->clock_b_hz = o->clock_hz;
    if (!o->host_mtu) o->host_mtu = HOST_MTU_DEFAULT;
    if (!o->rule_count) o->rules[o->rule_count++] = defaults;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    parse_state *p = state->input;
    if (parse_traffic(key, arg, state, p->o) || parse_nic(key, arg, state, p) || parse_link(key, arg, state, p->o))
        return 0;
    if (key == ARGP_KEY_ARG) argp_error(state, "unexpected argument '%s'; --input FILE names the data", arg);
    if (key == ARGP_KEY_END) finish(state, p);
    return key == ARGP_KEY_END ? 0 : ARGP_ERR_UNKNOWN;
}

void gn_sim_nic_parse(gn_sim_nic_options *options, int argc, char **argv)
{
    *options = (gn_sim_nic_options){
        .lanes = 1, .rate = 10000000000u, .clock_hz = 100000000, .delay_ns = 500, .seed = 1, .fifo_bytes = 64 << 10};
    parse_state p = {.o = options, .profile = GN_DENSE, .bound_exp = 10};
    const struct argp parser = {.options = table, .parser = parse, .doc = doc};
    gn_argp_parse(&parser, argc, argv, &p);
}
