/* help.h - print `--help` of torqued and of its sub-commands. */
#pragma once
#include "options.h"
#include <stdio.h>

void cli_help_overview(FILE *out);
void cli_help_command(const cli_command *command, FILE *out);

/* The exit statuses of all sub-commands, a sentence for help and manual. */
#define CLI_EXIT_STATUS "0 on success, 1 on failure, 2 for invalid arguments."
