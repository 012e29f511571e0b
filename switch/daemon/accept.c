// SPDX-License-Identifier: Apache-2.0
#include "switch/daemon/accept.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "net/socket.h"
#include "net/tcp.h"
#include "switch/daemon/jobs.h"
#include "switch/daemon/limits.h"
#include "switch/daemon/room.h"
#include "switch/daemon/serve.h"

gn_status gn_switchd_listen(gn_switchd *daemon, gn_error *error)
{
    char text[GN_ENDPOINT_TEXT];
    // Those who leave have been sessions before, so the lobby may have to hold that many.
    if (gn_lobby_open(&daemon->lobby, GN_SESSIONS_MAX)) return gn_fail_memory(error);
    daemon->lobby.room = gn_room_lobby(daemon);
    daemon->lobby.keeps_spare = true;
    daemon->listener = gn_tcp_listen(&daemon->listen, true, 0);
    if (daemon->listener < 0) {
        const int reason = errno;
        return gn_fail(error, GN_IO, "cannot listen on TCP %s: %s%s", gn_endpoint_format(&daemon->listen, text),
                       strerror(reason), gn_socket_bind_hint(reason));
    }
    gn_lobby_add_door(&daemon->lobby, (gn_door){.listener = daemon->listener,
                                                .in_room = GN_FRAMES_IN,
                                                .out_room = GN_FRAMES_OUT,
                                                .greeting = &daemon->door});
    return GN_OK;
}

void gn_switchd_close_door(gn_switchd *daemon)
{
    gn_close(&daemon->listener);
    daemon->lobby.door[0].listener = -1;
}

/// Stranger `index` has sent something else than frames.
static void refuse(gn_switchd *daemon, unsigned index)
{
    const gn_endpoint from = daemon->lobby.strangers[index].from;
    gn_framed *connection = gn_lobby_admit(&daemon->lobby, index);
    char fault[GN_ADMISSION_FAULT], name[GN_ENDPOINT_TEXT];
    daemon->refused++;
    // Strangers with another protocol may be many: they are only counted.
    if (gn_frames_fault(connection, fault))
        gn_switchd_log(daemon, GN_LOG_STRANGER, "%s was refused: it %s", gn_endpoint_format(&from, name), fault);
    gn_frames_end(connection, &daemon->lobby, GN_ADMISSION_REFUSED, fault);
}

/// Stranger `index` has no secret or another one, says other things than it has proved, or finds no
/// room. `words`: the reason, as it reads here.
static void turn_away(gn_switchd *daemon, unsigned index, const char *why, const char *words)
{
    const gn_endpoint from = daemon->lobby.strangers[index].from;
    char name[GN_ENDPOINT_TEXT];
    daemon->refused++;
    gn_switchd_log(daemon, GN_LOG_STRANGER, "%s was refused: %s", gn_endpoint_format(&from, name), words);
    gn_frames_end(gn_lobby_admit(&daemon->lobby, index), &daemon->lobby, GN_ADMISSION_REFUSED, why);
}

/// The greeting of stranger `index` has failed.
static void end_greeting(gn_switchd *daemon, unsigned index)
{
    const gn_stranger *stranger = &daemon->lobby.strangers[index];
    char own[GN_ENDPOINT_TEXT], here[GN_ENDPOINT_TEXT + 16], name[GN_ENDPOINT_TEXT];
    char why[GN_GREETING_WHY], words[GN_GREETING_WHY], fault[GN_ADMISSION_FAULT];
    if (stranger->greeting->fault == GN_GREETING_NONE_THERE && !gn_frames_fault(stranger->connection, fault)) {
        refuse(daemon, index);
        return;
    }
    snprintf(here, sizeof here, "the switch %s", gn_switchd_address(daemon, own));
    gn_endpoint_format(&stranger->from, name);
    (void)gn_greeting_why(stranger->greeting, here, name, why);
    turn_away(daemon, index, why, gn_greeting_why(stranger->greeting, here, "it", words));
}

/// Whether JOIN says what the greeting has proved.
static bool is_greeted(const gn_switchd *daemon, const gn_stranger *stranger, const gn_admission_join *join)
{
    const gn_greeting_who *who = &stranger->greeting->who;
    return !daemon->secret.set || (who->role == GN_ROLE_CHILD + join->asker && who->rank == join->rank &&
                                   who->size == join->ranks && !strcmp(who->name, join->name));
}

/// Stranger `index` asks for a job.
static void admit(gn_switchd *daemon, unsigned index, const gn_admission_join *join)
{
    const gn_stranger *stranger = &daemon->lobby.strangers[index];
    const gn_endpoint from = stranger->from;
    if (!is_greeted(daemon, stranger, join)) {
        static const char why[] = "JOIN asks for another job or rank than the greeting has proved";
        turn_away(daemon, index, why, why);
        return;
    }
    gn_error error;
    if (gn_room_make(daemon, &from.ip, &error)) {
        turn_away(daemon, index, error.text, error.text);
        return;
    }
    gn_greeting greeting = *stranger->greeting;
    gn_session *session = gn_session_of_child(gn_lobby_admit(&daemon->lobby, index), &from, join);
    if (session) session->greeting = greeting;
    gn_greeting_wipe(&greeting);
    if (!session || !gn_switchd_adopt(daemon, session)) return;
    gn_jobs_join(daemon, session, join);
    gn_switchd_hear(daemon, session);  // what came together with JOIN
}

/// Does what stranger `index` says, until it is none any more.
static void hear(gn_switchd *daemon, unsigned index)
{
    gn_stranger *stranger = &daemon->lobby.strangers[index];
    const gn_greeting_step step = gn_stranger_greet(stranger);
    gn_admission frame;
    int found = 0;
    if (step == GN_GREETING_FAILED) {
        end_greeting(daemon, index);
        return;
    }
    // As long as a stranger has no job, nobody waits for it.
    while (step == GN_GREETING_DONE && (found = gn_frames_next(stranger->connection, &frame)) > 0 &&
           frame.type == GN_ADMISSION_PING)
        if (!gn_frames_send(stranger->connection, &(gn_admission){.type = GN_ADMISSION_PONG})) break;
    if (found > 0 && frame.type == GN_ADMISSION_JOIN)
        admit(daemon, index, &frame.join);
    else if (found < 0)
        refuse(daemon, index);
    else if (found || gn_stranger_is_over(stranger, gn_now()))
        gn_lobby_dismiss(&daemon->lobby, index);
}

void gn_switchd_hear_strangers(gn_switchd *daemon)
{
    for (unsigned i = daemon->lobby.count; i-- > 0;) hear(daemon, i);
}

/// What helps against a lack of sockets.
static const char *hint(int lacked)
{
    return lacked == EMFILE ? " (raise ulimit -n, or LimitNOFILE of the service)" : "";
}

/// This process has no sockets left, and that has lasted: sends one away who waits.
static void refuse_one(gn_switchd *daemon, int lacked)
{
    gn_endpoint from;
    gn_error error;
    char name[GN_ENDPOINT_TEXT];
    gn_framed *connection = gn_lobby_refuse_one(&daemon->lobby, &from);
    if (!connection) return;
    daemon->refused++;
    gn_limits_refuse(daemon, GN_LIMIT_CONNECTIONS, &error, "this switch has no room for connections: %s%s",
                     strerror(lacked), hint(lacked));
    gn_switchd_log(daemon, GN_LOG_STRANGER, "%s was refused: %s", gn_endpoint_format(&from, name), error.text);
    gn_frames_end(connection, &daemon->lobby, GN_ADMISSION_REFUSED, error.text);
}

void gn_switchd_accept(gn_switchd *daemon)
{
    daemon->lobby.room = gn_room_lobby(daemon);
    gn_lobby_accept(&daemon->lobby);
    const int lacked = daemon->lobby.lacked;
    if (!lacked) return;
    gn_switchd_log(daemon, GN_LOG_LACK, "somebody who asks for a job has to wait: no room for connections: %s%s",
                   strerror(lacked), hint(lacked));
    daemon->lobby.lacked = 0;
    refuse_one(daemon, lacked);
}

void gn_switchd_send_away(gn_switchd *daemon, const char *why)
{
    for (unsigned i = daemon->lobby.count; i-- > 0;)
        if (daemon->lobby.strangers[i].connection->state == GN_FRAMED_OPEN)
            gn_frames_end(gn_lobby_admit(&daemon->lobby, i), &daemon->lobby, GN_ADMISSION_GONE, why);
}
