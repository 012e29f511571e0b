// SPDX-License-Identifier: Apache-2.0
// gradnic report: runs the script that makes the page, and names the page when it is whole.
#include "tools/commands.h"

#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/kit/beside.h"
#include "tools/kit/cli.h"
#include "tools/kit/output.h"
#include "tools/kit/parse.h"
#include "tools/kit/result_options.h"
#include "tools/kit/with_parent.h"

typedef struct options {
    const char *output;
    char **inputs;  ///< the results first, then the gradients; NULL at the end
    int input_count;
    bool force;
} options;

static const char doc[] =
    "Writes the results of `gradnic demo` and the gradients that it dumped as one self-contained HTML page: a table of "
    "the variants, time of a step by phase, accuracy over steps and over time, histogram of the gradients, bits kept "
    "by profile and bound.\v"
    "The plots are Matplotlib's. Install Debian's package python3-matplotlib.\n\n"
    "Example:\n"
    "  gradnic report -o page.html out/demo.json out/gradients/*.npy";

static const struct argp_option table[] = {
    {"output", 'o', "FILE", 0, "the page (default report.html); - is standard output", 0},
    {"force", 'f', 0, 0, "overwrite an existing file", 0},
    GN_QUIET_OPTION(0),
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    options *o = state->input;
    switch (key) {
    case 'o':
        o->output = arg;
        return 0;
    case 'f':
        o->force = true;
        return 0;
    case 'q':
        return 0;  // it says nothing but errors
    case ARGP_KEY_ARGS:
        o->inputs = state->argv + state->next;
        o->input_count = state->argc - state->next;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "no result file (demo.json)");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/// Waits for the script. It has said itself what was wrong.
static bool succeeded(pid_t pid)
{
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR) return false;
    return WIFEXITED(status) && !WEXITSTATUS(status);
}

/// Starts a program that ends together with this one, and has `output` as its standard output.
/// @return an errno; 0: it runs
static int start(char **arguments, int output, pid_t *pid)
{
    const pid_t parent = getpid();
    int ends[2], reason = 0;  // of a pipe that is closed when the program begins
    if (pipe2(ends, O_CLOEXEC)) return errno;
    *pid = fork();
    if (!*pid) {
        if (!gn_end_with_parent(parent)) _exit(GN_EXIT_FAILED);
        if (dup2(output, STDOUT_FILENO) >= 0) execv(*arguments, arguments);
        reason = errno;
        (void)!write(ends[1], &reason, sizeof reason);
        _exit(GN_EXIT_FAILED);
    }
    if (*pid < 0) reason = errno;
    close(ends[1]);
    while (*pid > 0 && read(ends[0], &reason, sizeof reason) < 0 && errno == EINTR) {
    }
    close(ends[0]);
    if (*pid > 0 && reason) (void)waitpid(*pid, NULL, 0);
    return reason;
}

/// Runs the script with `page` as its standard output. `*made` says whether it wrote a whole page.
static gn_status run_script(const options *o, FILE *page, bool *made, gn_error *error)
{
    char script[PATH_MAX], self[PATH_MAX];
    gn_status status = gn_beside_self(self, error);
    if (!status)
        status = gn_beside_find("demo-report", "../share/gradnic/demo-report", "../../../scripts/demo-report", script,
                                error);
    if (status) return status;
    char **arguments = calloc((size_t)o->input_count + 2, sizeof *arguments);
    if (!arguments) return gn_fail_memory(error);
    arguments[0] = script;
    memcpy(arguments + 1, o->inputs, (size_t)o->input_count * sizeof *arguments);
    setenv("GRADNIC", self, 1);
    pid_t pid = -1;
    const int failed = start(arguments, fileno(page), &pid);
    free(arguments);
    // The script is there; what is missing is its interpreter.
    if (failed == ENOENT)
        return gn_fail(error, GN_UNSUPPORTED, "%s: /usr/bin/python3 is missing: install python3-matplotlib", script);
    if (failed) return gn_fail(error, GN_IO, "%s: %s", script, strerror(failed));
    *made = succeeded(pid);
    return GN_OK;
}

static gn_status report(const options *o, bool *made, gn_error *error)
{
    gn_status status = gn_output_check_inputs(o->output, (const char *const *)o->inputs, (size_t)o->input_count, error);
    gn_output *output;
    if (!status) status = gn_output_open(&output, o->output, o->force, error);
    if (status) return status;
    status = run_script(o, gn_output_stream(output), made, error);
    if (!status && *made) return gn_output_commit(output, error);
    gn_output_abort(output);
    return status;
}

int gn_command_report(int argc, char **argv)
{
    options o = {.output = "report.html"};
    bool made = false;
    gn_argp_parse(&(const struct argp){table, parse, "DEMO.json [GRADIENT...]", doc, 0, 0, 0}, argc, argv, &o);
    gn_error error;
    const gn_status status = report(&o, &made, &error);
    if (status) gn_cli_error(argv[0], "%s", error.text);
    return made && !status ? GN_EXIT_OK : GN_EXIT_FAILED;
}
