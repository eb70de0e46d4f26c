/* commands.h - what torqued does besides serving: `torqued COMMAND ...`, without sockets and threads. */
#pragma once
#include <stdbool.h>

/* True if argv[1] names a command: it has been carried out, and *status is what the process ends with (0 done,
 * 1 failed, 2 misused). */
bool srv_command(int argc, char *argv[], int *status);

/* The commands, each in the file of its name or nearly; argv[0] is its name. */
int srv_export(int argc, char *argv[]);  /* archive_commands.c */
int srv_import(int argc, char *argv[]);  /* archive_commands.c */
int srv_check(int argc, char *argv[]);   /* model_commands.c */
int srv_convert(int argc, char *argv[]); /* model_commands.c */
int srv_eval(int argc, char *argv[]);    /* model_commands.c */
