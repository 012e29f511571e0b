// SPDX-License-Identifier: Apache-2.0
#include "net/greeting.h"

#include <stdio.h>
#include <string.h>

#include <sodium.h>

// Labels of the codes. A code of one kind proves nothing where another kind is wanted.
#define LABEL_CALLEE "gradnic greeting 1 callee"
#define LABEL_CALLER "gradnic greeting 1 caller"
#define LABEL_SESSION "gradnic greeting 1 session"
#define LABEL_UP "gradnic datagrams 1 up"
#define LABEL_DOWN "gradnic datagrams 1 down"

enum { AT_EPOCH = GN_GREETING_NONCE, AT_CODE = AT_EPOCH + GN_GREETING_EPOCH };  // of CHALLENGE

static bool has_secret(const gn_greeting *g)
{
    return g->secret && g->secret->set;
}

void gn_greeting_call(gn_greeting *g, const gn_secret *secret, gn_greeting_dialect dialect, const gn_greeting_who *who)
{
    *g = (gn_greeting){.secret = secret, .dialect = dialect, .calls = true, .who = *who};
    if (!has_secret(g)) g->step = GN_GREETING_DONE;
}

void gn_greeting_answer(gn_greeting *g, const gn_secret *secret, gn_greeting_dialect dialect, uint16_t own,
                        const uint8_t *epoch)
{
    *g = (gn_greeting){.secret = secret, .dialect = dialect, .own = own};
    if (epoch) memcpy(g->epoch, epoch, sizeof g->epoch);
}

static gn_greeting_step fail(gn_greeting *g, gn_greeting_fault fault)
{
    g->fault = fault;
    return g->step = GN_GREETING_FAILED;
}

static gn_greeting_step finish(gn_greeting *g)
{
    gn_secret_mac(g->secret->key, LABEL_SESSION,
                  (const gn_secret_part[]){{g->call, sizeof g->call}, {g->challenge, sizeof g->challenge}, {0}},
                  g->session);
    return g->step = GN_GREETING_DONE;
}

static void send_frame(const gn_greeting *g, gn_framed *connection, gn_greeting_type type, const uint8_t *body,
                       size_t bytes)
{
    uint8_t out[GN_GREETING_MAX];
    gn_greeting_frame frame = {.dialect = g->dialect, .type = type};
    memcpy(frame.body, body, bytes);
    (void)gn_framed_send(connection, out, gn_greeting_write(&frame, out));
}

/// The code by which the callee shows that it has the secret.
static void callee_code(const gn_greeting *g, uint8_t code[GN_SECRET_MAC])
{
    gn_secret_mac(g->secret->key, LABEL_CALLEE,
                  (const gn_secret_part[]){{g->call, sizeof g->call}, {g->challenge, AT_CODE}, {0}}, code);
}

static void caller_code(const gn_greeting *g, uint8_t code[GN_SECRET_MAC])
{
    gn_secret_mac(g->secret->key, LABEL_CALLER,
                  (const gn_secret_part[]){{g->call, sizeof g->call}, {g->challenge, sizeof g->challenge}, {0}}, code);
}

/// Takes the next frame of the other side, if it is one of this type. @return as gn_framed_next()
static int take(const gn_greeting *g, gn_framed *connection, gn_greeting_type type, uint8_t *body, size_t bytes)
{
    gn_greeting_frame frame = {.dialect = g->dialect, .type = type};
    const int found = gn_framed_next(connection, gn_greeting_parse, &frame);
    if (found > 0) memcpy(body, frame.body, bytes);
    return found;
}

// The caller --------------------------------------------------------------------------------------

static void say_call(gn_greeting *g, gn_framed *connection)
{
    gn_greeting_call_body call = {.version = GN_GREETING_VERSION, .who = g->who};
    randombytes_buf(call.nonce, sizeof call.nonce);
    gn_greeting_call_write(&call, g->dialect, g->call);
    send_frame(g, connection, GN_CALL, g->call, sizeof g->call);
    g->said = true;
}

static gn_greeting_step advance_caller(gn_greeting *g, gn_framed *connection)
{
    uint8_t code[GN_SECRET_MAC];
    if (!g->said) say_call(g, connection);
    const int found = take(g, connection, GN_CHALLENGE, g->challenge, sizeof g->challenge);
    if (found < 0) return fail(g, GN_GREETING_NONE_THERE);
    if (!found) return GN_GREETING_PENDING;
    callee_code(g, code);
    const bool right = !sodium_memcmp(code, g->challenge + AT_CODE, sizeof code);
    // Also to one whose code is wrong: it is to learn that the secrets differ.
    caller_code(g, code);
    send_frame(g, connection, GN_PROOF, code, sizeof code);
    if (!right) return fail(g, GN_GREETING_OTHER);
    memcpy(g->epoch, g->challenge + AT_EPOCH, sizeof g->epoch);
    return finish(g);
}

// The callee --------------------------------------------------------------------------------------

/// Without a secret, a caller that has one is to be told. Everybody else is the owner's.
static gn_greeting_step look_for_call(gn_greeting *g, const gn_framed *connection)
{
    gn_greeting_frame frame = {.dialect = g->dialect, .type = GN_CALL};
    const uint8_t *bytes;
    const size_t count = gn_framed_rest(connection, &bytes);
    const int found = count ? gn_greeting_parse(bytes, count, &frame) : 0;
    if (found > 0) return fail(g, GN_GREETING_NONE_HERE);
    return found < 0 ? g->step = GN_GREETING_DONE : GN_GREETING_PENDING;
}

static gn_greeting_step take_call(gn_greeting *g, gn_framed *connection)
{
    gn_greeting_call_body call;
    const int found = take(g, connection, GN_CALL, g->call, sizeof g->call);
    if (!found) return GN_GREETING_PENDING;
    if (found < 0 || !gn_greeting_call_read(g->call, &call)) return fail(g, GN_GREETING_NONE_THERE);
    g->who = call.who;
    g->version = call.version;
    if (call.version != GN_GREETING_VERSION) return fail(g, GN_GREETING_LATER);
    if (call.who.to != g->own) return fail(g, GN_GREETING_ELSEWHERE);
    randombytes_buf(g->challenge, GN_GREETING_NONCE);
    memcpy(g->challenge + AT_EPOCH, g->epoch, sizeof g->epoch);
    callee_code(g, g->challenge + AT_CODE);
    send_frame(g, connection, GN_CHALLENGE, g->challenge, sizeof g->challenge);
    g->said = true;
    return GN_GREETING_PENDING;
}

static gn_greeting_step take_proof(gn_greeting *g, gn_framed *connection)
{
    uint8_t code[GN_SECRET_MAC], theirs[GN_SECRET_MAC];
    const int found = take(g, connection, GN_PROOF, theirs, sizeof theirs);
    if (!found) return GN_GREETING_PENDING;
    if (found < 0) return fail(g, GN_GREETING_OTHER);
    caller_code(g, code);
    return sodium_memcmp(code, theirs, sizeof code) ? fail(g, GN_GREETING_OTHER) : finish(g);
}

gn_greeting_step gn_greeting_advance(gn_greeting *g, gn_framed *connection)
{
    if (g->step != GN_GREETING_PENDING) return g->step;
    if (g->calls) return advance_caller(g, connection);
    if (!has_secret(g)) return look_for_call(g, connection);
    if (!g->said && take_call(g, connection) == GN_GREETING_FAILED) return g->step;
    return g->said ? take_proof(g, connection) : GN_GREETING_PENDING;
}

// Words and keys ----------------------------------------------------------------------------------

#define ALL_OR_NONE "give all the same --secret FILE (" GN_SECRET_ENVIRONMENT "), or none"

const char *gn_greeting_why(const gn_greeting *g, const char *here, const char *there, char text[GN_GREETING_WHY])
{
    switch (g->fault) {
    case GN_GREETING_FINE:
        *text = 0;
        break;
    case GN_GREETING_NONE_HERE:
        snprintf(text, GN_GREETING_WHY, "%.90s has a shared secret, and %.90s has none: " ALL_OR_NONE, there, here);
        break;
    case GN_GREETING_NONE_THERE:
        snprintf(text, GN_GREETING_WHY, "%.90s has a shared secret, and %.90s has shown none: " ALL_OR_NONE, here,
                 there);
        break;
    case GN_GREETING_OTHER:
        snprintf(text, GN_GREETING_WHY,
                 "%.90s does not have the shared secret of %.90s: all need the same file (--secret, "
                 "" GN_SECRET_ENVIRONMENT ")",
                 there, here);
        break;
    case GN_GREETING_ELSEWHERE:
        snprintf(text, GN_GREETING_WHY, "%.90s looks for rank %u of another group, and not for %.90s", there, g->who.to,
                 here);
        break;
    case GN_GREETING_LATER:
        snprintf(text, GN_GREETING_WHY, "%.90s speaks version %u of the greeting, and %.90s version %d", there,
                 g->version, here, GN_GREETING_VERSION);
        break;
    }
    return text;
}

void gn_greeting_wipe(gn_greeting *g)
{
    sodium_memzero(g->session, sizeof g->session);
}

static void make_key(const uint8_t from[GN_SECRET_KEY], const char *label, const gn_secret_part *parts,
                     uint8_t key[GN_DATAGRAM_KEY])
{
    uint8_t mac[GN_SECRET_MAC];
    gn_secret_mac(from, label, parts, mac);
    memcpy(key, mac, GN_DATAGRAM_KEY);
    sodium_memzero(mac, sizeof mac);
}

void gn_greeting_key_up(const gn_greeting *g, unsigned channel, uint8_t key[GN_DATAGRAM_KEY])
{
    const uint8_t number = (uint8_t)channel;
    make_key(g->session, LABEL_UP, (const gn_secret_part[]){{&number, 1}, {0}}, key);
}

void gn_greeting_key_down(const gn_greeting *g, const char *job, uint16_t number, uint16_t gen,
                          uint8_t key[GN_DATAGRAM_KEY])
{
    const uint8_t numbers[] = {(uint8_t)(number >> 8), (uint8_t)number, (uint8_t)(gen >> 8), (uint8_t)gen};
    make_key(g->secret->key, LABEL_DOWN,
             (const gn_secret_part[]){{g->epoch, sizeof g->epoch}, {numbers, sizeof numbers}, {job, strlen(job)}, {0}},
             key);
}
