// SPDX-License-Identifier: Apache-2.0
// The secret file: which one is taken, and how others are refused.
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "net/secret.h"
#include "suite.h"

static char folder[] = "/tmp/gradnic-secret-XXXXXX", path[64];
static gn_secret secret;
static gn_error error;

static void begin(void)
{
    strcpy(folder + strlen(folder) - 6, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/file", folder);
    unsetenv(GN_SECRET_ENVIRONMENT);
}

static void end(void)
{
    unlink(path);
    rmdir(folder);
}

static void write_bytes(const void *bytes, size_t count)
{
    FILE *f = fopen(path, "w");
    ck_assert(f && fwrite(bytes, 1, count, f) == count && !fclose(f) && !chmod(path, 0600));
}

static void write_text(const char *text)
{
    write_bytes(text, strlen(text));
}

static void refused(gn_status status, const char *words)
{
    const gn_status got = gn_secret_read(&secret, path, &error);
    ck_assert_msg(got == status, "%s: %s", gn_status_string(got), got ? error.text : "");
    ck_assert_msg(strstr(error.text, words) && strstr(error.text, path), "%s", error.text);
    ck_assert(!secret.set);
    for (size_t i = 0; i < GN_SECRET_KEY; i++) ck_assert_uint_eq(secret.key[i], 0);
}

static gn_secret taken(void)
{
    ck_assert_msg(!gn_secret_read(&secret, path, &error), "%s", error.text);
    ck_assert(secret.set);
    return secret;
}

START_TEST(the_content_makes_the_key)
{
    write_text("0123456789abcdef");
    const gn_secret plain = taken();
    write_text("0123456789abcdef \r\n\n");  // as an editor leaves it
    ck_assert_mem_eq(taken().key, plain.key, sizeof plain.key);
    write_text("0123456789abcdeg");
    ck_assert_mem_ne(taken().key, plain.key, sizeof plain.key);
    write_bytes("0123456789abcde\0", 16);  // a zero is a byte as any other
    ck_assert_mem_ne(taken().key, plain.key, sizeof plain.key);
    gn_secret_wipe(&secret);
    ck_assert(!secret.set && !secret.key[0] && !secret.key[GN_SECRET_KEY - 1]);
}
END_TEST

START_TEST(others_must_not_have_it)
{
    static const mode_t wrong[] = {0640, 0620, 0604, 0602, 0666};
    write_text("0123456789abcdef");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char words[64];
        ck_assert(!chmod(path, wrong[i]));
        snprintf(words, sizeof words, "others can read or write it (mode %04o): chmod 600", (unsigned)wrong[i]);
        refused(GN_INVALID, words);
    }
    ck_assert(!chmod(path, 0400));
    (void)taken();
    if (geteuid()) return;  // only root can give a file away
    ck_assert(!chown(path, 4711, 0));
    refused(GN_INVALID, "belongs to account 4711, and must belong to the account that runs this, 0, or to root");
    ck_assert_int_eq(gn_secret_check(path, &error), GN_OK);  // of a service that runs as 4711
    ck_assert(!chmod(path, 0440));
    ck_assert_int_eq(gn_secret_check(path, &error), GN_INVALID);
    ck_assert(!chmod(path, 0400));
}
END_TEST

START_TEST(what_is_no_secret)
{
    char longer[GN_SECRET_MOST + 1];
    refused(GN_IO, "No such file or directory");
    write_text("");
    refused(GN_INVALID, "has 0 bytes, and at least 16 random ones are needed: (umask 077; head -c 32");
    write_text("0123456789abcde\n\n\n");
    refused(GN_INVALID, "has 15 bytes");
    memset(longer, 'x', sizeof longer);
    write_bytes(longer, sizeof longer);
    refused(GN_INVALID, "is longer than 4096 bytes");
    write_bytes(longer, sizeof longer - 1);
    (void)taken();
    unlink(path);
    ck_assert(!mkfifo(path, 0600));  // nobody writes into it: this must not wait
    refused(GN_INVALID, "is not a regular file");
}
END_TEST

START_TEST(the_environment)
{
    write_text("0123456789abcdef");
    const gn_secret plain = taken();
    ck_assert(!gn_secret_read(&secret, NULL, &error) && !secret.set);
    setenv(GN_SECRET_ENVIRONMENT, path, 1);
    ck_assert(!gn_secret_read(&secret, NULL, &error) && secret.set);
    ck_assert_mem_eq(secret.key, plain.key, sizeof plain.key);
    setenv(GN_SECRET_ENVIRONMENT, "/tmp/gradnic-no-such-file", 1);
    (void)taken();  // what is given counts
    ck_assert_int_eq(gn_secret_read(&secret, NULL, &error), GN_IO);
    setenv(GN_SECRET_ENVIRONMENT, "", 1);  // somebody wanted a secret
    ck_assert_int_eq(gn_secret_read(&secret, NULL, &error), GN_INVALID);
    ck_assert(strstr(error.text, "is GRADNIC_SECRET_FILE empty? Unset it to go without") != NULL);
}
END_TEST

/// The key as docs/secret.md says it, computed with another implementation of BLAKE2b.
START_TEST(the_key_of_a_known_secret)
{
    static const uint8_t key[GN_SECRET_KEY] = {0xcc, 0x69, 0x79, 0xd8, 0x59, 0x4d, 0xe8, 0x82, 0xef, 0x76, 0xe8,
                                               0xc3, 0x55, 0x80, 0x45, 0x00, 0x9e, 0xc7, 0x92, 0x66, 0x40, 0xf3,
                                               0xd9, 0xfe, 0x2b, 0xbe, 0x3d, 0x55, 0xf9, 0x90, 0x75, 0xfc};
    write_text("0123456789abcdef\n");
    ck_assert_mem_eq(taken().key, key, sizeof key);
}
END_TEST

static void mac(const char *label, const char *one, const char *two, uint8_t out[GN_SECRET_MAC])
{
    gn_secret_mac(secret.key, label, (const gn_secret_part[]){{one, strlen(one)}, {two, strlen(two)}, {0}}, out);
}

START_TEST(codes_differ_by_label_and_content)
{
    uint8_t a[GN_SECRET_MAC], b[GN_SECRET_MAC];
    write_text("0123456789abcdef");
    (void)taken();
    mac("label", "one", "two", a);
    mac("label", "one", "two", b);
    ck_assert_mem_eq(a, b, sizeof a);
    mac("labelo", "ne", "two", b);
    ck_assert_mem_ne(a, b, sizeof a);
    mac("label", "one", "tw", b);
    ck_assert_mem_ne(a, b, sizeof a);
    secret.key[31] ^= 1;
    mac("label", "one", "two", b);
    ck_assert_mem_ne(a, b, sizeof a);
}
END_TEST

static void *ask_on(void *argument)
{
    const volatile atomic_bool *over = argument;
    gn_secret none;
    gn_error why;
    while (!atomic_load(over)) (void)gn_secret_read(&none, "/nowhere/secret", &why);
    return NULL;
}

enum { FORKS = SANITIZED ? 0 : 1500 };  // the sanitizers' own locks do not survive such a fork

/// Threads of the parent may be about to start libsodium, whose lock the child has a copy of.
START_TEST(a_forked_child_has_its_secret)
{
    atomic_bool over = false;
    pthread_t threads[3];
    write_text("0123456789abcdef");
    for (int i = 0; i < 3; i++) ck_assert(!pthread_create(&threads[i], NULL, ask_on, &over));
    for (int i = 0; i < FORKS; i++) {
        const pid_t child = fork();
        ck_assert(child >= 0);
        if (!child) {
            signal(SIGALRM, SIG_DFL);  // Check's own would end the whole test without a word
            alarm(20);
            _exit(gn_secret_read(&secret, path, &error) || !secret.set);
        }
        int status;
        ck_assert(waitpid(child, &status, 0) == child);
        ck_assert_msg(!status, "child %d ended with %d", i, status);
    }
    atomic_store(&over, true);
    for (int i = 0; i < 3; i++) ck_assert(!pthread_join(threads[i], NULL));
}
END_TEST

int main(void)
{
    return RUN_SUITE("secret", begin, end, the_content_makes_the_key, the_key_of_a_known_secret,
                     others_must_not_have_it, what_is_no_secret, the_environment, codes_differ_by_label_and_content,
                     a_forked_child_has_its_secret);
}
