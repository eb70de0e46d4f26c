/* client_commands.h - the sub-commands that ask a running server. */
#pragma once
#include "server/cli/options.h"

extern const cli_option cli_connection_options[]; /* --url, --token-file, --ca-file, --timeout; connection.c */
extern const cli_option
    cli_call_options[]; /* options of `call` and `plot`: --from, --field, --fields, --chunk; call.c */
extern const cli_option cli_models_options[]; /* model_files.c */
extern const cli_option cli_put_options[];    /* model_files.c */
extern const cli_option cli_output_options[]; /* call_command.c */
extern const cli_option cli_plot_options[];   /* plot.c */
extern const cli_option cli_bench_options[];  /* bench.c */

int cli_models(const cli_arguments *arguments);       /* model_files.c */
int cli_put(const cli_arguments *arguments);          /* model_files.c */
int cli_delete(const cli_arguments *arguments);       /* model_files.c */
int cli_call_command(const cli_arguments *arguments); /* call_command.c */
int cli_plot(const cli_arguments *arguments);         /* plot.c */
int cli_bench(const cli_arguments *arguments);        /* bench.c */
int cli_healthcheck(const cli_arguments *arguments);  /* healthcheck.c */
