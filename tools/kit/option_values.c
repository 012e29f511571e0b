// SPDX-License-Identifier: Apache-2.0
#include "option_values.h"

#include <pwd.h>
#include <string.h>

static const char *name_in(const struct argp *argp, int key)
{
    const char *name = NULL;
    const struct argp_option *option = argp->options;
    for (; option && !name && (option->name || option->doc); option++)
        if (option->name && option->key == key) name = option->name;
    for (const struct argp_child *child = argp->children; child && child->argp && !name; child++)
        name = name_in(child->argp, key);
    return name;
}

// argp parses with a table of its own, whose child is the command's.
const char *gn_option_name(const struct argp_state *state, int key)
{
    return name_in(state->root_argp, key);
}

void gn_option_check(struct argp_state *state, const char *name, gn_message wrong)
{
    if (wrong && name) argp_error(state, "--%s: %s", name, wrong);
    if (wrong) argp_error(state, "%s", wrong);
}

uint64_t gn_option_number(struct argp_state *state, const char *name, const char *text, uint64_t low, uint64_t high)
{
    uint64_t number = low;
    gn_option_check(state, name, gn_parse_number(text, low, high, &number));
    return number;
}

unsigned gn_option_unsigned(struct argp_state *state, const char *name, const char *text, unsigned low, unsigned high)
{
    return (unsigned)gn_option_number(state, name, text, low, high);
}

bool gn_option_choice(struct argp_state *state, const char *name, const char *text, const char *first,
                      const char *second)
{
    if (strcmp(text, first) != 0 && strcmp(text, second) != 0)
        gn_option_check(state, name, gn_message_format("'%s' is neither %s nor %s", text, first, second));
    return !strcmp(text, second);
}

const char *gn_option_user(struct argp_state *state, const char *name, const char *text)
{
    if (!getpwnam(text)) gn_option_check(state, name, gn_message_format("no user '%s' on this host", text));
    return text;
}
