// SPDX-License-Identifier: Apache-2.0
// Text of strangers on a terminal: nothing of it is a command.
#include <stdlib.h>
#include <string.h>

#include "net/escape.h"
#include "suite.h"

static const struct {
    const char *text, *shown;
} cases[] = {{"", ""},
             {"train-1 'x' \\", "train-1 'x' \\"},
             {"\033[2J\033]0;root\007", "\\x1b[2J\\x1b]0;root\\x07"},
             {"a\nb\rc\td\x7f", "a\\x0ab\\x0dc\\x09d\\x7f"},
             {"Gr\xc3\xbc\xc3\x9f"
              "e \xe2\x82\xac \xf0\x9f\x98\x80",
              "Gr\xc3\xbc\xc3\x9f"
              "e \xe2\x82\xac \xf0\x9f\x98\x80"},
             {"\xc2\x9b"
              "2J \xc2\xa0",
              "\\xc2\\x9b"
              "2J \xc2\xa0"},  // CSI; a space
             {"\x9b"
              "2J \xe9",
              "\\x9b"
              "2J \\xe9"},  // the same in Latin-1
             {"\xc0\x9b \xe0\x82\x9b \xed\xa0\x80", "\\xc0\\x9b \\xe0\\x82\\x9b \\xed\\xa0\\x80"},
             {"\xf0\x82\x82\xac \xf4\x90\x80\x80", "\\xf0\\x82\\x82\\xac \\xf4\\x90\\x80\\x80"},
             {"\xe2\x82", "\\xe2\\x82"},
             {"\xf0\x9f\x98", "\\xf0\\x9f\\x98"}};

START_TEST(what_it_shows)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *shown = gn_escape_new(cases[i].text, "");
        ck_assert_str_eq(shown, cases[i].shown);
        free(shown);
    }
    char *lines = gn_escape_new("a\nb\033\r\n", "\n");
    ck_assert_str_eq(lines, "a\nb\\x1b\\x0d\n");
    free(lines);
}
END_TEST

/// It is cut before what does not fit, and never within a character.
START_TEST(what_fits)
{
    char out[16];
    for (size_t room = 1; room <= sizeof out; room++) {
        memset(out, 'x', sizeof out);
        gn_escape("\xc3\xbc\033z", "", out, room);
        ck_assert_uint_lt(strlen(out), room);
        ck_assert_str_eq(out, room < 3 ? "" : room < 7 ? "\xc3\xbc" : room < 8 ? "\xc3\xbc\\x1b" : "\xc3\xbc\\x1bz");
    }
}
END_TEST

int main(void)
{
    return RUN_TESTS("escape", what_it_shows, what_fits);
}
