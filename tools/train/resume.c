// SPDX-License-Identifier: Apache-2.0
#include "resume.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "examples/train/gather.h"
#include "net/clock.h"
#include "net/strangers.h"
#include "pass_on.h"
#include "tools/kit/cli.h"
#include "tools/kit/output.h"

/// A rank's files: the last checkpoint, the one before, and one that is being written.
typedef enum generation { LAST, BEFORE, COMING, GENERATIONS } generation;

static const uint64_t NONE = UINT64_MAX;  ///< no checkpoint

static volatile sig_atomic_t caught;
static uint64_t caught_at;

/// The first signal is noted. One that comes right behind it says the same: whoever ends a job
/// often signals all its processes, and a launcher its ranks. A later one ends the rank at once,
/// but for SIGXCPU, which the kernel repeats each second.
static void note_signal(int number)
{
    const uint64_t now = gn_now();
    if (!caught) {
        caught = number;
        caught_at = now;
    } else if (number != SIGXCPU && now - caught_at >= GN_SECOND) {
        (void)signal(number, SIG_DFL);
        (void)raise(number);  // as soon as this handler returns
    }
}

void gn_resume_catch_signals(void)
{
    // Batch systems send the last ones.
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGXCPU};
    struct sigaction now, ours = {.sa_handler = note_signal, .sa_flags = SA_RESTART};
    sigemptyset(&ours.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) sigaddset(&ours.sa_mask, numbers[i]);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!sigaction(numbers[i], NULL, &now) && now.sa_handler != SIG_IGN) sigaction(numbers[i], &ours, NULL);
}

int gn_resume_signal(void)
{
    return (int)caught;
}

static gn_status path_of(const char *file, unsigned rank, generation which, char path[PATH_MAX], gn_error *error)
{
    static const char *const ends[GENERATIONS] = {"", ".before", ".new"};
    const int length = snprintf(path, PATH_MAX, "%s.%u%s", file, rank, ends[which]);
    return length < PATH_MAX ? GN_OK : gn_fail(error, GN_INVALID, "--checkpoint: the path is too long");
}

/// Opens an ordinary file. Nobody may come to write into a FIFO.
static FILE *open_file(const char *path)
{
    struct stat about;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return NULL;
    FILE *file = NULL;
    if (!fstat(fd, &about) && !S_ISREG(about.st_mode))
        errno = S_ISDIR(about.st_mode) ? EISDIR : EINVAL;
    else
        file = fdopen(fd, "rb");
    if (!file) {
        const int reason = errno;
        close(fd);
        errno = reason;
    }
    return file;
}

/// Whether nothing is at `path`, or what a rank left that was killed as it wrote.
static bool may_replace(const char *path)
{
    struct stat about;
    if (lstat(path, &about)) return true;  // if it is another reason than ENOENT, open() says so later
    if (!S_ISREG(about.st_mode)) return false;
    FILE *file = open_file(path);
    if (!file) return false;
    const bool ours = gn_saved_begins(file);
    fclose(file);
    return ours;
}

/// Whether `path` is a file of any rank's checkpoint, as far as names say: FOLDER/NAME.RANK[END].
static bool is_checkpoint(const char *checkpoint, const char *path)
{
    const char *const slash = strrchr(checkpoint, '/'), *const name = slash ? slash + 1 : checkpoint;
    const char *const other = strrchr(path, '/'), *rest = other ? other + 1 : path;
    char folder[PATH_MAX], its_folder[PATH_MAX], real[PATH_MAX], its_real[PATH_MAX];
    const size_t length = strlen(name);
    if (strncmp(rest, name, length) != 0 || rest[length] != '.') return false;
    rest += length + 1;
    const size_t digits = strspn(rest, "0123456789");
    if (!digits || (rest[digits] && strcmp(rest + digits, ".before") != 0 && strcmp(rest + digits, ".new") != 0))
        return false;
    snprintf(folder, sizeof folder, "%s", checkpoint);
    snprintf(its_folder, sizeof its_folder, "%s", path);
    return realpath(dirname(folder), real) && realpath(dirname(its_folder), its_real) && !strcmp(real, its_real);
}

/// The file of --json may be no checkpoint: one would replace the other.
static gn_status check_result(const gn_train_options *o, gn_error *error)
{
    char real[PATH_MAX];
    const char *const path = o->result.json_file;
    if (!path || (!is_checkpoint(o->checkpoint, path) && !(realpath(path, real) && is_checkpoint(o->checkpoint, real))))
        return GN_OK;
    return gn_fail(error, GN_INVALID, "%s: --json and --checkpoint both write this file", path);
}

/// -f overwrites no file that the training reads.
static gn_status check_inputs(const gn_train_options *o, unsigned rank, gn_error *error)
{
    char path[PATH_MAX];
    for (generation g = LAST; g < GENERATIONS; g++)
        if (path_of(o->checkpoint, rank, g, path, error) || gn_output_check_spared(path, error)) return error->status;
    return GN_OK;
}

/// Nothing is overwritten without -f.
static gn_status check_new(const gn_train_options *o, unsigned rank, gn_error *error)
{
    char path[PATH_MAX];
    for (generation g = LAST; g <= BEFORE; g++) {
        if (path_of(o->checkpoint, rank, g, path, error)) return error->status;
        if (o->resume || o->result.force || access(path, F_OK)) continue;
        return gn_fail(error, GN_INVALID, "%s: exists already; --resume goes on from it, --force overwrites it", path);
    }
    return GN_OK;
}

gn_status gn_resume_prepare(const gn_train_options *o, unsigned first, unsigned last, gn_error *error)
{
    char path[PATH_MAX], folder[PATH_MAX];
    if (!o->checkpoint) return GN_OK;
    if (check_result(o, error)) return error->status;
    for (unsigned rank = first; rank <= last; rank++)
        if (check_inputs(o, rank, error)) return error->status;
    for (unsigned rank = first; rank <= last; rank++)
        if (check_new(o, rank, error)) return error->status;
    for (unsigned rank = first; rank <= last && !o->result.force; rank++) {
        if (path_of(o->checkpoint, rank, COMING, path, error)) return error->status;
        if (!may_replace(path))
            return gn_fail(error, GN_INVALID,
                           "%s: is not a checkpoint of gradnic's, and one would be written there; move it away, or "
                           "overwrite it with --force",
                           path);
    }
    const bool open = gn_folder_is_open(o->checkpoint, folder);
    if (access(folder, W_OK | X_OK)) return gn_fail(error, GN_IO, "--checkpoint: %s: %s", folder, strerror(errno));
    if (open && !first && !o->result.quiet)
        gn_cli_note(o->program,
                    "everybody may put files into %s, and so stop this training: a folder of your own keeps "
                    "checkpoints better",
                    folder);
    return GN_OK;
}

/// The trainer's own arrays.
static gn_saved_state state_of(const gn_trainer *t, uint64_t step)
{
    gn_saved_state state = {.step = step,
                            .loss = t->loss,
                            .losses = t->losses,
                            .weights = t->mlp.weights,
                            .velocity = t->velocity,
                            .residual = t->averager.residual};
    for (uint32_t id = 0; id < GN_MLP_LAYERS_MAX; id++) state.scale[id] = gn_comm_scale(t->averager.comm, id);
    return state;
}

static gn_status name_failure(const char *path, gn_error *error)
{
    const gn_error why = *error;
    return gn_fail(error, why.status, "%s: %.300s", path, why.text);
}

static gn_status say_busy(const char *path, gn_error *error)
{
    return gn_fail(error, GN_IO, "%s: another training that runs keeps this checkpoint; end it, or name another file",
                   path);
}

/// Some file systems have no locks. Then nobody keeps away.
static bool is_busy(int fd)
{
    return flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK;
}

static int open_to_lock(const char *path)
{
    const int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    return fd >= 0 ? fd : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

static bool is_file(int fd, const char *path)
{
    struct stat there, opened;
    return !stat(path, &there) && !fstat(fd, &opened) && there.st_ino == opened.st_ino && there.st_dev == opened.st_dev;
}

/// Locks the file at `path`, or at `other` where there is none. One of a rank that is about to end
/// is waited for. A rank that saves gives its files other names, so it is looked at twice.
/// @return in `lock` the file, -1: there is none
static gn_status lock_file(const char *path, const char *other, int *lock, gn_error *error)
{
    enum { TURN_MS = 50, TURNS = 100 };
    for (int turn = 0; turn < TURNS; turn++) {
        bool first = true;
        *lock = open_to_lock(path);
        if (*lock < 0 && other) first = false, *lock = open_to_lock(other);
        if (*lock < 0) return GN_OK;  // whoever reads or writes it says why
        const bool busy = is_busy(*lock);
        if (!busy && is_file(*lock, first ? path : other) && (first || access(path, F_OK))) return GN_OK;
        close(*lock);
        *lock = -1;
        if (busy) poll(NULL, 0, TURN_MS);
    }
    return say_busy(path, error);
}

/// What a rank left that was killed as it wrote goes away. Not what another one is writing.
static gn_status clear_way(const char *path, gn_error *error)
{
    int lock;
    if (lock_file(path, NULL, &lock, error)) return error->status;
    (void)unlink(path);
    if (lock >= 0) close(lock);
    return GN_OK;
}

/// A new file with the state in it, and on the disk. Who may read it may lock it, and so hold up
/// the training. So strangers may not. @return in `lock` the file, locked
static gn_status write_file(const gn_resume *r, const char *path, uint64_t step, int *lock, gn_error *error)
{
    const gn_saved_state state = state_of(r->trainer, step);
    if (clear_way(path, error)) return error->status;
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0660);
    *lock = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
    FILE *file = *lock < 0 ? NULL : fdopen(fd, "wb");
    if (!file) {
        gn_fail(error, GN_IO, "%s: %s", path, strerror(errno));
        if (fd >= 0) close(fd);
        return error->status;
    }
    if (is_busy(fd)) {  // somebody else's since a moment
        fclose(file);
        close(*lock);
        *lock = -1;
        return say_busy(path, error);
    }
    gn_status wrong = gn_saved_write(file, &r->task, &state, error);
    if (!wrong && fsync(fd)) wrong = gn_fail(error, GN_IO, "%s", strerror(errno));
    if (fclose(file) && !wrong) wrong = gn_fail(error, GN_IO, "%s", strerror(errno));
    if (!wrong) return GN_OK;
    (void)unlink(path);
    return name_failure(path, error);
}

static gn_status rename_file(const char *from, const char *to, gn_error *error)
{
    return rename(from, to) && errno != ENOENT ? gn_fail(error, GN_IO, "%s: %s", to, strerror(errno)) : GN_OK;
}

/// Names in the folder are on the disk only after this.
static void sync_folder(const char *path)
{
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", path);
    const int fd = open(dirname(folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return;
    (void)fsync(fd);
    close(fd);
}

static gn_status paths_of(const gn_resume *r, char path[GENERATIONS][PATH_MAX], gn_error *error)
{
    for (generation g = LAST; g < GENERATIONS; g++)
        if (path_of(r->options->checkpoint, (unsigned)r->trainer->rank, g, path[g], error)) return error->status;
    return GN_OK;
}

/// Another training began in the meantime, or what was there goes.
static gn_status make_room(gn_resume *r, char path[GENERATIONS][PATH_MAX], gn_error *error)
{
    if (r->lock < 0 && (lock_file(path[LAST], path[BEFORE], &r->lock, error) ||
                        check_new(r->options, (unsigned)r->trainer->rank, error)))
        return error->status;
    if ((unlink(path[BEFORE]) && errno != ENOENT) || (unlink(path[LAST]) && errno != ENOENT))
        return gn_fail(error, GN_IO, "%s: %s", path[LAST], strerror(errno));
    return GN_OK;
}

/// At every moment the last checkpoint, or the one before, is there. `anew`: those that are there
/// are another training's.
static gn_status save(gn_resume *r, uint64_t step, bool anew, gn_error *error)
{
    char path[GENERATIONS][PATH_MAX];
    int lock = -1;
    gn_status wrong = paths_of(r, path, error);
    if (!wrong) wrong = write_file(r, path[COMING], step, &lock, error);
    if (!wrong) wrong = anew ? make_room(r, path, error) : rename_file(path[LAST], path[BEFORE], error);
    if (!wrong) wrong = rename_file(path[COMING], path[LAST], error);
    if (wrong) {
        if (lock >= 0) (void)unlink(path[COMING]), close(lock);
        return wrong;
    }
    sync_folder(path[LAST]);
    if (r->lock >= 0) close(r->lock);
    r->lock = lock;
    r->saved = step;
    return GN_OK;
}

/// Reads one file into `state`. No file: the step NONE.
static gn_status read_file(const gn_resume *r, const char *path, gn_saved_state *state, gn_error *error)
{
    FILE *file = open_file(path);
    state->step = NONE;
    if (!file && errno == EINVAL) return gn_fail(error, GN_INVALID, "%s: is not an ordinary file", path);
    if (!file) return errno == ENOENT ? GN_OK : gn_fail(error, GN_IO, "%s: %s", path, strerror(errno));
    gn_status wrong = gn_strangers_refuse(fileno(file), path, error);
    if (!wrong && gn_saved_read(file, &r->task, state, error)) wrong = name_failure(path, error);
    fclose(file);
    return wrong;
}

/// Checks both files. @return their steps in `steps`
static gn_status look(const gn_resume *r, char path[GENERATIONS][PATH_MAX], uint64_t steps[2], gn_error *error)
{
    const size_t parameters = r->task.parameters;
    float *room = malloc(3 * parameters * sizeof *room);
    gn_saved_state state = {.weights = room};
    gn_status wrong = GN_OK;
    if (!room) return gn_fail_memory(error);
    state.velocity = room + parameters;
    state.residual = room + 2 * parameters;
    for (generation g = LAST; g <= BEFORE && !wrong; g++) {
        wrong = read_file(r, path[g], &state, error);
        steps[g] = state.step;
    }
    free(room);
    return wrong;
}

static bool has(const uint64_t *steps, uint64_t step)
{
    return steps[LAST] == step || steps[BEFORE] == step;
}

/// The latest step that all ranks have. `all`: two steps of each.
static uint64_t common_step(const uint64_t *all, int size)
{
    uint64_t best = NONE;
    for (generation g = LAST; g <= BEFORE; g++) {
        const uint64_t step = all[g];
        bool everywhere = step != NONE && (best == NONE || step > best);
        for (int rank = 1; rank < size && everywhere; rank++) everywhere = has(all + 2 * rank, step);
        if (everywhere) best = step;
    }
    return best;
}

/// "step 20 or 10", "none"
static const char *steps_text(const uint64_t *steps, char text[64])
{
    const uint64_t first = steps[LAST] != NONE ? steps[LAST] : steps[BEFORE];
    if (first == NONE)
        snprintf(text, 64, "none");
    else if (steps[BEFORE] == NONE || steps[BEFORE] == first)
        snprintf(text, 64, "step %" PRIu64, first);
    else
        snprintf(text, 64, "step %" PRIu64 " or %" PRIu64, first, steps[BEFORE]);
    return text;
}

/// Whether no rank has made a step that is saved: then all begin anew.
static bool all_at_start(const uint64_t *all, int size)
{
    for (int i = 0; i < 2 * size; i++)
        if (all[i] != NONE && all[i]) return false;
    return true;
}

static gn_status agree(const gn_resume *r, const uint64_t mine[2], uint64_t *step, gn_train_error *error)
{
    const gn_trainer *t = r->trainer;
    uint64_t *all = malloc((size_t)t->size * 2 * sizeof *all);
    char text[2][64];
    gn_status wrong = GN_OK;
    if (!all) return gn_train_fail(error, GN_NO_MEMORY, "out of memory");
    const gn_status status = gn_gather_words(t->averager.comm, mine, 2, all);
    if (status)
        wrong = gn_train_fail(error, status, "comparing checkpoints: %s: %s", gn_status_string(status),
                              gn_comm_last_error(t->averager.comm));
    *step = wrong ? NONE : common_step(all, t->size);
    if (!wrong && *step == NONE && !all_at_start(all, t->size)) {
        int other = 1;
        while (other + 1 < t->size &&
               common_step((const uint64_t[]){all[0], all[1], all[2 * other], all[2 * other + 1]}, 2) != NONE)
            other++;
        wrong = gn_train_fail(
            error, GN_MISMATCH, "--resume: no checkpoint that all ranks have: rank 0 has %s, rank %d has %s",
            steps_text(all, text[0]), other, steps_text(all + 2 * (t->size > 1 ? other : 0), text[1]));
    }
    free(all);
    return wrong;
}

/// Loads the checkpoint of `step` into the trainer. A later one goes: the others do not have it.
static gn_status load(gn_resume *r, char path[GENERATIONS][PATH_MAX], const uint64_t steps[2], uint64_t step,
                      gn_error *error)
{
    gn_trainer *t = r->trainer;
    gn_saved_state state = state_of(t, 0);
    if (steps[LAST] != step) {
        int lock = r->lock;
        if (lock < 0 || !is_file(lock, path[BEFORE])) {
            if (lock_file(path[BEFORE], NULL, &lock, error)) return error->status;
            if (r->lock >= 0) close(r->lock);
            r->lock = lock;
        }
        if (rename_file(path[BEFORE], path[LAST], error)) return error->status;
    }
    if (read_file(r, path[LAST], &state, error)) return error->status;
    if (state.step != step) return gn_fail(error, GN_IO, "%s: it changed while it was read", path[LAST]);
    for (uint32_t id = 0; id < r->task.scales; id++)
        if (gn_comm_set_scale(t->averager.comm, id, state.scale[id]))
            return gn_fail(error, GN_CORRUPT, "%s: the scale of bucket %u is wrong", path[LAST], (unsigned)id);
    t->done = r->saved = step;
    t->loss = state.loss;
    t->losses = state.losses;
    return GN_OK;
}

gn_status gn_resume_begin(gn_resume *r, const gn_train_options *options, gn_trainer *trainer, gn_train_error *error)
{
    char path[GENERATIONS][PATH_MAX];
    uint64_t steps[2] = {NONE, NONE}, step = NONE;
    gn_error why;
    *r = (gn_resume){.options = options, .trainer = trainer, .lock = -1};
    if (!options->checkpoint) return GN_OK;
    r->task = gn_saved_task_of(trainer);
    gn_status wrong = paths_of(r, path, &why);
    if (!wrong) wrong = lock_file(path[LAST], path[BEFORE], &r->lock, &why);
    // Another training may have begun since gn_resume_prepare(), and be done by now.
    if (!wrong) wrong = check_new(options, (unsigned)trainer->rank, &why);
    if (!wrong && options->resume) wrong = look(r, path, steps, &why);
    if (wrong) return gn_train_pass_on(wrong, &why, error);
    if (options->resume && agree(r, steps, &step, error)) return GN_MISMATCH;
    // A new training saves its start. A later rank without a file is an error.
    wrong = step == NONE ? save(r, 0, true, &why) : load(r, path, steps, step, &why);
    return gn_train_pass_on(wrong, &why, error);
}

/// Which signal any rank has got; 0: none. All ranks ask after the same step.
static gn_status ask(gn_resume *r, int *any, gn_train_error *error)
{
    const gn_trainer *t = r->trainer;
    const uint64_t mine = (uint64_t)caught;
    uint64_t *all = malloc((size_t)t->size * sizeof *all);
    if (!all) return gn_train_fail(error, GN_NO_MEMORY, "out of memory");
    const gn_status status = gn_gather_words(t->averager.comm, &mine, 1, all);
    *any = 0;
    for (int rank = 0; rank < t->size && !status; rank++)
        if (all[rank]) *any = all[rank] < NSIG ? (int)all[rank] : SIGTERM;
    free(all);
    if (!status) return GN_OK;
    return gn_train_fail(error, status, "step: %s: %s", gn_status_string(status), gn_comm_last_error(t->averager.comm));
}

gn_status gn_resume_step(gn_resume *r, uint64_t step, gn_train_error *error)
{
    const gn_train_options *o = r->options;
    gn_error why;
    int any;
    if (!o->checkpoint) return GN_OK;
    gn_status wrong = ask(r, &any, error);
    if (wrong) return wrong;
    const bool due = any || (o->checkpoint_steps && step % o->checkpoint_steps == 0);
    if (due && step != r->saved && save(r, step, false, &why)) return gn_train_pass_on(why.status, &why, error);
    if (!any || step == r->trainer->steps) return GN_OK;
    r->interrupted = any;
    return gn_train_fail(error, GN_IO, "interrupted after step %" PRIu64 "; --resume goes on from there", step);
}
