// SPDX-License-Identifier: Apache-2.0
// Captures: nothing of a user's is overwritten, and a full disk leaves a file of whole packets.
#include <fcntl.h>
#include <pcap/pcap.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "driver/capture.h"
#include "suite.h"

enum { FILE_HEADER = 24, RECORD_HEADER = 16, LENGTH = 1000 };

static char folder[] = "/tmp/gradnic-test-XXXXXX";
static char path[64], target[64];
static uint8_t bytes[65575];
static gn_error error;

static void begin(void)
{
    strcpy(folder, "/tmp/gradnic-test-XXXXXX");
    ck_assert(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/wire.pcap", folder);
    snprintf(target, sizeof target, "%s/target", folder);
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)(i * 7);
}

static void end(void)
{
    unlink(path);
    unlink(target);
    ck_assert_int_eq(rmdir(folder), 0);
}

/// Packets of a capture, all of `length` bytes and whole.
static unsigned whole_packets(const char *name, size_t length)
{
    char wrong[PCAP_ERRBUF_SIZE];
    struct pcap_pkthdr *header;
    const uint8_t *data;
    unsigned count = 0;
    pcap_t *in = pcap_open_offline(name, wrong);
    ck_assert_msg(in != NULL, "%s", wrong);
    ck_assert_int_eq(pcap_datalink(in), DLT_RAW);
    int got;
    for (; (got = pcap_next_ex(in, &header, &data)) == 1; count++) {
        ck_assert_uint_eq(header->caplen, length);
        ck_assert(!memcmp(data, bytes, length));
    }
    ck_assert_msg(got == PCAP_ERROR_BREAK, "%s", pcap_geterr(in));
    pcap_close(in);
    return count;
}

static void put(const char *name)
{
    FILE *out = fopen(name, "w");
    ck_assert(out && fputs("weights of a month\n", out) >= 0 && !fclose(out));
}

static void stays(const char *name)
{
    char found[64] = "";
    FILE *in = fopen(name, "r");
    ck_assert(in && fgets(found, sizeof found, in));
    fclose(in);
    ck_assert_str_eq(found, "weights of a month\n");
}

START_TEST(all_lengths)
{
    gn_capture *capture = gn_capture_open(path, false, &error);
    ck_assert_msg(capture != NULL, "%s", error.text);
    for (int i = 0; i < 300; i++) gn_capture_packet(capture, bytes, 400, bytes + 400, LENGTH - 400);
    gn_capture_packet(capture, bytes, sizeof bytes + 1, NULL, 0);  // longer than any packet: left out
    ck_assert_uint_eq(gn_capture_count(capture).packets, 300);
    ck_assert_int_eq(gn_capture_close(capture), GN_OK);
    ck_assert_uint_eq(whole_packets(path, LENGTH), 300);
    capture = gn_capture_open(path, true, &error);
    for (int i = 0; i < 9; i++) gn_capture_packet(capture, bytes, sizeof bytes, NULL, 0);
    ck_assert_int_eq(gn_capture_close(capture), GN_OK);
    ck_assert_uint_eq(whole_packets(path, sizeof bytes), 9);
    ck_assert_uint_eq(gn_capture_count(NULL).packets, 0);
}
END_TEST

START_TEST(what_is_there_stays)
{
    char wanted[256];
    put(path);
    snprintf(wanted, sizeof wanted, "%s: exists already; --force overwrites it", path);
    ck_assert(!gn_capture_open(path, false, &error));
    ck_assert_str_eq(error.text, wanted);
    stays(path);
    // -f means this file, and not where a link of that name leads.
    ck_assert(!rename(path, target) && !symlink(target, path));
    ck_assert(!gn_capture_open(path, false, &error));
    snprintf(wanted, sizeof wanted, "%s: is a symbolic link, and captures do not follow one", path);
    ck_assert(!gn_capture_open(path, true, &error));
    ck_assert_str_eq(error.text, wanted);
    stays(target);
    ck_assert(!unlink(target));
    ck_assert(!gn_capture_open(path, true, &error));
    ck_assert(access(target, F_OK));
}
END_TEST

// Of several none loses what it has, when one of them cannot be written.
START_TEST(all_or_none_begin)
{
    char made[sizeof path + 8];
    snprintf(made, sizeof made, "%s.made", path);
    put(path);
    gn_capture *const captures[] = {gn_capture_new(path, true, &error), NULL, gn_capture_new(made, false, &error),
                                    gn_capture_new("/dev/full", false, &error)};
    ck_assert(captures[0] && captures[2] && captures[3]);
    stays(path);
    ck_assert_int_eq(gn_captures_begin(captures, 4, &error), GN_IO);
    ck_assert_str_eq(error.text, "/dev/full: No space left on device");
    for (int i = 0; i < 4; i++) ck_assert_int_eq(gn_capture_close(captures[i]), GN_OK);
    stays(path);
    ck_assert(access(made, F_OK));
    // A file that may not be written to keeps what it has.
    struct rlimit free_;
    ck_assert(!getrlimit(RLIMIT_FSIZE, &free_));
    signal(SIGXFSZ, SIG_IGN);
    ck_assert(!setrlimit(RLIMIT_FSIZE, &(struct rlimit){0, free_.rlim_max}));
    ck_assert(!gn_capture_open(path, true, &error));
    ck_assert(!setrlimit(RLIMIT_FSIZE, &free_));
    stays(path);
    // An empty file is nothing to lose.
    ck_assert(!truncate(path, 0));
    gn_capture *capture = gn_capture_open(path, false, &error);
    ck_assert(capture);
    ck_assert_int_eq(gn_capture_close(capture), GN_OK);
    ck_assert_uint_eq(whole_packets(path, LENGTH), 0);
}
END_TEST

START_TEST(force_overwrites)
{
    put(path);
    gn_capture *capture = gn_capture_open(path, true, &error);
    ck_assert_msg(capture != NULL, "%s", error.text);
    gn_capture_packet(capture, bytes, LENGTH, NULL, 0);
    ck_assert_int_eq(gn_capture_close(capture), GN_OK);
    ck_assert_uint_eq(whole_packets(path, LENGTH), 1);
}
END_TEST

// Both directions of a NIC, or two NICs.
START_TEST(a_file_has_one_capture)
{
    char wanted[256];
    struct stat made;
    umask(022);
    for (unsigned i = 0; i < 2; i++) {  // a new file, and one that is overwritten
        gn_capture *capture = gn_capture_open(path, true, &error);
        ck_assert_msg(capture != NULL, "%s", error.text);
        // A stranger who could read it could keep its lock.
        ck_assert(!stat(path, &made) && (made.st_mode & 07777) == 0640);
        gn_capture_packet(capture, bytes, LENGTH, NULL, 0);
        snprintf(wanted, sizeof wanted, "%s: another capture writes to it; give each a file of its own", path);
        ck_assert(!gn_capture_open(path, true, &error));
        ck_assert_str_eq(error.text, wanted);
        ck_assert_int_eq(gn_capture_close(capture), GN_OK);
        ck_assert_uint_eq(whole_packets(path, LENGTH), 1);
    }
}
END_TEST

// Somebody reads while the NIC runs.
START_TEST(a_fifo_gets_packets_at_once)
{
    uint8_t read_bytes[FILE_HEADER + RECORD_HEADER + LENGTH];
    ck_assert(!mkfifo(path, 0600));
    const int reader = open(path, O_RDONLY | O_NONBLOCK);
    gn_capture *capture = gn_capture_open(path, false, &error);
    ck_assert_msg(capture != NULL, "%s", error.text);
    gn_capture_packet(capture, bytes, LENGTH, NULL, 0);
    ck_assert_int_eq(read(reader, read_bytes, sizeof read_bytes), sizeof read_bytes);
    // The reader goes. The capture ends, and the process does not.
    signal(SIGPIPE, SIG_IGN);
    close(reader);
    gn_capture_packet(capture, bytes, LENGTH, NULL, 0);
    gn_capture_packet(capture, bytes, LENGTH, NULL, 0);
    const gn_capture_counters count = gn_capture_count(capture);
    ck_assert_uint_eq(count.packets, 1);
    ck_assert_uint_eq(count.lost, 2);
    ck_assert_int_eq(gn_capture_close(capture), GN_IO);
}
END_TEST

// The reader may come later, but not at any time.
// Anybody may have laid it into such a folder, to read the packets.
START_TEST(what_strangers_have_laid_there)
{
    if (geteuid()) return;  // cannot make what belongs to another account
    for (int fifo = 0; fifo < 2; fifo++) {
        ck_assert(!chmod(folder, 01777));
        ck_assert(!(fifo ? mkfifo(path, 0666) : mknod(path, S_IFREG | 0666, 0)) && !chown(path, 4711, 4711));
        const int reader = open(path, O_RDONLY | O_NONBLOCK);
        ck_assert_int_ge(reader, 0);
        ck_assert_ptr_null(gn_capture_open(path, true, &error));
        ck_assert_msg(strstr(error.text, "belongs to another account (4711)"), "%s", error.text);
        ck_assert(!chmod(folder, 0755));  // nobody else can have laid it here
        gn_capture *capture = gn_capture_open(path, true, &error);
        ck_assert_msg(capture != NULL, "%s", error.text);
        gn_capture_close(capture);
        close(reader);
        unlink(path);
    }
}
END_TEST

START_TEST(a_fifo_without_a_reader)
{
    ck_assert(!mkfifo(path, 0600));
    const pid_t late = fork();
    if (!late) {
        usleep(300000);
        const int fd = open(path, O_RDONLY);
        _exit(read(fd, bytes, 1) != 1);
    }
    alarm(30);
    gn_capture *capture = gn_capture_open(path, false, &error);
    ck_assert_msg(capture != NULL, "%s", error.text);
    int status;
    ck_assert(waitpid(late, &status, 0) == late && !status);
    gn_capture_close(capture);
    ck_assert_ptr_null(gn_capture_open(path, false, &error));
    ck_assert_int_eq(error.status, GN_IO);
    ck_assert_ptr_nonnull(strstr(error.text, "nobody has opened it for reading within 10 s; start its reader first"));
}
END_TEST

// A limit of the file's size is a full disk. It lies within a packet, at its end, and elsewhere.
// Nobody waits for a reader that stands still; when it goes on, so does the capture.
START_TEST(a_reader_that_stands_still)
{
    int ends[2];
    static uint8_t sink[1 << 17];
    ck_assert_int_eq(pipe(ends), 0);
    gn_capture *capture = gn_capture_take(ends[1], "pipe", &error);
    ck_assert(capture != NULL);
    alarm(10);
    char said[4096] = {0};
    const int stderr_before = dup(STDERR_FILENO), log = memfd_create("log", MFD_CLOEXEC);
    dup2(log, STDERR_FILENO);
    for (int i = 0; i < 200; i++) gn_capture_packet(capture, bytes, LENGTH, NULL, 0);
    dup2(stderr_before, STDERR_FILENO);
    ck_assert_int_gt(pread(log, said, sizeof said - 1, 0), 0);
    const char *told = strstr(said, "stands still");
    ck_assert_msg(told && !strstr(told + 1, "stands still"), "%s", said);  // once
    close(log);
    close(stderr_before);
    const gn_capture_counters full = gn_capture_count(capture);
    ck_assert_uint_gt(full.packets, 20);
    ck_assert_uint_gt(full.lost, 20);
    ck_assert_uint_eq(full.packets + full.lost, 200);
    size_t got = 0;
    while (got < FILE_HEADER + full.packets * (RECORD_HEADER + LENGTH)) {
        const ssize_t n = read(ends[0], sink, sizeof sink);
        ck_assert_int_gt(n, 0);
        got += (size_t)n;
    }
    gn_capture_packet(capture, bytes, LENGTH, NULL, 0);
    ck_assert_uint_eq(gn_capture_count(capture).packets, full.packets + 1);
    // One that is larger than the room that is left: the capture ends, and its caller goes on.
    for (int i = 0; i < 4; i++) gn_capture_packet(capture, bytes, sizeof bytes, NULL, 0);
    ck_assert_uint_eq(gn_capture_count(capture).lost, full.lost + 4);
    ck_assert_int_eq(gn_capture_close(capture), GN_IO);
    close(ends[0]);
}
END_TEST

/// Standard output, opened to append, or behind what others wrote: what is there stays.
START_TEST(a_full_disk_leaves_what_was_there)
{
    enum { THERE = 50000, ROOM = 40000 };
    static uint8_t before[THERE], after[THERE];
    struct rlimit limit, free_;
    struct stat file;
    memset(before, 'A', sizeof before);
    const int fd = open(path, O_RDWR | O_CREAT | O_EXCL | (_i ? O_APPEND : 0), 0600);
    ck_assert_int_eq(write(fd, before, THERE), THERE);
    if (_i) ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
    ck_assert(!getrlimit(RLIMIT_FSIZE, &free_));
    signal(SIGXFSZ, SIG_IGN);
    gn_capture *capture = gn_capture_take(dup(fd), "-", &error);
    ck_assert_msg(capture != NULL, "%s", error.text);
    limit = (struct rlimit){THERE + ROOM, free_.rlim_max};
    ck_assert(!setrlimit(RLIMIT_FSIZE, &limit));
    for (int i = 0; i < 1000; i++) gn_capture_packet(capture, bytes, LENGTH, NULL, 0);
    const uint64_t packets = gn_capture_count(capture).packets;
    ck_assert_int_eq(gn_capture_close(capture), GN_IO);
    ck_assert(!setrlimit(RLIMIT_FSIZE, &free_));
    ck_assert_int_eq(pread(fd, after, THERE, 0), THERE);
    ck_assert_mem_eq(after, before, THERE);
    ck_assert(!fstat(fd, &file));
    ck_assert_int_eq(file.st_size, (off_t)(THERE + FILE_HEADER + packets * (RECORD_HEADER + LENGTH)));
    close(fd);
}
END_TEST

START_TEST(a_full_disk_leaves_whole_packets)
{
    static const rlim_t limits[] = {FILE_HEADER,
                                    FILE_HEADER + 1,
                                    FILE_HEADER + RECORD_HEADER + LENGTH,
                                    200000,
                                    200000 + RECORD_HEADER,
                                    FILE_HEADER + 130 * (RECORD_HEADER + LENGTH),
                                    FILE_HEADER + 260 * (RECORD_HEADER + LENGTH) + 5};
    enum { SENT = 1000 };
    struct rlimit before, limit;
    struct stat file;
    ck_assert(!getrlimit(RLIMIT_FSIZE, &before));
    signal(SIGXFSZ, SIG_IGN);
    gn_capture *capture = gn_capture_open(path, false, &error);
    ck_assert_msg(capture != NULL, "%s", error.text);
    limit = (struct rlimit){limits[_i], before.rlim_max};
    ck_assert(!setrlimit(RLIMIT_FSIZE, &limit));
    for (int i = 0; i < SENT; i++) gn_capture_packet(capture, bytes, LENGTH, NULL, 0);
    const gn_capture_counters count = gn_capture_count(capture);
    ck_assert_uint_eq(count.packets + count.lost, SENT);
    ck_assert_int_eq(gn_capture_close(capture), GN_IO);
    ck_assert(!setrlimit(RLIMIT_FSIZE, &before));
    ck_assert(!stat(path, &file) && (rlim_t)file.st_size <= limits[_i]);
    ck_assert_uint_eq(whole_packets(path, LENGTH), count.packets);
    if (limits[_i] > 200000) ck_assert_uint_gt(count.packets, 60);
}
END_TEST

START_TEST(no_room_at_all_is_said_at_once)
{
    char wanted[256];
    struct rlimit before, none;
    ck_assert(!getrlimit(RLIMIT_FSIZE, &before));
    signal(SIGXFSZ, SIG_IGN);
    none = (struct rlimit){0, before.rlim_max};
    ck_assert(!setrlimit(RLIMIT_FSIZE, &none));
    ck_assert(!gn_capture_open(path, false, &error));
    ck_assert(!setrlimit(RLIMIT_FSIZE, &before));
    snprintf(wanted, sizeof wanted, "%s: File too large", path);
    ck_assert_str_eq(error.text, wanted);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("capture");
    TCase *all = tcase_create("capture");
    tcase_add_checked_fixture(all, begin, end);
    tcase_add_test(all, all_lengths);
    tcase_add_test(all, what_is_there_stays);
    tcase_add_test(all, all_or_none_begin);
    tcase_add_test(all, force_overwrites);
    tcase_add_test(all, a_file_has_one_capture);
    tcase_add_test(all, a_fifo_gets_packets_at_once);
    tcase_add_test(all, what_strangers_have_laid_there);
    tcase_add_test(all, a_fifo_without_a_reader);
    tcase_add_test(all, a_reader_that_stands_still);
    tcase_add_loop_test(all, a_full_disk_leaves_whole_packets, 0, 7);
    tcase_add_loop_test(all, a_full_disk_leaves_what_was_there, 0, 2);
    tcase_add_test(all, no_room_at_all_is_said_at_once);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
