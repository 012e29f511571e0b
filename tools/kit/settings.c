// SPDX-License-Identifier: Apache-2.0
#include "settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "host/log.h"
#include "option_values.h"
#include "parse.h"

// One setting on its way through the command's parser.
typedef struct turn {
    const gn_settings *settings;
    int key;
    char *value;
    void *input;
} turn;

static void take_turn(void *context)
{
    const turn *t = context;
    struct argp_state state = {.root_argp = t->settings->argp,
                               .input = t->input,
                               .name = (char *)(uintptr_t)t->settings->program,  // argp only prints it
                               .err_stream = stderr,
                               .out_stream = stdout};
    (void)t->settings->argp->parser(t->key, t->value, &state);
}

/// The row of an option by its long name, without hidden ones; NULL: none.
static const struct argp_option *find_option(const gn_settings *s, const char *name)
{
    for (const struct argp_option *o = s->argp->options; o->name || o->key || o->doc; o++)
        if (o->name && o->key && !(o->flags & OPTION_HIDDEN) && !strcmp(o->name, name)) return o;
    return NULL;
}

static gn_settings_key key_of(const gn_settings *s, int key)
{
    const gn_settings_key *k = s->keys;
    while (k->key && k->key != key) k++;
    return *k;
}

static const gn_setting *find_setting(const gn_setting *list, size_t count, int key)
{
    for (size_t i = 0; i < count; i++)
        if (list[i].key == key) return &list[i];
    return NULL;
}

/// Adds a line of the file to the list. @return false: it is wrong, `why` says what
static bool add_line(const gn_settings *s, gn_reading *r, const gn_config_line *line, gn_error *why)
{
    if (line->wrong) return !gn_fail(why, GN_INVALID, "%s", line->wrong);
    const struct argp_option *option = find_option(s, line->key);
    if (!option) return !gn_fail(why, GN_INVALID, "'%.64s' is not an option", line->key);
    if (option->key == GN_OPTION_CONFIG || option->key == GN_OPTION_CHECK_CONFIG)
        return !gn_fail(why, GN_INVALID, "%s belongs on the command line", line->key);
    gn_setting setting = {.key = option->key, .value = line->value, .line = line->number};
    const gn_setting *before = find_setting(r->list, r->count, option->key);
    if (before && !key_of(s, option->key).repeats)
        return !gn_fail(why, GN_INVALID, "%s: line %u has it already", line->key, before->line);
    if (option->arg && !line->value) return !gn_fail(why, GN_INVALID, "%s: a value is missing", line->key);
    if (!option->arg && line->value) {
        setting.value = NULL;
        const bool no = !strcmp(line->value, "no");
        if (!no && strcmp(line->value, "yes") != 0)
            return !gn_fail(why, GN_INVALID, "%s: yes or no is needed, not '%.64s'", line->key, line->value);
        if (no) return true;
    }
    r->list[r->count++] = setting;
    return true;
}

// Errors of options begin with "--NAME"; a file has no hyphens there.
static void say(const gn_settings *s, unsigned line, const char *text)
{
    if (line)
        gn_log(GN_SEVERITY_ERROR, "%s:%u: %s", s->path, line, text + (strncmp(text, "--", 2) ? 0 : 2));
    else if (s->path)
        gn_log(GN_SEVERITY_ERROR, "%s: %s", s->path, text);
    else
        gn_log(GN_SEVERITY_ERROR, "%s", text);
}

/// Reads the file's lines, and puts each through the parser unless the command line gives that
/// option. @return how many are wrong
static unsigned read_lines(const gn_settings *s, gn_reading *r, void *input)
{
    unsigned wrong = 0;
    for (size_t i = 0; i < r->file.count; i++) {
        gn_error why;
        const gn_config_line *line = &r->file.lines[i];
        const size_t before = r->count;
        bool good = add_line(s, r, line, &why);
        if (good && r->count > before) {
            const gn_setting *setting = &r->list[before];
            const bool given = find_setting(s->given, s->given_count, setting->key) != NULL;
            turn t = {s, setting->key, setting->value, input};
            good = given || gn_option_try(take_turn, &t, &why);
        }
        if (!good) say(s, line->number, why.text), wrong++;
    }
    return wrong;
}

/// Drops the file's settings that the command line gives, and adds the command line's.
static void merge(const gn_settings *s, gn_reading *r)
{
    size_t kept = 0;
    for (size_t i = 0; i < r->count; i++)
        if (!find_setting(s->given, s->given_count, r->list[i].key)) r->list[kept++] = r->list[i];
    if (s->given_count) memcpy(r->list + kept, s->given, s->given_count * sizeof *s->given);
    r->count = kept + s->given_count;
}

/// Puts one setting of the command line through the parser. `catches`: an error is logged;
/// otherwise it ends the program.
static bool parse_one(const gn_settings *s, int key, char *value, void *input, bool catches)
{
    turn t = {s, key, value, input};
    gn_error why;
    if (!catches) {
        FILE *const before = gn_stderr_escape();
        take_turn(&t);
        gn_stderr_restore(before);
    }
    if (!catches || gn_option_try(take_turn, &t, &why)) return true;
    say(s, 0, why.text);
    return false;
}

static void drop(gn_reading *r)
{
    gn_config_free(&r->file);
    free(r->list);
    *r = (gn_reading){0};
}

/// `first`: wrong usage of the command line ends the program.
static gn_status read_all(const gn_settings *s, gn_reading *r, void *input, bool first)
{
    gn_error error;
    *r = (gn_reading){0};
    if (s->path && gn_config_load(&r->file, s->path, &error)) {
        gn_log(GN_SEVERITY_ERROR, "%s", error.text);
        return error.status;
    }
    r->list = calloc(r->file.count + s->given_count + 1, sizeof *r->list);
    if (!r->list) {
        gn_log(GN_SEVERITY_ERROR, "out of memory");
        return GN_NO_MEMORY;
    }
    unsigned wrong = read_lines(s, r, input);
    for (size_t i = 0; i < s->given_count; i++)
        wrong += !parse_one(s, s->given[i].key, s->given[i].value, input, !first);
    merge(s, r);
    // What has to go together is looked at only when each line by itself is right.
    if (!wrong) wrong += !parse_one(s, ARGP_KEY_END, NULL, input, s->path || !first);
    return wrong ? GN_INVALID : GN_OK;
}

// The command line is taken down first. Its options are parsed after the file's.
static error_t take_down(int key, char *arg, struct argp_state *state)
{
    gn_settings *s = state->input;
    if (key == GN_OPTION_CONFIG) s->path = arg;
    if (key == GN_OPTION_CHECK_CONFIG) s->check = true;
    if (key == GN_OPTION_CONFIG || key == GN_OPTION_CHECK_CONFIG) return 0;
    if (key != ARGP_KEY_ARG && (key & 0x1000000)) return ARGP_ERR_UNKNOWN;  // argp's other keys of its own
    if (s->old_names) key = gn_option_current(state, key, s->old_names);
    s->given[s->given_count++] = (gn_setting){.key = key, .value = arg};
    return 0;
}

void gn_settings_parse(gn_settings *s, const struct argp *argp, const gn_settings_key *keys,
                       const gn_old_name *old_names, int argc, char **argv, void *input)
{
    struct argp taking = *argp;
    taking.parser = take_down;
    *s = (gn_settings){.argp = argp, .keys = keys, .old_names = old_names, .program = argv[0]};
    gn_log_set(s->program, &(gn_log_settings){.level = GN_SEVERITY_INFO});
    // A word of the command line may hold several letters.
    size_t most = 1;
    for (int i = 1; i < argc; i++) most += strlen(argv[i]) + 1;
    s->given = calloc(most, sizeof *s->given);
    if (!s->given) {
        gn_log(GN_SEVERITY_ERROR, "out of memory");
        exit(GN_EXIT_FAILED);
    }
    gn_argp_parse(&taking, argc, argv, s);
    if (s->check && !s->path) {
        gn_log(GN_SEVERITY_ERROR, "--check-config: give the file with --config FILE");
        exit(GN_EXIT_USAGE);
    }
    if (read_all(s, &s->first, input, true)) exit(GN_EXIT_USAGE);
    if (!s->check) return;
    printf("%s: no errors\n", s->path);
    exit(GN_EXIT_OK);
}

void gn_settings_check_access(const gn_settings *s)
{
    if (s->path && access(s->path, R_OK))
        gn_log(GN_SEVERITY_WARN, "%s: %s for the account of this process; SIGHUP will change nothing", s->path,
               strerror(errno));
}

gn_status gn_settings_reread(gn_settings *s, void *input)
{
    return read_all(s, &s->next, input, false);
}

/// Whether the option has the same values in the same order.
static bool same(const gn_reading *a, const gn_reading *b, int key)
{
    size_t i = 0, j = 0;
    for (;; i++, j++) {
        while (i < a->count && a->list[i].key != key) i++;
        while (j < b->count && b->list[j].key != key) j++;
        if (i == a->count || j == b->count) return i == a->count && j == b->count;
        const char *x = a->list[i].value, *y = b->list[j].value;
        if (strcmp(x ? x : "", y ? y : "") != 0) return false;
    }
}

/// Names the options that differ, separated by commas: those that a reload changes, or the others.
static void name_changes(const gn_settings *s, const gn_reading *before, bool live, char *text, size_t room)
{
    size_t used = 0;
    *text = 0;
    for (const struct argp_option *o = s->argp->options; o->name || o->key || o->doc; o++) {
        if (!o->name || !o->key || key_of(s, o->key).live != live || same(before, &s->next, o->key)) continue;
        const int more = snprintf(text + used, room - used, "%s%s", used ? ", " : "", o->name);
        if (more > 0 && used + (size_t)more < room) used += (size_t)more;
    }
}

void gn_settings_accept(gn_settings *s)
{
    char live[512], still[512];
    name_changes(s, s->last.list ? &s->last : &s->first, true, live, sizeof live);
    name_changes(s, &s->first, false, still, sizeof still);
    gn_log(GN_SEVERITY_INFO, "%s was read again; changed: %s", s->path, *live ? live : "nothing");
    if (*still) gn_log(GN_SEVERITY_WARN, "%s: these stay as they are until a restart: %s", s->path, still);
    drop(&s->last);
    s->last = s->next;
    s->next = (gn_reading){0};
}

void gn_settings_reject(gn_settings *s, const char *why)
{
    if (why) gn_log(GN_SEVERITY_ERROR, "%s: %s", s->path, why);
    gn_log(GN_SEVERITY_ERROR, "%s: everything stays as it was", s->path);
    drop(&s->next);
}

void gn_settings_free(gn_settings *s)
{
    drop(&s->first);
    drop(&s->last);
    drop(&s->next);
    free(s->given);
    s->given = NULL;
}
