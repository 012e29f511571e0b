// SPDX-License-Identifier: Apache-2.0
// guard_errors [FLOWS]: how often the guard of the NIC errs (driver/looks.h). Reads lines from
// standard input: NAME TAB good|other|array TAB FILE. Lines of one name follow each other. Begins
// flows at random places of the files, gives their packets to the judge until it has a verdict, and
// writes a JSON list. `bench/guard` makes the files.
//
// A flow of other bytes begins anywhere. Any other flow begins at a multiple of 4 bytes.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/looks.h"

enum { NAME_MAX_BYTES = 128, PACKETS = 256, LARGEST = 64 << 20 };

static const size_t sizes[] = {16, 64, 256, 1448, 9000};
enum { SIZES = sizeof sizes / sizeof *sizes };

typedef struct tally {
    unsigned flows, gradients, other, undecided;
} tally;

typedef struct kind {
    char name[NAME_MAX_BYTES];
    int good;
    tally of[SIZES];
} kind;

static uint64_t state = 0x9e3779b97f4a7c15;

static uint64_t next_random(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static uint8_t *load(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = malloc(LARGEST);
    if (!file || !data) {
        fprintf(stderr, "guard_errors: cannot read %s\n", path);
        exit(EXIT_FAILURE);
    }
    *bytes = fread(data, 1, LARGEST, file);
    (void)fclose(file);
    return data;
}

// One flow: packets of `size` bytes. At the end of the file it starts over at the beginning.
static void run_flow(tally *t, const uint8_t *data, size_t bytes, size_t size, int aligned)
{
    gn_evidence evidence = {0};
    const char *why;
    gn_looks verdict = GN_LOOKS_UNDECIDED;
    size_t at = (size_t)(next_random() % bytes);
    if (aligned) at -= at % 4;
    for (unsigned i = 0; i < PACKETS && verdict == GN_LOOKS_UNDECIDED; i++, at += size) {
        if (at + 4 > bytes) at = 0;
        const size_t left = bytes - at, taken = left < size ? left : size;
        gn_evidence_add(&evidence, data + at, taken / 4);
        verdict = gn_evidence_judge(&evidence, &why);
    }
    t->flows++;
    t->gradients += verdict == GN_LOOKS_GRADIENT;
    t->other += verdict == GN_LOOKS_OTHER;
    t->undecided += verdict == GN_LOOKS_UNDECIDED;
}

static void print(const kind *k, int first)
{
    printf("%s{\"name\": \"%s\", \"good\": %s, \"sizes\": [", first ? "" : ",\n", k->name, k->good ? "true" : "false");
    for (size_t s = 0; s < SIZES; s++) {
        const tally *t = &k->of[s];
        printf("%s{\"bytes\": %zu, \"flows\": %u, \"gradients\": %u, \"other\": %u, \"undecided\": %u}", s ? ", " : "",
               sizes[s], t->flows, t->gradients, t->other, t->undecided);
    }
    printf("]}");
}

int main(int argc, char **argv)
{
    const unsigned flows = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 2000;
    char line[4096];
    kind now = {0};
    int printed = 0;
    printf("[");
    while (fgets(line, sizeof line, stdin)) {
        char *path, *word, *rest = line;
        line[strcspn(line, "\n")] = 0;
        const char *name = strsep(&rest, "\t");
        word = strsep(&rest, "\t");
        path = rest;
        if (!word || !path || strlen(name) >= NAME_MAX_BYTES) {
            fprintf(stderr, "guard_errors: '%s': NAME TAB good|other|array TAB FILE is wanted\n", line);
            return EXIT_FAILURE;
        }
        if (strcmp(name, now.name) != 0) {
            if (*now.name) print(&now, !printed++);
            now = (kind){.good = !strcmp(word, "good")};
            snprintf(now.name, sizeof now.name, "%s", name);
        }
        size_t bytes;
        uint8_t *data = load(path, &bytes);
        for (size_t s = 0; bytes >= 4 && s < SIZES; s++)
            for (unsigned i = 0; i < flows; i++)
                run_flow(&now.of[s], data, bytes, sizes[s], strcmp(word, "other") != 0);
        free(data);
    }
    if (*now.name) print(&now, !printed);
    printf("]\n");
    return fflush(stdout) || ferror(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}
