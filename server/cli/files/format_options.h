/* format_options.h - options of the commands that read a robot from files: those of its format, which become the query
 * of a PUT, and those that find its files. */
#pragma once
#include "server/cli/options.h"

extern const cli_option cli_format_options[]; /* --base, --mimic, --model ... */
extern const cli_option cli_file_options[];   /* --main, --path */

enum { CLI_QUERY = 2000 /* bytes of a query, NUL included */ };

/* Writes the options of the format as the query of a PUT, without "?"; query[CLI_QUERY]. */
void cli_format_query(const cli_arguments *arguments, char *query);
