// SPDX-License-Identifier: Apache-2.0
#include "saved.h"

#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "examples/train/hash.h"
#include "examples/train/words.h"

#define DAMAGED "; remove it, and the one before it is used"

static const char magic[8] = {'G', 'N', 'T', 'R', 'A', 'I', 'N', '1'};

enum { RANK, SIZE, STEP, LOSS, LOSSES, SETTINGS, PARAMETERS, ARRAYS, HEADER };

/// The arrays of a file: these, and one with a residual, and SCALED with scales.
enum { ARRAYS_LEAST = 2, SCALED = 2, ARRAYS_MOST = 5 };

/// A file that is written or read, and the hash of its bytes so far.
typedef struct stream {
    FILE *file;
    uint64_t hash;
} stream;

/// A word for --groups: 0 is by host, then ranks of a group, then numbers of groups.
enum { GROUPS_NUMBER = 1 << 16 };

static uint64_t word_of_groups(const gn_comm_config *c)
{
    uint16_t number;
    const uint16_t by = gn_comm_config_groups(c, &number);
    return by == GN_GROUPS_BY_NUMBER ? GROUPS_NUMBER + (uint64_t)number : by;
}

/// How vectors are added, where that decides the bits: 0 in what does not.
typedef struct adding {
    uint64_t algorithm, groups, half, values;
    bool cuts;  // paper's, within a group
} adding;

/// What lattice and dense have rounded is added exactly, in any order. `c`: as chosen.
static adding adding_of(const gn_comm_config *c)
{
    const bool paper = c->quantise && c->codec.profile == GN_PAPER;
    if (c->quantise && !paper) return (adding){0};
    adding a = {.algorithm = (uint64_t)c->algorithm + 1};
    if (gn_algorithm_has_groups(c->algorithm)) {
        a.groups = word_of_groups(c);
        a.cuts = paper && c->group_offload != GN_OFFLOAD_NONE;
    }
    if (c->algorithm == GN_SWITCH) {
        a.half = c->switch_half == GN_HALF_ALL ? GN_HALF_ALL : GN_HALF_NONE;  // gradients are f32
        a.values = a.half ? 0 : c->switch_values;                             // each packet has its exponent
    }
    return a;
}

/// Settings of the exchange decide the bits, too: how values are rounded, and how they are added.
/// How they travel does not, but with paper, which is cut wherever it is coded.
gn_saved_task gn_saved_task_of(const gn_trainer *t)
{
    const gn_train_settings *s = t->settings;
    gn_comm_config chosen = s->comm;
    gn_comm_config_choose(&chosen);
    const gn_comm_config *c = &chosen;
    const bool cuts = c->quantise && c->codec.profile == GN_PAPER && c->offload != GN_OFFLOAD_NONE;
    const adding a = adding_of(c);
    const gn_saved_setting settings[GN_SAVED_SETTINGS] = {
        {"--layers", GN_SAVED_NUMBER, s->layers},
        {"--hidden", GN_SAVED_NUMBER, s->hidden},
        {"--batch", GN_SAVED_NUMBER, s->batch},
        {"--classes", GN_SAVED_NUMBER, s->classes},
        {"--augment", GN_SAVED_NUMBER, s->copies},
        {"--seed", GN_SAVED_NUMBER, s->seed},
        {"--learning-rate", GN_SAVED_REAL, gn_word_of((double)s->sgd.rate)},
        {"--momentum", GN_SAVED_REAL, gn_word_of((double)s->sgd.momentum)},
        {"--weight-decay", GN_SAVED_REAL, gn_word_of((double)s->sgd.weight_decay)},
        {"--rate-drop", GN_SAVED_REAL, gn_word_of((double)s->rate_drop)},
        {"--rate-drop-steps", GN_SAVED_NUMBER, s->rate_drop_steps},
        {"--overlap", GN_SAVED_ONOFF, s->overlap},
        {"--feedback", GN_SAVED_ONOFF, s->feedback},
        {"paper's cuts on the way (--offload)", GN_SAVED_ONOFF, cuts},
        {"compression (-p)", GN_SAVED_ONOFF, c->quantise},
        {"--profile", GN_SAVED_PROFILE, c->quantise ? (uint64_t)c->codec.profile : 0},
        {"--bound", GN_SAVED_REAL, c->quantise ? gn_word_of(c->codec.bound_exp) : 0},
        {"--scale", GN_SAVED_SCALE, c->quantise ? (uint64_t)c->scale : 0},
        {"images, as their number", GN_SAVED_NUMBER, t->data->train.count},
        {"data, as its hash", GN_SAVED_HASH, gn_trainer_data_hash(t)},
        // Behind GN_SAVED_SETTINGS_LEAST
        {"--algorithm", GN_SAVED_ALGORITHM, a.algorithm},
        {"--groups", GN_SAVED_GROUPS, a.groups},
        {"paper's cuts within a group (--group-offload)", GN_SAVED_ONOFF, a.cuts},
        {"--switch-half", GN_SAVED_HALF, a.half},
        {"--switch-values", GN_SAVED_NUMBER, a.values},
    };
    gn_saved_task task = {.rank = t->rank,
                          .size = t->size,
                          .parameters = gn_mlp_parameters(&t->mlp),
                          .residual = t->averager.residual,
                          .scales = !c->quantise || c->scale != GN_SCALE_AUTO ? 0
                                    : s->overlap                              ? s->layers
                                                                              : 1};
    memcpy(task.setting, settings, sizeof settings);
    return task;
}

static void put(stream *s, const void *bytes, size_t size)
{
    (void)!fwrite(bytes, 1, size, s->file);  // ferror() says it in the end
}

static void put_word(stream *s, uint64_t word)
{
    const uint64_t little = htole64(word);
    s->hash = gn_hash_step(s->hash, word);
    put(s, &little, sizeof little);
}

static void put_floats(stream *s, const float *values, size_t count)
{
    uint32_t piece[4096];
    s->hash = gn_hash_floats(s->hash, values, count);
    for (size_t at = 0; at < count;) {
        const size_t n = count - at < 4096 ? count - at : 4096;
        memcpy(piece, values + at, n * sizeof *piece);
        for (size_t i = 0; i < n; i++) piece[i] = htole32(piece[i]);
        put(s, piece, n * sizeof *piece);
        at += n;
    }
}

gn_status gn_saved_write(FILE *file, const gn_saved_task *task, const gn_saved_state *state, gn_error *error)
{
    stream s = {file, GN_HASH_START};
    const uint64_t header[HEADER] = {[RANK] = (uint64_t)task->rank,
                                     [SIZE] = (uint64_t)task->size,
                                     [STEP] = state->step,
                                     [LOSS] = gn_word_of(state->loss),
                                     [LOSSES] = state->losses,
                                     [SETTINGS] = GN_SAVED_SETTINGS,
                                     [PARAMETERS] = task->parameters,
                                     [ARRAYS] = (state->residual ? 3u : 2u) + (task->scales ? SCALED : 0u)};
    put(&s, magic, sizeof magic);
    for (unsigned i = 0; i < HEADER; i++) put_word(&s, header[i]);
    for (unsigned i = 0; i < GN_SAVED_SETTINGS; i++) put_word(&s, task->setting[i].word);
    put_floats(&s, state->weights, task->parameters);
    put_floats(&s, state->velocity, task->parameters);
    if (state->residual) put_floats(&s, state->residual, task->parameters);
    for (unsigned i = 0; i < task->scales; i++) put_word(&s, (uint64_t)(int64_t)state->scale[i]);
    put_word(&s, s.hash);
    if (fflush(file) || ferror(file)) return gn_fail(error, GN_IO, "%s", strerror(errno));
    return GN_OK;
}

bool gn_saved_begins(FILE *file)
{
    char start[sizeof magic];
    const size_t got = fread(start, 1, sizeof start, file);
    return !ferror(file) && !memcmp(start, magic, got);
}

static gn_status too_short(stream *s, gn_error *error)
{
    if (ferror(s->file)) return gn_fail(error, GN_IO, "%s", strerror(errno));
    return gn_fail(error, GN_CORRUPT, "the file ends too early" DAMAGED);
}

static gn_status get_word(stream *s, uint64_t *word, gn_error *error)
{
    uint64_t little;
    if (fread(&little, sizeof little, 1, s->file) != 1) return too_short(s, error);
    *word = le64toh(little);
    s->hash = gn_hash_step(s->hash, *word);
    return GN_OK;
}

static gn_status get_floats(stream *s, float *values, size_t count, gn_error *error)
{
    if (fread(values, sizeof *values, count, s->file) != count) return too_short(s, error);
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        bits = le32toh(bits);
        memcpy(&values[i], &bits, sizeof bits);
    }
    s->hash = gn_hash_floats(s->hash, values, count);
    return GN_OK;
}

/// As the option is written. The word may come from a file, so it may be anything.
static const char *word_text(gn_saved_kind kind, uint64_t word, char text[32])
{
    if (kind == GN_SAVED_REAL)
        snprintf(text, 32, "%.7g", gn_word_number(word));
    else if (kind == GN_SAVED_HASH)
        snprintf(text, 32, "%016" PRIx64, word);
    else if (kind == GN_SAVED_ONOFF && word <= 1)
        snprintf(text, 32, "%s", word ? "on" : "off");
    else if (kind == GN_SAVED_SCALE && word <= 1)
        snprintf(text, 32, "%s", word ? "auto" : "none");
    else if (kind == GN_SAVED_PROFILE && word < 256 && gn_profile_name((gn_profile)word))
        snprintf(text, 32, "%s", gn_profile_name((gn_profile)word));
    else if (kind == GN_SAVED_ALGORITHM && word && word <= GN_ALGORITHMS)
        snprintf(text, 32, "%s", gn_algorithm_name((gn_algorithm)(word - 1)));
    else if (kind == GN_SAVED_GROUPS && !word)
        snprintf(text, 32, "host");
    else if (kind == GN_SAVED_GROUPS && word >= GROUPS_NUMBER)
        snprintf(text, 32, "number:%" PRIu64, word - GROUPS_NUMBER);
    else if (kind == GN_SAVED_HALF && word < GN_HALVES)
        snprintf(text, 32, "%s", gn_half_name((gn_half)word));
    else
        snprintf(text, 32, "%" PRIu64, word);
    return text;
}

static gn_status check_setting(const gn_saved_setting *mine, uint64_t word, gn_error *error)
{
    if (word == mine->word) return GN_OK;
    char there[32], now[32];
    return gn_fail(error, GN_MISMATCH, "%s was %s there, and is %s now", mine->name, word_text(mine->kind, word, there),
                   word_text(mine->kind, mine->word, now));
}

static gn_status check_header(const gn_saved_task *task, const uint64_t *header, gn_error *error)
{
    const uint64_t settings = header[SETTINGS];
    if ((settings != GN_SAVED_SETTINGS && settings != GN_SAVED_SETTINGS_LEAST) || header[ARRAYS] < ARRAYS_LEAST ||
        header[ARRAYS] > ARRAYS_MOST)
        return gn_fail(error, GN_CORRUPT, "its header is wrong" DAMAGED);
    if (header[RANK] != (uint64_t)task->rank || header[SIZE] != (uint64_t)task->size)
        return gn_fail(error, GN_MISMATCH, "it is of rank %" PRIu64 " of %" PRIu64 ", and this is rank %d of %d",
                       header[RANK], header[SIZE], task->rank, task->size);
    return GN_OK;
}

static gn_status read_head(stream *s, const gn_saved_task *task, uint64_t *header, gn_error *error)
{
    char start[sizeof magic];
    if (fread(start, sizeof start, 1, s->file) != 1) return too_short(s, error);
    if (memcmp(start, magic, sizeof magic) != 0) return gn_fail(error, GN_CORRUPT, "it is not a checkpoint of gradnic");
    for (unsigned i = 0; i < HEADER; i++)
        if (get_word(s, &header[i], error)) return error->status;
    if (check_header(task, header, error)) return error->status;
    for (unsigned i = 0; i < header[SETTINGS]; i++) {
        uint64_t word = 0;
        if (get_word(s, &word, error) || check_setting(&task->setting[i], word, error)) return error->status;
    }
    // Only now: other settings explain another number of parameters.
    const uint64_t more = header[ARRAYS] - ARRAYS_LEAST;
    if (header[PARAMETERS] != task->parameters || (more & 1) != task->residual || ((more & SCALED) && !task->scales))
        return gn_fail(error, GN_CORRUPT, "its header is wrong" DAMAGED);
    return GN_OK;
}

static gn_status get_scales(stream *s, const gn_saved_task *task, bool there, gn_saved_state *state, gn_error *error)
{
    for (unsigned i = 0; i < task->scales; i++) {
        uint64_t word = (uint64_t)(int64_t)GN_SCALE_UNSEEN;
        if (there && get_word(s, &word, error)) return error->status;
        const int64_t scale = (int64_t)word;
        if (scale < INT16_MIN || scale > INT16_MAX) return gn_fail(error, GN_CORRUPT, "a scale is wrong" DAMAGED);
        state->scale[i] = (int)scale;
    }
    return GN_OK;
}

gn_status gn_saved_read(FILE *file, const gn_saved_task *task, gn_saved_state *state, gn_error *error)
{
    stream s = {file, GN_HASH_START};
    uint64_t header[HEADER] = {0}, check = 0;
    if (read_head(&s, task, header, error) || get_floats(&s, state->weights, task->parameters, error) ||
        get_floats(&s, state->velocity, task->parameters, error) ||
        (task->residual && get_floats(&s, state->residual, task->parameters, error)) ||
        get_scales(&s, task, header[ARRAYS] >= ARRAYS_LEAST + SCALED, state, error))
        return error->status;
    const uint64_t expected = s.hash;
    if (get_word(&s, &check, error)) return error->status;
    if (check != expected || fgetc(file) != EOF)
        return gn_fail(error, GN_CORRUPT, "its bytes do not fit their check" DAMAGED);
    state->step = header[STEP];
    state->loss = gn_word_number(header[LOSS]);
    state->losses = header[LOSSES];
    return GN_OK;
}
