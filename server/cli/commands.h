/* commands.h - run the commands `torqued COMMAND ...`, which use no sockets or threads of the server. */
#pragma once
#include <stdbool.h>

/* True if argv[1] names a command: it has run, and *status is the exit status (0 success, 1 failure, 2 invalid
 * arguments). */
bool srv_command(int argc, char *argv[], int *status);

/* The functions of the commands; argv[0] is the command's name. */
int srv_export(int argc, char *argv[]);  /* archive_commands.c */
int srv_import(int argc, char *argv[]);  /* archive_commands.c */
int srv_check(int argc, char *argv[]);   /* model_commands.c */
int srv_convert(int argc, char *argv[]); /* model_commands.c */
int srv_eval(int argc, char *argv[]);    /* model_commands.c */
