// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <argp.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

#include "driver/rules.h"
#include "host/control_socket.h"
#include "host/log.h"
#include "net/escape.h"
#include "net/resolve.h"
#include "tools/kit/codec_options.h"
#include "tools/kit/fault_options.h"
#include "tools/kit/option_values.h"
#include "tools/kit/output.h"
#include "tools/kit/result_options.h"
#include "tools/kit/service_options.h"
#include "tools/kit/units.h"
#include "tools/nic/capture_name.h"

enum { PEERS_FILES_MAX = 16 };

enum {
    KEY_PEERS_FILE = 256,
    KEY_EXISTING,
    KEY_NO_OFFLOAD,
    KEY_QUEUE,
    KEY_RULE,
    KEY_CUT,
    KEY_BYPASS,
    KEY_NO_RESTORE,
    KEY_MAX_RESTORED,
    KEY_GUARD,
    KEY_FLOWS,
    KEY_STEER,
    KEY_MARK,
    KEY_TABLE,
    KEY_RATE,
    KEY_BUFFER,
    KEY_PCAP_HOST,
    KEY_PCAP_WIRE,
    KEY_ENGINE,
};

static const struct argp_option options[] = {
    {0, 0, 0, 0, "Host side:", 1},
    {"device", 'd', "NAME", 0, "TUN device of the NIC (default gn0)", 1},
    {"address", 'a', "ADDRESS/LENGTH", 0, "address of this host on the overlay; may be given several times", 1},
    {"existing", KEY_EXISTING, 0, 0,
     "attach to an existing persistent device and leave its settings alone; needs no privilege", 1},
    {"no-offload", KEY_NO_OFFLOAD, 0, 0, "one packet at a time between kernel and NIC", 1},
    {"queue", KEY_QUEUE, "SEGMENTS", 0, "length of the host's queue to the NIC (default 500)", 1},
    {"steer", KEY_STEER, "WHAT", 0,
     "which packets come by: overlay (all packets to the peers' prefixes), dscp (only packets with a rule's ToS, under "
     "the "
     "hosts' own addresses; Linux 6.12), mark (only packets with the firewall mark) (default overlay)",
     1},
    {"mark", KEY_MARK, "NUMBER", 0, "firewall mark of --steer mark (default 0x474e)", 1},
    {"table", KEY_TABLE, "NUMBER", 0, "routing table of --steer dscp and mark (default 18766)", 1},
    {0, 0, 0, 0, "Wire side:", 2},
    {"peer", 'P', "PREFIX[,PREFIX...]=ADDRESS[:PORT]", 0,
     "a peer's overlay prefixes and its UDP endpoint, whose address may be a host's name; once for each peer", 2},
    {"peers", KEY_PEERS_FILE, "FILE", 0, "peers as in --peer, one on each line", 2},
    {"listen", 'l', "ADDRESS[:PORT]", 0, "where this NIC listens: its UDP endpoint (default any address, port 7777)",
     2},
    {"mtu", 'm', "BYTES", 0,
     "MTU of the wire; the device's follows from it (default the smallest on the way to a peer)", 2},
    {"rate", KEY_RATE, "RATE", 0, "speed of the link, as 200mbit, 1gbit; 0 or unlimited: not limited (default 0)", 2},
    {"buffer", KEY_BUFFER, "SIZE", 0, "receive buffer of the UDP socket (default 4M)", 2},
    {0, 0, 0, 0, "Compression:", 3},
    {"profile", 'p', "PROFILE", 0, "dense, lattice or paper, for rules that name none (default dense)", 3},
    {"bound", 'k', "K", 0, "error bound 2^-K of rules that name none (default 10)", 3},
    {"rule", KEY_RULE, "RULE", 0,
     "which packets are compressed, and how: tos=0x28,proto=tcp,port=5000-5010,profile=dense,k=10,head=0, each part "
     "optional; up to 16, the first that matches wins (default tos=0x28)",
     3},
    {"cut", KEY_CUT, "mtu|fill", 0,
     "how segments become packets: cut to the host's MTU before they are compressed, or to what fills the wire's MTU "
     "afterwards (default fill, where the engine can)",
     3},
    {"bypass", KEY_BYPASS, 0, 0, "compress nothing; packets that arrive compressed are restored all the same", 3},
    {"no-restore", KEY_NO_RESTORE, 0, 0,
     "hand packets that arrive compressed to the host as they are; with --bypass, for the host of a switch", 3},
    {"max-restored", KEY_MAX_RESTORED, "BYTES", 0,
     "drop packets that would be longer than this when they are restored (default 65535)", 3},
    {"guard", KEY_GUARD, "on|off", 0,
     "leave flows alone that a rule matches, but that do not look like gradients (default on)", 3},
    {"flows", KEY_FLOWS, "NUMBER", 0, "TCP flows remembered (default 4096)", 3},
    {"engine", KEY_ENGINE, "NAME", 0,
     "what transforms packets: model (C), rtl (the Verilog NIC in a simulator; slow), lockstep (both; stops at the "
     "first difference). This build has: " GN_ENGINE_NAMES " (default model)",
     3},
    {0, 0, 0, 0, "A bad link (for packets that are sent):", 4},
    GN_FAULT_OPTIONS(4),
    {0, 0, 0, 0, "Around it:", 5},
    {"control", 'c', "PATH", 0, "control socket; none: no socket (default /run/gradnic/DEVICE.sock)", 5},
    GN_SERVICE_OPTIONS(5),
    {"pcap-host", KEY_PCAP_HOST, "FILE", 0, "capture the host's packets; %F-%H%M%S in the name is the time", 5},
    {"pcap-wire", KEY_PCAP_WIRE, "FILE", 0, "capture the wire's packets", 5},
    GN_FORCE_OPTION(5),
    {0, 0, 0, 0, "Configuration and log:", 6},
    GN_SETTINGS_OPTIONS(6),
    GN_QUIET_OPTION(6),
    GN_LOG_OPTIONS(6),
    {0},
};

static const gn_settings_key keys[] = {{'a', true, false},
                                       {'P', true, false},
                                       {KEY_PEERS_FILE, true, false},
                                       {KEY_RULE, true, true},
                                       {'p', false, true},
                                       {'k', false, true},
                                       {KEY_CUT, false, true},
                                       {KEY_BYPASS, false, true},
                                       {KEY_GUARD, false, true},
                                       {KEY_RATE, false, true},
                                       GN_FAULT_KEYS(false),
                                       GN_LOG_KEYS,
                                       {0}};

typedef struct parsing {
    gn_nic_options *options;
    const char *rules[GN_RULES_MAX];
    size_t rule_count;
    gn_rule defaults;
    bool cut_given;
    const char *peers_files[PEERS_FILES_MAX];
    size_t peers_file_count;
    time_t start;  ///< in the names of captures
} parsing;

gn_status gn_nic_rate_parse(const char *text, uint64_t *rate, gn_error *error)
{
    *rate = 0;
    if (!strcmp(text, "unlimited")) return GN_OK;
    gn_status wrong = gn_parse_rate(text, rate, error);
    if (!wrong && *rate && *rate < 1000)
        wrong = gn_fail(error, GN_INVALID, "%s: at least 1kbit, or 0 for unlimited", text);
    return wrong;
}

static unsigned any_base(struct argp_state *state, int key, const char *text)
{
    uint64_t value = 0;
    gn_error error;
    if (gn_parse_any_base(text, 1, 0xffffffff, &value, &error))
        gn_option_wrong(state, key, "'%s' is not a number from 1 to 0xffffffff", text);
    return (unsigned)value;
}

static const char *const steers[] = {
    [GN_STEER_OVERLAY] = "overlay", [GN_STEER_DSCP] = "dscp", [GN_STEER_MARK] = "mark"};

/// What the kernel takes for a name (dev_valid_name()), and what can be printed and put into JSON.
/// The control socket has it, too.
static void check_device(struct argp_state *state, int key, const char *name)
{
    if (!*name) gn_option_wrong(state, key, "a name is missing");
    if (strlen(name) > IF_NAMESIZE - 1)
        gn_option_wrong(state, key, "'%s' is longer than %d bytes", name, IF_NAMESIZE - 1);
    if (strpbrk(name, "/:% \t\r\n\v\f") || !strcmp(name, ".") || !strcmp(name, ".."))
        gn_option_wrong(state, key, "'%s' is not a name for a device (no slash, colon, percent sign or blank)", name);
    char shown[4 * IF_NAMESIZE];
    gn_escape(name, "", shown, sizeof shown);
    if (strcmp(shown, name) != 0)
        gn_option_wrong(state, key, "'%s' is not a name for a device (UTF-8 without control characters)", name);
}

static bool parse_host(int key, char *arg, struct argp_state *state, gn_nic_config *config)
{
    gn_error error;
    switch (key) {
    case 'd':
        check_device(state, key, arg);
        config->device = arg;
        return true;
    case 'a':
        if (config->address_count == GN_NIC_ADDRESSES_MAX)
            gn_option_refuse(state, "more than %d addresses", GN_NIC_ADDRESSES_MAX);
        gn_option_check(state, key, gn_prefix_parse(arg, &config->addresses[config->address_count++], &error), &error);
        if (!strchr(arg, '/'))
            gn_option_refuse(
                state, "--address %s: its prefix length is missing, as in 10.77.0.1/24 (or /32: no route to others)",
                arg);
        return true;
    case KEY_EXISTING:
        config->existing = true;
        return true;
    case KEY_NO_OFFLOAD:
        config->no_offload = true;
        return true;
    case KEY_QUEUE:
        config->queue_length = (unsigned)gn_option_number(state, key, arg, 1, 100000);
        return true;
    case KEY_STEER:
        config->steer.mode = gn_option_word(state, key, arg, steers, sizeof steers / sizeof *steers);
        return true;
    case KEY_MARK:
        config->steer.mark = any_base(state, key, arg);
        return true;
    case KEY_TABLE:
        config->steer.table = any_base(state, key, arg);
        if (config->steer.table >= RT_TABLE_DEFAULT && config->steer.table <= RT_TABLE_LOCAL)
            gn_option_wrong(state, key, "%s is a table of the kernel's own (253 default, 254 main, 255 local)", arg);
        return true;
    default:
        return false;
    }
}

static bool parse_wire(int key, char *arg, struct argp_state *state, gn_nic_config *config)
{
    gn_error error;
    switch (key) {
    case 'P':
        gn_option_check(state, key, gn_peers_add(config->peers, arg, &error), &error);
        return true;
    case 'l':
        gn_option_check(state, key, gn_resolve_own(arg, &config->listen, &error), &error);
        return true;
    case 'm':
        config->wire_mtu = (unsigned)gn_option_number(state, key, arg, 600, 65535);
        return true;
    case KEY_RATE:
        gn_option_check(state, key, gn_nic_rate_parse(arg, &config->rate, &error), &error);
        return true;
    case KEY_BUFFER:
        config->buffer_bytes = gn_option_size(state, key, arg, 64 << 10, 1 << 30);
        return true;
    default:
        return false;
    }
}

static bool parse_compression(int key, char *arg, struct argp_state *state, parsing *p)
{
    gn_nic_config *config = &p->options->config;
    gn_error error;
    switch (key) {
    case 'p':
        p->defaults.codec.profile = gn_option_profile(state, key, arg);
        return true;
    case 'k':
        p->defaults.codec.bound_exp = gn_option_bound(state, key, arg);
        return true;
    case KEY_RULE:
        if (p->rule_count == GN_RULES_MAX) gn_option_refuse(state, "more than %d rules", GN_RULES_MAX);
        p->rules[p->rule_count++] = arg;
        return true;
    case KEY_CUT:
        if (strcmp(arg, "mtu") != 0 && strcmp(arg, "fill") != 0)
            gn_option_refuse(state, "--cut %s: mtu or fill is needed", arg);
        config->cut = strcmp(arg, "mtu") != 0 ? GN_CUT_FILL : GN_CUT_MTU;
        p->cut_given = true;
        return true;
    case KEY_BYPASS:
        config->bypass = true;
        return true;
    case KEY_NO_RESTORE:
        config->no_restore = true;
        return true;
    case KEY_MAX_RESTORED:
        config->max_restored = gn_option_number(state, key, arg, 576, GN_PACKET_MAX);
        return true;
    case KEY_GUARD:
        config->guard = gn_option_choice(state, key, arg, "off", "on");
        return true;
    case KEY_FLOWS:
        config->flow_capacity = gn_option_number(state, key, arg, 1, 1 << 20);
        return true;
    case KEY_ENGINE:
        config->engine = gn_engine_find(arg, &error);
        if (!config->engine) gn_option_refuse(state, "--engine %s: %s", arg, error.text);
        return true;
    default:
        return false;
    }
}

/// Refuses a capture that is also the configuration, the table of peers or the other capture.
static void check_captures(const parsing *p, struct argp_state *state)
{
    gn_error error;
    const gn_nic_config *config = &p->options->config;
    const char *host = config->pcap_host, *wire = config->pcap_wire;
    if (host && wire && (!strcmp(host, wire) || gn_output_check_inputs(wire, &host, 1, &error)))
        gn_option_refuse(state, "--pcap-wire %s: --pcap-host writes this file", wire);
    const char *const captures[] = {host, wire};
    for (int i = 0; i < 2; i++) {
        if (!captures[i]) continue;
        const int key = i ? KEY_PCAP_WIRE : KEY_PCAP_HOST;
        gn_option_check(state, key, gn_output_check_spared(captures[i], &error), &error);
        gn_option_check(state, key, gn_output_check_inputs(captures[i], p->peers_files, p->peers_file_count, &error),
                        &error);
    }
}

// The datagrams that the NIC sends have ToS 0. It would be given them again, and again.
static void check_steering(const gn_nic_config *config, struct argp_state *state)
{
    for (size_t i = 0; i < config->rule_count && config->steer.mode == GN_STEER_DSCP; i++)
        if (!(config->rules[i].tos & GN_TOS_MASK))
            gn_option_refuse(state, "--steer dscp: a rule with ToS 0 takes the NIC's own datagrams, too; use "
                                    "another ToS, an overlay, or --steer mark");
}

// -p and -k are the defaults of all rules, so rules are read last.
static void finish(parsing *p, struct argp_state *state)
{
    gn_error error;
    gn_nic_config *config = &p->options->config;
    gn_option_check(state, 'k', gn_check_bound(p->defaults.codec.profile, p->defaults.codec.bound_exp, &error), &error);
    gn_codec_init(&p->defaults.codec, p->defaults.codec.profile, p->defaults.codec.bound_exp);
    if (!p->rule_count) config->rules[config->rule_count++] = p->defaults;
    for (size_t i = 0; i < p->rule_count; i++) {
        gn_error why;
        if (gn_rule_parse(p->rules[i], &p->defaults, &config->rules[config->rule_count++], &why))
            gn_option_refuse(state, "--rule %s: %s", p->rules[i], why.text);
    }
    if (gn_rules_check(config->rules, config->rule_count, &error)) gn_option_refuse(state, "%s", error.text);
    check_steering(config, state);
    check_captures(p, state);
    if (!config->engine->whole_segments) {
        if (p->cut_given && config->cut == GN_CUT_FILL)
            gn_option_refuse(state, "--cut fill: engine %s needs packets that are cut to the MTU: --cut mtu",
                             config->engine->name);
        config->cut = GN_CUT_MTU;
    }
    if (!gn_peers_count(config->peers)) gn_option_refuse(state, "no peer: give --peer");
    if (config->existing && config->address_count)
        gn_option_refuse(state, "--existing leaves the device's addresses alone; drop --address");
    if (config->steer.mode == GN_STEER_OVERLAY && !config->existing && !config->address_count)
        gn_option_refuse(state, "--address is needed");
    if (gn_nic_check(config, &error)) gn_option_refuse(state, "%s", error.text);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    parsing *p = state->input;
    gn_nic_config *config = &p->options->config;
    if (parse_host(key, arg, state, config) || parse_wire(key, arg, state, config) ||
        parse_compression(key, arg, state, p) || gn_fault_option_parse(key, arg, state, &config->fault) ||
        gn_service_option_parse(key, arg, state, &config->user, &config->metrics))
        return 0;
    switch (key) {
    case KEY_PEERS_FILE: {
        gn_error error;
        if (p->peers_file_count == PEERS_FILES_MAX)
            gn_option_refuse(state, "--peers: more than %d files", PEERS_FILES_MAX);
        p->peers_files[p->peers_file_count++] = arg;
        gn_option_check(state, key, gn_peers_load(config->peers, arg, &error), &error);
        return 0;
    }
    case 'c':
        p->options->control = gn_option_control(state, key, arg);
        p->options->no_control = !p->options->control;
        return 0;
    case KEY_PCAP_HOST:
    case KEY_PCAP_WIRE: {
        gn_error error;
        char *name = p->options->captures[key == KEY_PCAP_WIRE];
        gn_option_check(state, key, gn_capture_name(arg, p->start, name, sizeof p->options->captures[0], &error),
                        &error);
        *(key == KEY_PCAP_WIRE ? &config->pcap_wire : &config->pcap_host) = name;
        return 0;
    }
    case 'f':
        p->options->force = true;
        return 0;
    case ARGP_KEY_ARG:
        gn_option_refuse(
            state, "'%s' is neither an option nor a command; the commands are status, stats and set, and come first",
            arg);
        return 0;
    case ARGP_KEY_END:
        finish(p, state);
        return 0;
    default:
        return gn_log_option_parse(key, arg, state, &p->options->log) ? 0 : ARGP_ERR_UNKNOWN;
    }
}

void gn_nic_control_default(const char *device, char *path, size_t room)
{
    snprintf(path, room, GN_CONTROL_FOLDER "/%s.sock", device);
}

static void begin(parsing *p, gn_nic_options *out)
{
    *out = (gn_nic_options){.config = {.device = "gn0",
                                       .queue_length = GN_NIC_QUEUE_DEFAULT,
                                       .engine = &gn_engine_model,
                                       .cut = GN_CUT_FILL,
                                       .guard = true,
                                       .fault.seed = 1,
                                       .peers = gn_peers_new()},
                            .log = gn_log_options_default()};
    *p = (parsing){.options = out, .defaults = gn_rule_default(), .start = time(NULL)};
}

void gn_nic_options_parse(gn_nic_options *out, gn_settings *settings, int argc, char **argv)
{
    static const struct argp argp = {options,
                                     parse_option,
                                     NULL,
                                     "The NIC in user space. Its rules say which packets of this host are compressed "
                                     "on their way to the peers. The peers restore them.\v"
                                     "Commands for a running NIC: gradnic nic status, gradnic nic stats, gradnic "
                                     "nic set (each with --help).\n\n"
                                     "Two hosts:\n"
                                     "  a# gradnic nic -a 10.77.0.1/24 -P 10.77.0.2/32=192.0.2.2\n"
                                     "  b# gradnic nic -a 10.77.0.2/24 -P 10.77.0.1/32=192.0.2.1",
                                     NULL,
                                     NULL,
                                     NULL};
    parsing p;
    begin(&p, out);
    gn_settings_parse(settings, &argp, keys, NULL, argc, argv, &p);
    gn_nic_control_default(out->config.device, out->control_path, sizeof out->control_path);
    if (!out->no_control) out->config.control = out->control ? out->control : out->control_path;
}

gn_status gn_nic_options_reread(gn_nic_options *out, gn_settings *settings)
{
    parsing p;
    begin(&p, out);
    gn_error error;
    gn_status status = gn_settings_reread(settings, &p);
    if (!status && gn_nic_check_peers(&out->config, &error)) {
        status = error.status;
        gn_log(GN_SEVERITY_ERROR, "%s: %s", settings->path, error.text);
    }
    gn_peers_free(out->config.peers);
    out->config.peers = NULL;
    return status;
}
