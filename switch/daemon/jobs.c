// SPDX-License-Identifier: Apache-2.0
// A job's life: children come, what is above is asked, the job runs, children leave, it ends.
#include "switch/daemon/jobs.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "switch/daemon/above.h"
#include "switch/daemon/agree.h"
#include "switch/daemon/grant.h"
#include "switch/daemon/limits.h"
#include "switch/daemon/silence.h"
#include "switch/daemon/waits.h"

static void enter(const gn_switchd *daemon, gn_job *job, gn_job_phase phase)
{
    job->phase = phase;
    job->since = gn_now();
    job->deadline = job->since + daemon->config.join_timeout_ns;
}

static void forget(gn_switchd *daemon, gn_job *job)
{
    gn_job **at = &daemon->jobs;
    while (*at != job) at = &(*at)->next;
    *at = job->next;
    gn_job_stop(daemon, job);
    free(job);
}

// ---- how a job ends

/// Notes the end in the log, and for those who ask later.
static void note_end(gn_switchd *daemon, const gn_job *job, const char *why)
{
    const bool ran = job->phase == GN_JOB_RUNNING;
    gn_overs *overs = ran ? &daemon->ran : &daemon->never_ran;
    gn_over *over = &overs->last[overs->count++ % GN_OVERS];
    gn_switchd_log(daemon, ran ? GN_LOG_OVER : GN_LOG_NEVER, "job '%s' is over: %s", gn_job_terms(job)->name, why);
    over->at = gn_now();
    snprintf(over->job, sizeof over->job, "%s", gn_job_terms(job)->name);
    snprintf(over->why, sizeof over->why, "%s", why);
}

/// Ends a job. `type`: children are told that their job is REFUSED, or GONE.
static void end_job(gn_switchd *daemon, gn_job *job, const gn_session *but, gn_admission_type type, const char *format,
                    va_list arguments)
{
    char text[GN_ADMISSION_TEXT];
    (void)vsnprintf(text, sizeof text, format, arguments);
    note_end(daemon, job, text);
    for (unsigned i = 0; i < GN_AGG_WORKERS_MAX; i++) {
        if (!job->child[i]) continue;
        if (job->child[i] != but)
            gn_session_end(job->child[i], &daemon->lobby, type, text);
        else
            gn_session_hang_up(job->child[i], &daemon->lobby);
    }
    if (job->above) {
        job->above->job = NULL;
        if (gn_session_is_open(job->above) && job->above != but)
            gn_session_end(job->above, &daemon->lobby, GN_ADMISSION_GONE, text);
        else
            gn_session_close(job->above, NULL);
    }
    forget(daemon, job);
}

void gn_job_end(gn_switchd *daemon, gn_job *job, const gn_session *but, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    end_job(daemon, job, but, GN_ADMISSION_GONE, format, arguments);
    va_end(arguments);
}

void gn_jobs_end_all(gn_switchd *daemon, const char *why)
{
    while (daemon->jobs) gn_job_end(daemon, daemon->jobs, NULL, "%s", why);
}

/// The job cannot be: its children are refused.
static void refuse_job(gn_switchd *daemon, gn_job *job, const gn_session *but, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static void refuse_job(gn_switchd *daemon, gn_job *job, const gn_session *but, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    end_job(daemon, job, but, GN_ADMISSION_REFUSED, format, arguments);
    va_end(arguments);
}

// ---- how it begins

/// Starts the job, and welcomes its children.
static void say_welcome(gn_switchd *daemon, gn_job *job)
{
    gn_error error;
    if (gn_job_start(daemon, job, &error)) {
        refuse_job(daemon, job, NULL, "%s", error.text);
        return;
    }
    const gn_admission_join *terms = gn_job_terms(job);
    gn_admission frame = {.type = GN_ADMISSION_WELCOME, .welcome = job->welcome};
    enter(daemon, job, GN_JOB_RUNNING);
    gn_job_watch(job);
    daemon->admitted++;
    gn_switchd_log(daemon, GN_LOG_RUNS, "job '%s' runs: %u %s, %u %s of %u slots", terms->name, terms->children,
                   terms->children == 1 ? "child" : "children", terms->channels,
                   terms->channels == 1 ? "channel" : "channels", job->welcome.slots);
    for (unsigned i = 0; i < terms->children; i++) {
        frame.welcome.bit = terms->bits ? (uint8_t)gn_job_first_bit(job, i) : 0;
        frame.welcome.fanin = terms->bits ? (uint8_t)gn_job_first_bit(job, terms->children) : 0;
        gn_session_send(job->child[i], &frame);
    }
}

static bool number_taken(const gn_switchd *daemon, uint16_t number)
{
    for (const gn_job *job = daemon->jobs; job; job = job->next)
        for (unsigned c = 0; job->phase == GN_JOB_RUNNING && c < job->welcome.channels; c++)
            if (job->welcome.job[c] == number) return true;
    return false;
}

static void number_channels(gn_switchd *daemon, gn_job *job)
{
    for (unsigned c = 0; c < job->welcome.channels; c++) {
        while (number_taken(daemon, daemon->next_job)) daemon->next_job++;
        job->welcome.job[c] = daemon->next_job++;
        job->welcome.gen[c] = daemon->next_gen++;
    }
}

/// The lowest rank below this switch.
static uint16_t lowest_rank(const gn_job *job)
{
    uint16_t lowest = gn_job_terms(job)->rank;
    for (unsigned i = 0; i < gn_job_terms(job)->children; i++)
        if (job->join[i].rank < lowest) lowest = job->join[i].rank;
    return lowest;
}

/// As whom this switch asks above.
static gn_asker asker_above(const gn_switchd *daemon)
{
    return daemon->config.ps ? GN_ASKER_PS_SWITCH : GN_ASKER_SWITCH;
}

static void begin_greeting(const gn_switchd *daemon, const gn_job *job)
{
    gn_greeting_who who = {.role = (uint8_t)(GN_ROLE_CHILD + asker_above(daemon)),
                           .rank = lowest_rank(job),
                           .size = gn_job_terms(job)->ranks,
                           .to = GN_GREETING_ANYBODY};
    memcpy(who.name, gn_job_terms(job)->name, sizeof who.name);
    gn_greeting_call(&job->above->greeting, &daemon->secret, GN_GREETING_SWITCH, &who);
}

/// Begins to connect to what is above.
static void ask_above(gn_switchd *daemon, gn_job *job)
{
    gn_error error;
    enter(daemon, job, GN_JOB_ASKING);
    job->above = gn_session_connect(&daemon->above, &daemon->listen, &error);
    while (!job->above && ++job->tried_above < daemon->all_above.count) {
        gn_switchd_next_above(daemon);
        job->above = gn_session_connect(&daemon->above, &daemon->listen, &error);
    }
    if (!job->above) {
        gn_job_end(daemon, job, NULL, "%.200s", error.text);
        return;
    }
    job->above->job = job;
    begin_greeting(daemon, job);
    if (!gn_switchd_adopt(daemon, job->above)) {
        job->above = NULL;
        gn_job_end(daemon, job, NULL, "the switch has too many connections to ask its %s", gn_switchd_above(daemon));
        return;
    }
    gn_job_watch(job);
}

/// A name may lead to several addresses. @return false: there is none that was not tried
static bool try_next_above(gn_switchd *daemon, gn_job *job, gn_session *session)
{
    if (session->was_open || daemon->all_above.count < 2) return false;
    // Another job may have gone on to the next address already.
    if (!gn_ip_compare(&daemon->above.ip, &session->remote.ip)) gn_switchd_next_above(daemon);
    if (job->phase != GN_JOB_ASKING || ++job->tried_above >= daemon->all_above.count) return false;
    session->job = NULL;
    job->above = NULL;
    ask_above(daemon, job);
    return true;
}

/// All children have come: finds room for the job, and asks above or starts it.
static void complete(gn_switchd *daemon, gn_job *job)
{
    gn_error error;
    unsigned slots;
    if (gn_job_check_whole(daemon, job, &error) || gn_job_reserve(daemon, job, &slots, &error)) {
        refuse_job(daemon, job, NULL, "%s", error.text);
        return;
    }
    job->welcome =
        (gn_admission_welcome){.mode = daemon->config.role == GN_SWITCHD_PS ? GN_SHARED : (uint8_t)daemon->config.mode,
                               .channels = gn_job_terms(job)->channels,
                               .slots = (uint16_t)slots};
    if (daemon->above.ip.version) {
        ask_above(daemon, job);
    } else {
        number_channels(daemon, job);
        say_welcome(daemon, job);
    }
}

static gn_job *find(gn_switchd *daemon, const char *name)
{
    gn_job *job = daemon->jobs;
    while (job && strcmp(gn_job_terms(job)->name, name) != 0) job = job->next;
    return job;
}

static gn_job *begin(gn_switchd *daemon, const gn_admission_join *join)
{
    gn_job *job = calloc(1, sizeof *job);
    if (!job) return NULL;
    job->first = join->bit;
    enter(daemon, job, GN_JOB_FORMING);
    job->next = daemon->jobs;
    daemon->jobs = job;
    return job;
}

static void refuse(gn_switchd *daemon, gn_session *session, const gn_admission_join *join, const char *why)
{
    char asker[GN_CALLED];
    daemon->refused++;
    gn_switchd_log(daemon, GN_LOG_REFUSED, "%s was refused: %s", gn_join_called(join, session->name, asker), why);
    gn_session_end(session, &daemon->lobby, GN_ADMISSION_REFUSED, why);
}

void gn_jobs_join(gn_switchd *daemon, gn_session *session, const gn_admission_join *join)
{
    gn_error error;
    gn_admission_join own = *join;
    if (gn_job_check_possible(daemon, session, join, &error)) {
        refuse(daemon, session, join, error.text);
        return;
    }
    gn_job *job = find(daemon, join->name);
    if (job && gn_job_check_child(job, session, join, &error)) {
        snprintf(job->refused, sizeof job->refused, "%.119s", error.text);
        refuse(daemon, session, join, error.text);
        return;
    }
    if (gn_limits_check_forming(daemon, job, &session->remote.ip, &error)) {
        refuse(daemon, session, join, error.text);
        return;
    }
    if (!job) job = begin(daemon, join);
    if (!job) {
        refuse(daemon, session, join, "the switch is out of memory");
        return;
    }
    if (daemon->config.role == GN_SWITCHD_PS) {
        own.children = 1;
        job->fanin = join->children;
    }
    job->join[join->bit] = own;
    job->child[join->bit] = session;
    memcpy(job->name[join->bit], session->name, sizeof session->name);
    job->site[join->bit] = gn_limits_site(&session->remote.ip);
    job->joined |= 1ull << join->bit;
    session->job = job;
    session->bit = join->bit;
    if (job->joined == gn_job_everyone(job)) complete(daemon, job);
}

// ---- who leaves

static void leave_forming(gn_switchd *daemon, gn_job *job, gn_session *session)
{
    job->child[session->bit] = NULL;
    job->joined &= ~(1ull << session->bit);
    gn_session_hang_up(session, &daemon->lobby);
    if (!job->joined)
        forget(daemon, job);
    else if (job->first == session->bit)
        job->first = (unsigned)__builtin_ctzll(job->joined);
}

/// A program that was killed closes its connections as one that has ended. Only its missing LEAVE
/// tells the difference here.
static void note_all_left(gn_switchd *daemon, const gn_job *job)
{
    char text[GN_ADMISSION_TEXT] = "all have left", child[GN_CALLED];
    const int count = __builtin_popcountll(job->wordless);
    if (count) gn_job_called(job, (unsigned)__builtin_ctzll(job->wordless), child);
    if (count == 1) snprintf(text, sizeof text, "all have left, %s without a word", child);
    if (count > 1) snprintf(text, sizeof text, "all have left, %s and %d more without a word", child, count - 1);
    note_end(daemon, job, text);
}

/// A child that is done may leave, while others still ask for results that were lost. The job ends
/// only when somebody waits for a child that has left.
static void leave_running(gn_switchd *daemon, gn_job *job, gn_session *session)
{
    job->child[session->bit] = NULL;
    job->left |= 1ull << session->bit;
    if (!session->leaves) job->wordless |= 1ull << session->bit;
    session->job = NULL;
    job->deadline = gn_now() + GN_JOB_LOOK_MS * GN_MILLISECOND;
    if (job->left != gn_job_everyone(job)) return;
    note_all_left(daemon, job);
    if (job->above) gn_session_end(job->above, &daemon->lobby, GN_ADMISSION_LEAVE, "");
    forget(daemon, job);
}

void gn_jobs_lost(gn_switchd *daemon, gn_session *session)
{
    gn_job *job = session->job;
    char child[GN_CALLED], waits[GN_ADMISSION_TEXT];
    if (session->upward && try_next_above(daemon, job, session)) return;
    if (session->upward) {
        gn_job_end(daemon, job, session, "the connection to the %s %s %s%s", gn_switchd_above(daemon), session->name,
                   !*session->broken   ? "was closed"
                   : session->was_open ? "is lost: "
                                       : "cannot be made: ",
                   session->broken);
        return;
    }
    if (job->phase == GN_JOB_FORMING) {
        leave_forming(daemon, job, session);
        return;
    }
    const bool lost = *session->broken || (session->is_switch && !session->leaves);
    if (job->phase == GN_JOB_RUNNING && !lost) {
        leave_running(daemon, job, session);
        return;
    }
    gn_job_called(job, session->bit, child);
    if (lost)
        gn_job_end(daemon, job, session, "%s is lost: %s", child,
                   *session->broken ? session->broken : "it has closed the connection without a word");
    else
        gn_job_end(daemon, job, session, "%s has left, while it waited: %s", child,
                   gn_job_waits_for(daemon, job, waits));
}

void gn_jobs_child_gone(gn_switchd *daemon, gn_session *session, const char *why)
{
    gn_job *job = session->job;
    char child[GN_CALLED];
    if (job->phase == GN_JOB_FORMING) {
        leave_forming(daemon, job, session);
        return;
    }
    gn_job_end(daemon, job, session, "%s: %s", gn_job_called(job, session->bit, child), why);
}

// ---- what is above

/// Says who this switch is, and who is below it.
static void introduce(const gn_switchd *daemon, const gn_job *job, gn_admission_join *join)
{
    join->asker = (uint8_t)asker_above(daemon);
    join->listens = daemon->listen.port;
    join->instance = daemon->instance;
    join->patience_ms = gn_job_patience(job);
    const bool one = gn_admission_contributors(join) == 1;  // then only whole sums go up
    for (unsigned rank = 0; rank < join->ranks; rank++) {
        const int bit = gn_job_bit_of(job, rank);
        join->below[rank] = bit < 0 ? GN_ADMISSION_NOT_BELOW : one ? 0 : (uint8_t)bit;
    }
}

// It asks for the same job, with this switch as one child. A parameter server has to know how many
// contribute, and so has a parent that shares its slots as this switch does.
void gn_jobs_ask_above(gn_switchd *daemon, gn_session *session)
{
    const gn_job *job = session->job;
    const gn_switchd_config *config = &daemon->config;
    gn_admission frame = {.type = GN_ADMISSION_JOIN, .join = *gn_job_terms(job)};
    gn_admission_join *join = &frame.join;
    const uint8_t bits = (uint8_t)gn_job_first_bit(job, join->children);
    const bool shares = gn_switchd_shares_above(config);
    join->bits = shares ? bits : 0;
    join->level = (uint8_t)(join->level + !shares);
    join->bit = config->ps ? 0 : config->place_fanin ? config->place_bit : join->parent_bit;
    join->children = config->ps ? bits : config->place_fanin ? config->place_fanin : join->parent_children;
    join->parent_bit = join->parent_children = 0;
    join->rank = lowest_rank(job);
    join->leader = join->rank ? GN_AGG_WORKERS_MAX : join->bit;
    join->slots = job->welcome.slots;
    for (unsigned c = 0; c < join->channels; c++)
        join->udp_port[c] = daemon->shard[job->shard[c]]->channels[job->channel[c]].udp_port;
    introduce(daemon, job, join);
    gn_session_send(session, &frame);
}

/// A parent that shares its slots, as this switch does, has to say which bits are this switch's.
static bool bits_granted(const gn_switchd *daemon, const gn_job *job, const gn_admission_welcome *welcome)
{
    if (!gn_switchd_shares_above(&daemon->config)) return true;
    const unsigned bits = gn_job_first_bit(job, gn_job_terms(job)->children);
    return welcome->mode != GN_PARTITIONED && welcome->bit + bits <= welcome->fanin;
}

void gn_jobs_above_says(gn_switchd *daemon, gn_session *session, const gn_admission *frame)
{
    gn_job *job = session->job;
    const gn_admission_welcome *welcome = &frame->welcome;
    if (frame->type == GN_ADMISSION_PONG) {
        snprintf(job->above_waits, sizeof job->above_waits, "%s", frame->text);
        return;
    }
    if (frame->type == GN_ADMISSION_REFUSED) {
        refuse_job(daemon, job, session, "%s %s: %s", gn_switchd_above(daemon), session->name, frame->text);
    } else if (frame->type == GN_ADMISSION_GONE) {
        gn_job_end(daemon, job, session, "%s %s: %s", gn_switchd_above(daemon), session->name, frame->text);
    } else if (frame->type != GN_ADMISSION_WELCOME || job->phase != GN_JOB_ASKING) {
        gn_job_end(daemon, job, NULL, "the %s %s sent a frame of type %d out of turn", gn_switchd_above(daemon),
                   session->name, frame->type);
    } else if (welcome->channels != job->welcome.channels || welcome->slots > job->welcome.slots ||
               (daemon->config.ps && welcome->mode != GN_SHARED) || !bits_granted(daemon, job, welcome)) {
        gn_job_end(daemon, job, NULL, "the %s %s gives other channels, slots, bits or memory than asked for",
                   gn_switchd_above(daemon), session->name);
    } else {
        job->welcome = *welcome;
        job->welcome.mode = (uint8_t)daemon->config.mode;
        say_welcome(daemon, job);
    }
}
