// SPDX-License-Identifier: Apache-2.0
// gradnic doctor: what will work on this host, and how fast.
#include "doctor.h"

#include <argp.h>
#include <string.h>

#include <gradnic/frame.h>

#include "net/clock.h"
#include "net/resolve.h"
#include "probe.h"
#include "tools/commands.h"
#include "tools/kit/cli.h"
#include "tools/kit/option_values.h"
#include "tools/kit/parse.h"
#include "tools/kit/result_options.h"

enum { OPTION_LISTEN = 0x100, OPTION_TOS };
enum { LISTEN_SECONDS = 600 };

typedef struct options {
    const char *peer;
    bool listen;
    gn_endpoint at;
    bool tos_given;
    uint8_t tos;
    uint64_t span_ns;  // 0: not given
    gn_result_options result;
} options;

static const struct argp_option option_table[] = {
    {"listen", OPTION_LISTEN, "ADDRESS", OPTION_ARG_OPTIONAL,
     "where this doctor listens for the probes of others, and answers them (default port 7779 of all addresses)", 0},
    {"time", 't', "TIME", 0, "with --listen: end after that time; a plain number is seconds (default 10min)", 0},
    {"tos", OPTION_TOS, "TOS", 0, "type of service of the gradients' packets, tried on the way (default 0x28)", 0},
    GN_FORCE_OPTION(0),
    GN_QUIET_OPTION(0),
    GN_JSON_OPTION(0),
    {0},
};

static const char doc[] =
    "Look at this host, and at the path to a PEER: what will work, how fast, and what to do."
    "\v"
    "It changes nothing. Each thing has a line: ok, warn (it works, slower or with a limit), or fail (a part of "
    "gradnic does not work here). Then come what that means, and the fix.\n"
    "\n"
    "With PEER (ADDRESS, NAME, or either with :PORT) it also sends some hundred datagrams to the doctor that listens "
    "there. It finds out losses, the MTU both ways, and whether the mark arrives.\n"
    "\n"
    "Exit status: 0 if nothing failed, warnings or not; 1 if something failed; 2 for wrong usage.\n"
    "\n"
    "Examples:\n"
    "  gradnic doctor\n"
    "  host2$ gradnic doctor --listen\n"
    "  host1$ gradnic doctor host2\n"
    "  gradnic doctor --json | jq '.findings[] | select(.level != \"ok\")'\n";

/// `text`, or with the doctor's port where it has none: the project's default port is the NIC's.
static const char *with_port(const char *text, char *out, size_t room)
{
    char host[GN_HOST_TEXT];
    uint16_t port;
    gn_endpoint endpoint;
    gn_error ignored;
    snprintf(out, room, "%.260s:%d", text, GN_PROBE_PORT);
    return gn_name_parse(out, host, &port) || !gn_endpoint_parse(out, &endpoint, &ignored) ? out : text;
}

static gn_status find_peer(const char *text, gn_endpoint *peer, gn_error *error)
{
    char copy[GN_HOST_TEXT + 16], host[GN_HOST_TEXT];
    uint16_t port;
    text = with_port(text, copy, sizeof copy);
    return gn_name_parse(text, host, &port) ? gn_resolve(host, port, peer, error)
                                            : gn_endpoint_parse(text, peer, error);
}

static void parse_listen(const struct argp_state *state, int key, const char *text, options *o)
{
    char copy[GN_HOST_TEXT + 16];
    gn_error error;
    o->listen = true;
    if (text) gn_option_check(state, key, gn_resolve_own(with_port(text, copy, sizeof copy), &o->at, &error), &error);
}

static void finish(const struct argp_state *state, const options *o)
{
    if (o->listen && o->peer) argp_error(state, "--listen and PEER: one of the two hosts listens, the other asks");
    if (o->listen && (o->result.json || o->result.json_file)) argp_error(state, "--listen has no results for --json");
    if (o->span_ns && !o->listen) argp_error(state, "--time is for --listen");
    if (o->tos_given && !o->peer) argp_error(state, "--tos needs a PEER: it is tried on the way there");
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    options *o = state->input;
    if (gn_result_option_parse(key, arg, &o->result)) return 0;
    switch (key) {
    case OPTION_LISTEN:
        parse_listen(state, key, arg, o);
        return 0;
    case OPTION_TOS:
        o->tos = (uint8_t)gn_option_tos(state, key, arg);
        o->tos_given = true;
        return 0;
    case 't':
        o->span_ns = gn_option_time(state, key, arg);
        if (!o->span_ns) gn_option_wrong(state, key, "%s: nobody can ask in no time", arg);
        return 0;
    case ARGP_KEY_ARG:
        if (o->peer) argp_error(state, "'%s': only one PEER is possible", arg);
        o->peer = arg;
        return 0;
    case ARGP_KEY_END:
        finish(state, o);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/// Without an address: both versions of IP, or IPv4 alone where there is no other.
static gn_status listen_for(options *o, gn_error *error)
{
    const uint64_t span = o->span_ns ? o->span_ns : LISTEN_SECONDS * GN_SECOND;
    const gn_endpoint six = {.ip.version = 6, .port = GN_PROBE_PORT}, four = {.ip.version = 4, .port = GN_PROBE_PORT};
    if (o->at.ip.version) return gn_doctor_listen(&o->at, span, o->result.quiet, error);
    return gn_doctor_listen(&six, span, o->result.quiet, error) && gn_doctor_listen(&four, span, o->result.quiet, error)
               ? error->status
               : GN_OK;
}

static gn_status examine(options *o, bool *failed, gn_error *error)
{
    static gn_findings findings;
    gn_endpoint peer;
    gn_result_file file = {0};
    gn_status wrong = o->peer ? find_peer(o->peer, &peer, error) : GN_OK;
    if (!wrong) wrong = gn_result_open(&file, &o->result, NULL, NULL, 0, error);
    if (wrong) return wrong;
    gn_doctor_build(&findings);
    gn_doctor_kernel(&findings);
    gn_doctor_codec(&findings);
    gn_doctor_socket(&findings);
    gn_doctor_memory(&findings);
    gn_doctor_limits(&findings);
    if (o->peer) gn_doctor_path(&findings, &peer, o->tos);
    if (!o->result.json) gn_findings_print(&findings, o->result.quiet, stdout);
    *failed = gn_findings_of(&findings, GN_LEVEL_FAIL) > 0;
    if (o->result.json || o->result.json_file)
        wrong = gn_result_write(&file, &o->result, gn_findings_json(&findings), stdout, error);
    return wrong;
}

int gn_command_doctor(int argc, char **argv)
{
    static const struct argp argp = {option_table, parse_option, "[PEER]", doc, 0, 0, 0};
    options o = {.tos = GN_TOS_GRADIENT};
    bool failed = false;
    gn_error error;
    gn_argp_parse(&argp, argc, argv, &o);
    if (o.listen ? listen_for(&o, &error) : examine(&o, &failed, &error)) {
        gn_cli_error(argv[0], "%s", error.text);
        return error.status == GN_INVALID ? GN_EXIT_USAGE : GN_EXIT_FAILED;
    }
    return failed ? GN_EXIT_FAILED : GN_EXIT_OK;
}
