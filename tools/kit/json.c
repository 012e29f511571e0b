// SPDX-License-Identifier: Apache-2.0
#include "json.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "net/escape.h"

json_t *gn_json_real(double number)
{
    return isfinite(number) ? json_real(number) : json_null();
}

json_t *gn_json_count(uint64_t number)
{
    return json_integer(number > INT64_MAX ? INT64_MAX : (json_int_t)number);
}

json_t *gn_json_name(const char *name)
{
    char *text = malloc(4 * strlen(name) + 1), *end = text;
    if (!text) return NULL;
    while (*name) {
        const size_t bytes = *name == '\\' ? 0 : gn_utf8_bytes(name);
        if (bytes) {
            memcpy(end, name, bytes);
            end += bytes;
        } else {
            end += sprintf(end, *name == '\\' ? "\\\\" : "\\x%02x", (unsigned char)*name);
        }
        name += bytes ? bytes : 1;
    }
    json_t *result = json_stringn(text, (size_t)(end - text));
    free(text);
    return result;
}

/// "model name" of the first processor in /proc/cpuinfo; empty if there is none.
static void cpu_model(char *model, size_t room)
{
    char line[256];
    *model = 0;
    FILE *file = fopen("/proc/cpuinfo", "re");
    if (!file) return;
    while (!*model && fgets(line, sizeof line, file)) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !colon) continue;
        snprintf(model, room, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
    }
    fclose(file);
}

json_t *gn_json_environment(void)
{
    char date[32], model[128];
    const time_t now = time(NULL);
    struct tm utc;
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    cpu_model(model, sizeof model);
    struct utsname system = {0};
    uname(&system);
    return json_pack("{s:s, s:s, s:s, s:s, s:i}", "gradnic", GRADNIC_VERSION, "date", date, "cpu",
                     *model ? model : system.machine, "kernel", system.release, "cores",
                     (int)sysconf(_SC_NPROCESSORS_ONLN));
}

gn_status gn_json_print(json_t *value, FILE *stream, gn_error *error)
{
    if (!value) return gn_fail_memory(error);
    errno = 0;
    // Flush here: an error at exit() could not be reported.
    const int failed = json_dumpf(value, stream, JSON_INDENT(2) | JSON_ENCODE_ANY) || fputc('\n', stream) == EOF ||
                       fflush(stream) || ferror(stream);
    json_decref(value);
    return failed ? gn_fail(error, GN_IO, "JSON output: %s", errno ? strerror(errno) : "write error") : GN_OK;
}
