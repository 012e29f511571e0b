// SPDX-License-Identifier: Apache-2.0
#include "picture.h"

#include <cerrno>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

namespace sim_net
{

namespace
{

constexpr unsigned LONGEST_S = 600;  // it is ended then
using File = std::unique_ptr<FILE, int (*)(FILE *)>;

File scratch()
{
    FILE *file = nullptr;
    gn_error error;
    if (gn_temporary_open(&file, &error)) throw std::runtime_error(error.text);
    return {file, fclose};
}

std::string last_line(FILE *file)
{
    char line[512];
    std::string last;
    rewind(file);
    while (fgets(line, sizeof line, file)) last = line;
    while (!last.empty() && last.back() == '\n') last.pop_back();
    return last;
}

// The child's part.
[[noreturn]] void become(const char *script, const std::vector<std::string> &words, FILE *in, FILE *out, FILE *errors)
{
    std::vector<char *> arguments = {const_cast<char *>(script)};
    for (const std::string &word : words) arguments.push_back(const_cast<char *>(word.c_str()));
    arguments.push_back(nullptr);
    alarm(LONGEST_S);
    if (dup2(fileno(in), STDIN_FILENO) >= 0 && dup2(fileno(out), STDOUT_FILENO) >= 0 &&
        dup2(fileno(errors), STDERR_FILENO) >= 0)
        execv(script, arguments.data());
    dprintf(STDERR_FILENO, "%s\n", strerror(errno));
    _exit(GN_EXIT_FAILED);
}

void run(const std::vector<std::string> &words, const std::string &input, FILE *out)
{
    char script[PATH_MAX];
    gn_error error;
    if (gn_beside_find("net-picture", "../../share/gradnic/figures/net-picture", "../../../../figures/net-picture",
                       script, &error))
        throw std::runtime_error(error.text);
    const File in = scratch(), errors = scratch();
    if (fwrite(input.data(), 1, input.size(), in.get()) != input.size() || fflush(in.get()) || fflush(out))
        throw std::runtime_error(std::string("a temporary file: ") + strerror(errno));
    rewind(in.get());
    const pid_t parent = getpid(), child = fork();
    if (child < 0) throw std::runtime_error(std::string("fork: ") + strerror(errno));
    if (!child) {
        if (!gn_end_with_parent(parent)) _exit(GN_EXIT_FAILED);
        become(script, words, in.get(), out, errors.get());
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status)) {
        const std::string why = last_line(errors.get());
        throw std::runtime_error("the picture: " + (why.empty() ? "net-picture was ended" : why));
    }
}

}  // namespace

void check_pictures()
{
    const File nothing = scratch();
    run({"check"}, "", nothing.get());
}

void draw(const std::vector<std::string> &words, const std::string &csv, FILE *svg)
{
    run(words, csv, svg);
}

}  // namespace sim_net
