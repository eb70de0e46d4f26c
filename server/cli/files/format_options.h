/* format_options.h - options of the commands that read a robot from files: those of its format, which become the query
 * of a PUT, and those that find its files. */
#pragma once
#include "server/cli/options.h"

extern const cli_option cli_format_options[]; /* --base, --mimic, --model ... */
extern const cli_option cli_file_options[];   /* --main, --path, --locked */

enum { CLI_QUERY = 3900 /* bytes of a query, NUL included */ };

/* Writes the options of the format, and --locked, as the query of a PUT, without "?". False after printing that one is
 * too long. */
bool cli_format_query(const cli_arguments *arguments, char query[CLI_QUERY]);
