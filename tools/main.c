// SPDX-License-Identifier: Apache-2.0
// gradnic: the program and its table of commands.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "tools/kit/cli.h"

static const gn_command commands[] = {
    {"compress", gn_command_compress, "compress values to a .gn file"},
    {"decompress", gn_command_decompress, "decompress a .gn file to values"},
    {"ratio", gn_command_ratio, "measure how well gradients compress, beside other compressors"},
    {"estimate", gn_command_estimate, "estimate what compression and a switch gain on a network"},
    {"pcap", gn_command_pcap, "do to a capture what the NIC does"},
    {"doctor", gn_command_doctor, "look at this host and the path to another: what works, how fast"},
    {"nic", gn_command_nic, "the NIC in user space; nic status, nic stats, nic set"},
    {"switch", gn_command_switch,
     "the switch that adds gradients; switch status, switch jobs, switch stats, switch end"},
    {"report", gn_command_report, "write a demo's results as an HTML page"},
    {"train", gn_command_train, "train a network with data-parallel workers"},
    {"demo", gn_command_demo, "train over compressing NICs, and see what they gain"},
    {"figures", gn_command_figures, "make the figures of three papers again"},
    {"sim", gn_command_sim, "simulate hardware and networks: nic, net"},
    {"bench", gn_command_bench, "benchmarks: codec, allreduce, switch, nic"},
    {0},
};

/// Runs at exit(), also after argp's --help. The program succeeds only if all of standard output
/// was written.
static void close_standard_output(int status, void *unused)
{
    (void)unused;
    errno = 0;
    if (!ferror(stdout) && !fflush(stdout)) return;
    if (status != GN_EXIT_OK) return;  // the command has printed its error
    gn_cli_error("gradnic", "standard output: %s", errno ? strerror(errno) : "write error");
    _exit(GN_EXIT_FAILED);
}

/// A shell's "2>&-" leaves a number free that the next file would get, and messages would go into
/// that file. Reading and writing still fail as they do on what is closed.
static void fill_standard_streams(void)
{
    static const int modes[] = {[STDIN_FILENO] = O_WRONLY, [STDOUT_FILENO] = O_RDONLY, [STDERR_FILENO] = O_RDONLY};
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", modes[fd]) != fd) _exit(GN_EXIT_FAILED);
}

int main(int argc, char **argv)
{
    static char program[] = "gradnic";
    fill_standard_streams();
    signal(SIGCHLD, SIG_DFL);  // who ignores it passes that on, and no child could be waited for
    on_exit(close_standard_output, NULL);
    if (argc) argv[0] = program;
    return gn_command_dispatch(commands, "Gradient compression and exchange over compressing NICs.", argc, argv);
}
