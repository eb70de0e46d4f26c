/* commands.h - list the sub-commands of torqued, and run one. */
#pragma once
#include "options.h"

/* The table of all sub-commands; ends with a NULL name. The first entry, serve, has no `run`: main.c runs it. */
extern const cli_command cli_commands[];

const cli_command *cli_command_named(const char *name); /* NULL: there is none */

/* Runs the sub-command that argv[1] names, or prints its help. Returns false if argv names no sub-command, or serve:
 * the caller then serves. *status is the exit status: 0 success, 1 failure, 2 invalid arguments. */
bool cli_run(int argc, char *argv[], int *status);

/* --- model_commands.c, archive_commands.c ------------------------------------------------------------------------- */

extern const cli_option cli_check_options[], cli_convert_options[], cli_archive_options[];

int srv_check(const cli_arguments *arguments);
int srv_convert(const cli_arguments *arguments);
int srv_eval(const cli_arguments *arguments);
int srv_backup(const cli_arguments *arguments);
int srv_restore(const cli_arguments *arguments);
int srv_verify(const cli_arguments *arguments);

/* --- store_command.c ---------------------------------------------------------------------------------------------- */

int srv_store_command(const cli_arguments *arguments);

/* --- token_command.c ---------------------------------------------------------------------------------------------- */

extern const cli_option cli_token_options[];

int srv_token(const cli_arguments *arguments);

/* --- certificate_command.c ---------------------------------------------------------------------------------------- */

extern const cli_option cli_certificate_options[];

int srv_certificate_command(const cli_arguments *arguments);

/* --- manual.c, completion.c --------------------------------------------------------------------------------------- */

int cli_man(const cli_arguments *arguments);
int cli_completion_script(const cli_arguments *arguments);
