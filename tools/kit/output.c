// SPDX-License-Identifier: Apache-2.0
#include "output.h"
#include "units.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { OPEN_AT_ONCE = 32 };

struct gn_output {
    char *name;       // for messages
    char *target;     // the file's final path; NULL if written to directly
    char *temporary;  // its path until then; NULL: it has none
    FILE *stream;
    bool force;
    bool seekable;
    int place;
    int unnamed;  // the file, until it has a name; -1: `temporary` is it, or the target itself
};

// All temporary files, for the signal handler and exit().
static _Atomic(char *) temporaries[OPEN_AT_ONCE];
static const char *targets[OPEN_AT_ONCE];  // what they will be called
static const int deadly_signals[] = {SIGINT,  SIGTERM, SIGHUP,  SIGPIPE, SIGXFSZ,
                                     SIGQUIT, SIGXCPU, SIGALRM, SIGUSR1, SIGUSR2};  // batch systems send the last ones
enum { SIGNALS = sizeof deadly_signals / sizeof *deadly_signals };

static void remove_temporaries(void)
{
    for (int i = 0; i < OPEN_AT_ONCE; i++) {
        char *path = atomic_load(&temporaries[i]);
        if (path) unlink(path);  // async-signal-safe
    }
}

static void on_deadly_signal(int number)
{
    remove_temporaries();
    raise(number);  // SA_RESETHAND: the default action, as soon as this handler returns
}

static void install_once(void)
{
    static bool installed;
    if (installed) return;
    installed = true;
    atexit(remove_temporaries);
    for (int i = 0; i < SIGNALS; i++) {
        struct sigaction now, ours = {.sa_handler = on_deadly_signal, .sa_flags = (int)SA_RESETHAND};
        sigemptyset(&ours.sa_mask);
        // The action stays if the command handles the signal itself, or if it is ignored (nohup).
        if (!sigaction(deadly_signals[i], NULL, &now) && now.sa_handler == SIG_DFL)
            sigaction(deadly_signals[i], &ours, NULL);
    }
}

static void block_signals(sigset_t *before)
{
    sigset_t set;
    sigemptyset(&set);
    for (int i = 0; i < SIGNALS; i++) sigaddset(&set, deadly_signals[i]);
    pthread_sigmask(SIG_BLOCK, &set, before);
}

/// Enters the output in the tables: no other one takes its target.
static gn_status take_place(gn_output *output, gn_error *error)
{
    int place = 0;
    while (place < OPEN_AT_ONCE && targets[place]) place++;
    if (place == OPEN_AT_ONCE) return gn_fail(error, GN_IO, "%s: %s", output->name, strerror(EMFILE));
    output->place = place;
    targets[place] = output->target;
    return GN_OK;
}

/// Where a file without a name can be given one.
static void path_of_descriptor(int fd, char path[32])
{
    snprintf(path, 32, "/proc/self/fd/%d", fd);
}

/// A temporary file without a name: nothing can leave it behind, not even SIGKILL. -1: it is not
/// possible here (NFS, no /proc).
static int create_unnamed(gn_output *output, int folder)
{
    char path[32], *in = strndup(output->target, (size_t)folder);
    const int fd = in ? open(in, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600) : -1;
    free(in);
    if (fd < 0) return -1;
    path_of_descriptor(fd, path);
    output->unnamed = access(path, F_OK) ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (output->unnamed >= 0) return fd;
    close(fd);
    return -1;
}

/// A temporary file with a name, which no signal but SIGKILL can leave behind.
static int create_named(gn_output *output, int folder)
{
    sigset_t before;
    if (asprintf(&output->temporary, "%.*s.gradnic-XXXXXX", folder, output->target) < 0) {
        output->temporary = NULL;
        return -1;
    }
    block_signals(&before);
    const int fd = mkostemp(output->temporary, O_CLOEXEC);
    if (fd >= 0) atomic_store(&temporaries[output->place], output->temporary);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return fd;
}

static void output_free(gn_output *output)
{
    if (output->place >= 0) {
        atomic_store(&temporaries[output->place], NULL);
        targets[output->place] = NULL;
    }
    if (output->unnamed >= 0) close(output->unnamed);
    free(output->name);
    free(output->target);
    free(output->temporary);
    free(output);
}

static mode_t new_file_mode(void)
{
    const mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

/// Two outputs under one name, however it is spelled: one would overwrite the other.
static gn_status check_others(const gn_output *output, gn_error *error)
{
    for (int i = 0; i < OPEN_AT_ONCE; i++)
        if (targets[i] && !strcmp(targets[i], output->target))
            return gn_fail(error, GN_INVALID, "%s: another option writes this file, too", output->name);
    return GN_OK;
}

/// The access control list of the file that is replaced, or that it has none: the new file may have
/// its folder's. @return false: it cannot be kept
static bool take_list(int fd, const char *target)
{
    static const char name[] = "system.posix_acl_access";
    char list[4096];
    const ssize_t bytes = getxattr(target, name, list, sizeof list);
    if (bytes > 0) return !fsetxattr(fd, name, list, (size_t)bytes, 0);
    const int reason = errno;
    (void)fremovexattr(fd, name);
    return !bytes || reason == ENODATA || reason == EOPNOTSUPP;
}

/// The mode of the new file. It keeps owner, group and list of the file that it replaces, as far as
/// we may. A group that it cannot keep loses its rights: ours is another one. So does it without
/// the list: with one, the mode's bits of the group are the list's limit, and not the group's.
static mode_t take_over(int fd, const struct stat *old, const char *target)
{
    if (!old) return new_file_mode();
    mode_t mode = old->st_mode & 07777;
    if (fchown(fd, old->st_uid, old->st_gid)) mode &= fchown(fd, (uid_t)-1, old->st_gid) ? 0707 : 0777;
    return take_list(fd, target) ? mode : mode & 07707;
}

static gn_status open_temporary(gn_output *output, const struct stat *old, gn_error *error)
{
    const char *slash = strrchr(output->target, '/');
    const int folder = slash ? (int)(slash - output->target) + 1 : 0;
    if (check_others(output, error) || take_place(output, error)) return error->status;
    install_once();
    int fd = create_unnamed(output, folder);
    if (fd < 0) fd = create_named(output, folder);
    if (fd < 0) return gn_fail(error, GN_IO, "%s: %s", output->name, strerror(errno));
    if (fchmod(fd, take_over(fd, old, output->target)) || !(output->stream = fdopen(fd, "wb"))) {
        gn_fail(error, GN_IO, "%s: %s", output->name, strerror(errno));
        if (output->temporary) unlink(output->temporary);
        close(fd);
        return error->status;
    }
    return GN_OK;
}

/// The path of a file that is not there yet, without links and dots in its folder. NULL: no such
/// folder, or out of memory.
static char *new_target(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    char *real = folder ? realpath(folder, NULL) : NULL, *target = NULL;
    if (real && asprintf(&target, "%s/%s", strcmp(real, "/") ? real : "", slash ? slash + 1 : path) < 0) target = NULL;
    free(folder);
    free(real);
    return target;
}

// Every file that the command reads.
static struct spared {
    dev_t device;
    ino_t file;
} * spared;
static size_t spared_count;

void gn_output_spare(int fd)
{
    struct stat st;
    if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode)) return;
    for (size_t i = 0; i < spared_count; i++)
        if (spared[i].device == st.st_dev && spared[i].file == st.st_ino) return;
    struct spared *more = realloc(spared, (spared_count + 1) * sizeof *more);
    if (!more) return;
    spared = more;
    spared[spared_count++] = (struct spared){st.st_dev, st.st_ino};
}

void gn_output_spare_path(const char *path)
{
    const int fd = open(path, O_PATH | O_CLOEXEC);
    gn_output_spare(fd);
    if (fd >= 0) close(fd);
}

gn_status gn_output_check_spared(const char *path, gn_error *error)
{
    struct stat st;
    if (stat(path, &st)) return GN_OK;
    for (size_t i = 0; i < spared_count; i++)
        if (spared[i].device == st.st_dev && spared[i].file == st.st_ino)
            return gn_fail(error, GN_INVALID, "%s: is read by this command; give the output another name", path);
    return GN_OK;
}

static gn_status open_path(gn_output *output, const char *path, gn_error *error)
{
    struct stat st;
    if (!*path) return gn_fail(error, GN_INVALID, "the name of an output file is empty");
    if (stat(path, &st)) {
        if (errno != ENOENT) return gn_fail(error, GN_IO, "%s: %s", path, strerror(errno));
        output->target = new_target(path);
        if (!output->target) return gn_fail(error, GN_IO, "%s: %s", path, strerror(errno));
        return open_temporary(output, NULL, error);
    }
    if (S_ISDIR(st.st_mode)) return gn_fail(error, GN_INVALID, "%s: is a folder", path);
    if (!S_ISREG(st.st_mode)) {
        output->stream = fopen(path, "wbe");
        return output->stream ? GN_OK : gn_fail(error, GN_IO, "%s: %s", path, strerror(errno));
    }
    gn_status wrong = gn_output_check_spared(path, error);
    if (!wrong) wrong = gn_output_check_exists(path, output->force, error);
    if (wrong) return wrong;
    output->target = realpath(path, NULL);  // a symbolic link stays one
    if (!output->target) return gn_fail(error, GN_IO, "%s: %s", path, strerror(errno));
    return open_temporary(output, &st, error);
}

gn_status gn_output_check_inputs(const char *path, const char *const *inputs, size_t count, gn_error *error)
{
    struct stat target, input;
    if (!strcmp(path, "-") || stat(path, &target) || !S_ISREG(target.st_mode)) return GN_OK;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(inputs[i], "-") ? stat(inputs[i], &input) : fstat(STDIN_FILENO, &input)) continue;
        if (input.st_dev == target.st_dev && input.st_ino == target.st_ino)
            return gn_fail(error, GN_INVALID, "%s: is the input; give the output another name", path);
    }
    return GN_OK;
}

gn_status gn_output_check_exists(const char *path, bool force, gn_error *error)
{
    struct stat st;
    if (force || stat(path, &st) || !S_ISREG(st.st_mode)) return GN_OK;
    return gn_fail(error, GN_INVALID, "%s: exists already; --force overwrites it", path);
}

gn_status gn_output_open(gn_output **result, const char *path, bool force, gn_error *error)
{
    gn_output *output = calloc(1, sizeof *output);
    if (!output) return gn_fail_memory(error);
    output->place = output->unnamed = -1;
    output->force = force;
    const bool standard = !strcmp(path, "-");
    output->name = strdup(standard ? "standard output" : path);
    if (standard) output->stream = stdout;
    gn_status wrong = !output->name ? gn_fail_memory(error) : standard ? GN_OK : open_path(output, path, error);
    if (wrong) {
        output_free(output);
        return wrong;
    }
    const int flags = fcntl(fileno(output->stream), F_GETFL);
    const bool appends = flags >= 0 && (flags & O_APPEND);  // ">>": a seek has no effect
    output->seekable = !appends && lseek(fileno(output->stream), 0, SEEK_CUR) >= 0;
    *result = output;
    return GN_OK;
}

FILE *gn_output_stream(gn_output *output)
{
    return output->stream;
}

bool gn_output_seekable(const gn_output *output)
{
    return output->seekable;
}

gn_status gn_output_check_room(const gn_output *output, uint64_t bytes, gn_error *error)
{
    struct stat file;
    struct statvfs system;
    const int fd = fileno(output->stream);
    if (fstat(fd, &file) || !S_ISREG(file.st_mode) || fstatvfs(fd, &system)) return GN_OK;
    const uint64_t room = (uint64_t)system.f_bavail * system.f_frsize;
    if (bytes <= room) return GN_OK;
    return gn_fail(error, GN_IO, "%s: needs %s, and the file system has %s", output->name, gn_human_bytes(bytes).s,
                   gn_human_bytes(room).s);
}

const char *gn_output_name(const gn_output *output)
{
    return output->name;
}

/// Replaces the target with the file `from`, which has no name. It has another one for a moment.
static int replace_target(const gn_output *output, const char *from)
{
    char *path;
    uint64_t number;
    sigset_t before;
    const int folder = (int)(strrchr(output->target, '/') - output->target) + 1;
    if (getrandom(&number, sizeof number, 0) != sizeof number ||
        asprintf(&path, "%.*s.gradnic-%016" PRIx64, folder, output->target, number) < 0)
        return -1;
    block_signals(&before);
    int failed = linkat(AT_FDCWD, from, AT_FDCWD, path, AT_SYMLINK_FOLLOW);
    if (!failed && (failed = rename(path, output->target))) {
        const int reason = errno;
        unlink(path);
        errno = reason;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    free(path);
    return failed;
}

/// Gives the file its name. Without `force` it never replaces a file that appeared in the
/// meantime.
static gn_status take_name(const gn_output *output, gn_error *error)
{
    int failed;
    char from[32];
    path_of_descriptor(output->unnamed, from);
    if (output->unnamed >= 0) {
        failed = output->force ? replace_target(output, from)
                               : linkat(AT_FDCWD, from, AT_FDCWD, output->target, AT_SYMLINK_FOLLOW);
    } else if (output->force) {
        failed = rename(output->temporary, output->target);
    } else {
        failed = renameat2(AT_FDCWD, output->temporary, AT_FDCWD, output->target, RENAME_NOREPLACE);
        if (failed && (errno == EINVAL || errno == ENOSYS)) {  // the file system cannot do that
            failed = link(output->temporary, output->target);
            if (!failed) unlink(output->temporary);
        }
    }
    if (!failed) return GN_OK;
    if (errno == EEXIST) return gn_fail(error, GN_INVALID, "%s: exists already; --force overwrites it", output->name);
    return gn_fail(error, GN_IO, "%s: %s", output->name, strerror(errno));
}

gn_status gn_output_commit(gn_output *output, gn_error *error)
{
    gn_status wrong = GN_OK;
    errno = 0;
    bool failed = ferror(output->stream) || fflush(output->stream);
    if (output->stream != stdout) failed |= fclose(output->stream) != 0;
    if (failed) wrong = gn_fail(error, GN_IO, "%s: %s", output->name, errno ? strerror(errno) : "write error");
    if (!wrong && output->target) wrong = gn_output_check_spared(output->target, error);  // if it was opened before
    if (!wrong && output->target) wrong = take_name(output, error);
    if (wrong && output->temporary) unlink(output->temporary);
    output_free(output);
    return wrong;
}

void gn_output_abort(gn_output *output)
{
    if (!output) return;
    if (output->stream != stdout) fclose(output->stream);
    if (output->temporary) unlink(output->temporary);
    output_free(output);
}
