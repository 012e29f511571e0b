// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_KIT_PARSE_H
#define GRADNIC_TOOLS_KIT_PARSE_H
/// Command lines. What argp and getopt say of them on stderr has words of the command line in it,
/// which may come from file names. Control characters in them are escaped.

#include <argp.h>
#include <stdio.h>

/// From now on control characters of what is written to stderr are escaped, also of what the C
/// library writes itself. @return what stderr was
FILE *gn_stderr_escape(void);
/// Ends that.
void gn_stderr_restore(FILE *before);

/// Does what argp_parse() does, without flags and without the index of the first argument. Ends the
/// program when there is no memory.
void gn_argp_parse(const struct argp *argp, int argc, char **argv, void *input);

#endif
