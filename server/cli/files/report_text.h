/* report_text.h - print the report of a robot's import line by line, and its verdict: `torqued check` and `torqued
 * put`. */
#pragma once
#include "server/cli/options.h"

/* The switch of commands that print a report; a row of their options. */
#define CLI_VERBOSE                                                                                                    \
    {                                                                                                                  \
        "verbose", NULL, CLI_NOTHING, NULL, "list all merges, assumptions and dropped parts, too"                      \
    }

/* Exit statuses of `torqued check` beyond 0, 1 and 2. */
enum { CLI_WARNED = 3, CLI_LOST = 4 };

/* A report that is being printed. The entries come in the order of api_report_order. */
typedef struct cli_report {
    const char *subject; /* begins each line: the file or the model */
    bool        verbose; /* false: many notes of one code are counted, not listed */
    size_t      warnings, losses, notes;
    char        code[16]; /* code of the latest entry; notes of one code are a group */
    size_t      in_group; /* entries with this code so far */
} cli_report;

/* Prints an entry to standard output, as an api_report_callback whose `arg` is the cli_report. */
void cli_report_entry(void *arg, const char *severity, const char *code, const char *where, const char *text);

/* Prints the end of the report: "arm.urdf: loads, with 2 warnings, 1 part not held, 41 notes". Returns 0, CLI_WARNED or
 * CLI_LOST. */
int cli_report_end(cli_report *report);
