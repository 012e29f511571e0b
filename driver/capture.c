// SPDX-License-Identifier: Apache-2.0
#include "driver/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pcap/pcap.h>
#include <poll.h>
#include <pthread.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "host/ending.h"
#include "host/warn.h"
#include "net/strangers.h"

enum {
    SNAPSHOT = 65575,       // the largest IPv6 packet
    RECORD_HEADER = 16,     // of each packet
    BUFFER = 2 * SNAPSHOT,  // stdio's; it never fills, so all writing is done by write_out()
    PATIENCE_MS = 200,      // with a reader that stands still within a packet
    READER_MS = 10000,      // for the reader of a FIFO to come
    LOOK_MS = 20
};

struct gn_capture {
    char *path;
    pcap_t *handle;
    pcap_dumper_t *dumper;
    pthread_mutex_t lock;
    int fd;
    bool is_file;  // regular
    bool is_made;  // by this capture
    bool begun;    // what it had before is gone
    bool said;     // that a reader stands still
    int failure;   // errno of the first write that failed; 0: none
    off_t end;     // of the last packet that is in the file
    size_t waits;  // bytes in the buffer
    uint64_t waiting_packets;
    gn_capture_counters count;
    uint8_t packet[SNAPSHOT];
    char buffer[BUFFER];
};

// Writing out -------------------------------------------------------------------------------------

/// The rest of the packets is lost. What is in a file behind its last whole packet is cut off.
static void give_up(gn_capture *capture, int reason)
{
    capture->failure = reason ? reason : EIO;
    FILE *stream = pcap_dump_file(capture->dumper);
    __fpurge(stream);  // or fclose() would write it again
    if (capture->is_file) (void)!ftruncate(fileno(stream), capture->end);
    capture->count.lost += capture->waiting_packets;
    gn_warn("%s: %s; the capture ends after %llu packets", capture->path, strerror(capture->failure),
            (unsigned long long)capture->count.packets);
}

static void write_out(gn_capture *capture)
{
    if (capture->failure) return;
    errno = 0;
    if (pcap_dump_flush(capture->dumper) || ferror(pcap_dump_file(capture->dumper))) {
        give_up(capture, errno);
    } else {
        capture->end += (off_t)capture->waits;
        capture->count.packets += capture->waiting_packets;
    }
    capture->waits = 0;
    capture->waiting_packets = 0;
}

static bool is_writable(int fd, int ms)
{
    struct pollfd one = {.fd = fd, .events = POLLOUT};
    return poll(&one, 1, ms) > 0;
}

/// Writes to what is no file, and may stand still: in pieces that a pipe with room takes at once.
static ssize_t write_patiently(void *cookie, const char *bytes, size_t size)
{
    const gn_capture *capture = cookie;
    for (size_t done = 0; done < size;) {
        const size_t piece = size - done < PIPE_BUF ? size - done : PIPE_BUF;
        if (!is_writable(capture->fd, PATIENCE_MS)) {
            errno = ETIMEDOUT;
            return 0;
        }
        const ssize_t got = write(capture->fd, bytes + done, piece);
        if (got < 0 && errno != EINTR && errno != EAGAIN) return 0;
        if (got > 0) done += (size_t)got;
    }
    return (ssize_t)size;
}

static int close_patiently(void *cookie)
{
    const gn_capture *capture = cookie;
    return close(capture->fd);
}

/// Nobody waits for a reader: the packet is left out.
static bool is_stuck(gn_capture *capture)
{
    if (capture->is_file || is_writable(capture->fd, 0)) return false;
    if (!capture->said) gn_warn("%s: its reader stands still; packets are left out", capture->path);
    capture->said = true;
    return true;
}

// Opening -----------------------------------------------------------------------------------------

/// Opens what is there, and changes nothing. A FIFO's reader has some time to come. A signal that
/// ends the program does not wait for it.
static int open_to_write(const char *path)
{
    int fd = -1;
    errno = ECANCELED;
    for (int waited = 0; waited <= READER_MS && !gn_ending_waits(); waited += LOOK_MS) {
        fd = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        if (fd >= 0 || errno != ENXIO) break;
        if (!waited) gn_warn("%s: waiting for its reader", path);
        poll(NULL, 0, LOOK_MS);
        errno = ENXIO;
    }
    if (fd < 0 && gn_ending_waits()) errno = ECANCELED;
    return fd;
}

/// Something lies at the path already. It keeps what it has until the capture begins.
static int open_existing(const char *path, bool force, gn_error *error)
{
    struct stat there, opened;
    const int fd = open_to_write(path);
    if (fd < 0 && errno == ENXIO) {
        gn_fail(error, GN_IO, "%s: nobody has opened it for reading within %d s; start its reader first", path,
                READER_MS / 1000);
    } else if (fd < 0 || lstat(path, &there) || fstat(fd, &opened)) {
        gn_fail(error, GN_IO, "%s: %s", path, strerror(errno));
    } else if (gn_strangers_refuse(fd, path, error)) {
        // a pipe or file that somebody has laid there, to read along
    } else if (!S_ISREG(opened.st_mode)) {
        return fd;
    } else if (!force && opened.st_size) {
        gn_fail(error, GN_IO, "%s: exists already; --force overwrites it", path);
    } else if (S_ISLNK(there.st_mode)) {
        gn_fail(error, GN_IO, "%s: is a symbolic link, and captures do not follow one", path);
    } else if (there.st_dev != opened.st_dev || there.st_ino != opened.st_ino) {
        gn_fail(error, GN_IO, "%s: was exchanged while it was opened", path);
    } else if (flock(fd, LOCK_EX | LOCK_NB)) {
        gn_fail(error, GN_IO, "%s: another capture writes to it; give each a file of its own", path);
    } else {
        return fd;
    }
    if (fd >= 0) close(fd);
    return -1;
}

// Who may read a capture sees gradients, and may hold its lock. So strangers may not.
static int open_file(const char *path, bool force, bool *is_made, gn_error *error)
{
    *is_made = false;
    if (!strcmp(path, "-")) return fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0640);
    if (fd >= 0) {
        (void)flock(fd, LOCK_EX | LOCK_NB);  // who overwrites files looks whether one is in use
        *is_made = true;
        return fd;
    }
    if (errno == EEXIST) return open_existing(path, force, error);
    gn_fail(error, GN_IO, "%s: %s", path, strerror(errno));
    return -1;
}

/// Unless something else lies at the path by now.
static void remove_made(const gn_capture *capture)
{
    struct stat there, opened;
    if (!fstat(capture->fd, &opened) && !lstat(capture->path, &there) && there.st_dev == opened.st_dev &&
        there.st_ino == opened.st_ino)
        (void)unlink(capture->path);
}

/// Takes over `fd`. Nothing is written yet.
static gn_capture *make(int fd, const char *path, bool is_made, gn_error *error)
{
    static const cookie_io_functions_t patient = {.write = write_patiently, .close = close_patiently};
    struct stat file;
    gn_capture *capture = calloc(1, sizeof *capture);
    FILE *stream = NULL;
    if (capture) {
        capture->fd = fd;
        capture->is_made = is_made;
        capture->is_file = !fstat(fd, &file) && S_ISREG(file.st_mode);
        pthread_mutex_init(&capture->lock, NULL);
        capture->path = strdup(path);
        capture->handle = pcap_open_dead(DLT_RAW, SNAPSHOT);
        stream = capture->is_file ? fdopen(fd, "wb") : fopencookie(capture, "wb", patient);
    }
    if (stream) setvbuf(stream, capture->buffer, _IOFBF, sizeof capture->buffer);
    if (stream && capture->path && capture->handle) capture->dumper = pcap_dump_fopen(capture->handle, stream);
    if (capture && capture->dumper) return capture;
    gn_fail(error, GN_NO_MEMORY, "%s: out of memory", path);
    if (capture && capture->path && is_made) remove_made(capture);
    if (stream)
        fclose(stream);
    else
        close(fd);
    gn_capture_close(capture);
    return NULL;
}

gn_capture *gn_capture_new(const char *path, bool force, gn_error *error)
{
    bool is_made;
    const int fd = open_file(path, force, &is_made, error);
    return fd < 0 ? NULL : make(fd, path, is_made, error);
}

/// The file's header. It replaces what is there when it has come, and not before: on a full disk
/// nothing is lost.
static gn_status begin(gn_capture *capture, gn_error *error)
{
    FILE *stream = pcap_dump_file(capture->dumper);
    errno = 0;
    const bool written = !pcap_dump_flush(capture->dumper);
    // What a shell has opened for standard output may have more ahead (">>").
    if (written) capture->end = lseek(fileno(stream), 0, SEEK_CUR);
    const bool stays = !capture->is_file || !strcmp(capture->path, "-");
    capture->begun = written && (stays || !ftruncate(capture->fd, capture->end));
    if (capture->begun) return GN_OK;
    __fpurge(stream);
    return gn_fail(error, GN_IO, "%s: %s", capture->path, strerror(errno ? errno : EIO));
}

/// What has least to lose comes first.
static int order_of(const gn_capture *capture)
{
    return capture->is_made ? 0 : !capture->is_file ? 1 : 2;
}

gn_status gn_captures_begin(gn_capture *const *captures, size_t count, gn_error *error)
{
    for (int order = 0; order <= 2; order++) {
        for (size_t i = 0; i < count; i++) {
            gn_capture *one = captures[i];
            if (!one || order_of(one) != order || !begin(one, error)) continue;
            for (i = 0; i < count; i++)
                if (captures[i] && captures[i]->is_made) captures[i]->begun = false;
            return error->status;
        }
    }
    return GN_OK;
}

static gn_capture *begun(gn_capture *capture, gn_error *error)
{
    if (!capture || !gn_captures_begin(&capture, 1, error)) return capture;
    gn_capture_close(capture);
    return NULL;
}

gn_capture *gn_capture_open(const char *path, bool force, gn_error *error)
{
    return begun(gn_capture_new(path, force, error), error);
}

gn_capture *gn_capture_take(int fd, const char *path, gn_error *error)
{
    return begun(make(fd, path, false, error), error);
}

// Packets -----------------------------------------------------------------------------------------

void gn_capture_packet(gn_capture *capture, const uint8_t *head, size_t head_bytes, const uint8_t *body,
                       size_t body_bytes)
{
    const size_t length = head_bytes + body_bytes;
    if (!capture || length > SNAPSHOT) return;
    struct pcap_pkthdr header = {.caplen = (bpf_u_int32)length, .len = (bpf_u_int32)length};
    gettimeofday(&header.ts, NULL);
    pthread_mutex_lock(&capture->lock);
    if (capture->waits + RECORD_HEADER + length > BUFFER) write_out(capture);
    if (capture->failure || is_stuck(capture)) {
        capture->count.lost++;
    } else {
        memcpy(capture->packet, head, head_bytes);
        if (body_bytes) memcpy(capture->packet + head_bytes, body, body_bytes);
        pcap_dump((u_char *)capture->dumper, &header, capture->packet);
        capture->waits += RECORD_HEADER + length;
        capture->waiting_packets++;
        if (!capture->is_file) write_out(capture);  // somebody looks on
    }
    pthread_mutex_unlock(&capture->lock);
}

gn_capture_counters gn_capture_count(gn_capture *capture)
{
    if (!capture) return (gn_capture_counters){0};
    pthread_mutex_lock(&capture->lock);
    gn_capture_counters count = capture->count;
    count.packets += capture->waiting_packets;
    pthread_mutex_unlock(&capture->lock);
    return count;
}

gn_status gn_capture_close(gn_capture *capture)
{
    if (!capture) return GN_OK;
    gn_status status = GN_OK;
    if (capture->dumper && !capture->begun) {
        __fpurge(pcap_dump_file(capture->dumper));
        if (capture->is_made) remove_made(capture);
        pcap_dump_close(capture->dumper);
    } else if (capture->dumper) {
        write_out(capture);
        if (capture->failure) status = GN_IO;
        pcap_dump_close(capture->dumper);
    }
    if (capture->handle) pcap_close(capture->handle);
    pthread_mutex_destroy(&capture->lock);
    free(capture->path);
    free(capture);
    return status;
}
