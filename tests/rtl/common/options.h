// SPDX-License-Identifier: Apache-2.0
// The options of the benches of the hardware.
#pragma once

#include <argp.h>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include <sys/stat.h>

namespace bench
{

struct Options {
    bool all = false;      // --all: every input, where that is a choice
    std::string waves;     // --waves FILE: write an FST
    std::string coverage;  // --coverage FILE: write what the model counted
    uint64_t seed = 1;     // --seed N
    unsigned threads = 1;  // --threads N, where work can be shared
};

constexpr unsigned MOST_THREADS = 256;

// Ends the program where the text is not a number from `least` to `most`.
inline uint64_t number_of(const char *text, uint64_t least, uint64_t most, const char *option, argp_state *state)
{
    char *end;
    errno = 0;
    const uint64_t n = strtoull(text, &end, 0);
    if (errno || end == text || *end || strchr(text, '-') || n < least || n > most)
        argp_error(state, "%s: '%s' is not a number from %llu to %llu", option, text,
                   static_cast<unsigned long long>(least), static_cast<unsigned long long>(most));
    return n;
}

inline error_t parse_option(int key, char *text, argp_state *state)
{
    Options &o = *static_cast<Options *>(state->input);
    struct stat at;
    switch (key) {
    case 'a':
        o.all = true;
        return 0;
    case 't':
        o.threads = static_cast<unsigned>(number_of(text, 1, MOST_THREADS, "--threads", state));
        return 0;
    case 's':
        o.seed = number_of(text, 0, UINT64_MAX, "--seed", state);
        return 0;
    case 'w':
        // Verilator's writer removes what is there, a device as well
        if (!*text) argp_error(state, "--waves: no file");
        if (stat(text, &at) == 0 && !S_ISREG(at.st_mode)) argp_error(state, "--waves: %s is not a file", text);
        o.waves = text;
        return 0;
    case 'c':
        o.coverage = text;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "'%s': a bench takes options only", text);
        return EINVAL;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

// `inputs`: the bench has inputs that can be shared among threads, all or a part of them.
inline Options options(int argc, char **argv, bool inputs = false)
{
    static const argp_option list[] = {
        {"seed", 's', "N", 0, "another run (default: 1)", 0},
        {"waves", 'w', "FILE", 0, "write an FST of every signal", 0},
        {"coverage", 'c', "FILE", 0, "write what the model counted", 0},
        {"all", 'a', nullptr, 0, "every input, not only some", 0},
        {"threads", 't', "N", 0, "share them among threads (default: 1)", 0},
        {},
    };
    static const argp_option none{};
    argp_option used[sizeof list / sizeof *list];
    memcpy(used, list, sizeof list);
    if (!inputs) used[3] = none;
    const argp parser{used,    parse_option, nullptr, "A bench of the hardware: exits with 0 when all was right.",
                      nullptr, nullptr,      nullptr};
    Options o;
    argp_err_exit_status = 2;
    argp_parse(&parser, argc, argv, 0, nullptr, &o);
    return o;
}

}  // namespace bench
