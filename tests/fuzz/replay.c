// SPDX-License-Identifier: Apache-2.0
// main() for a fuzz target without libFuzzer. It runs every file of the folders and files named. It
// fails when there is none, so that a lost corpus cannot look like a passed test.
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "fuzz.h"

static int replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        return -1;
    }
    struct stat st;
    if (fstat(fileno(file), &st) || !S_ISREG(st.st_mode)) {
        fclose(file);
        return 0;
    }
    size_t size = (size_t)st.st_size;
    uint8_t *data = malloc(size ? size : 1);  // exact size: the sanitizer sees a read past the end
    if (!data || fread(data, 1, size, file) != size) {
        perror(path);
        free(data);
        fclose(file);
        return -1;
    }
    fclose(file);
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    return 1;
}

int main(int argc, char **argv)
{
    int files = 0;
    for (int i = 1; i < argc; i++) {
        DIR *dir = opendir(argv[i]);
        if (!dir) {
            int done = replay_file(argv[i]);
            if (done < 0) return EXIT_FAILURE;
            files += done;
            continue;
        }
        for (struct dirent *e; (e = readdir(dir));) {
            char path[4096];
            snprintf(path, sizeof path, "%s/%s", argv[i], e->d_name);
            int done = replay_file(path);
            if (done < 0) {
                closedir(dir);
                return EXIT_FAILURE;
            }
            files += done;
        }
        closedir(dir);
    }
    printf("%d inputs replayed\n", files);
    return files ? EXIT_SUCCESS : EXIT_FAILURE;
}
