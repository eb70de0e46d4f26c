/* commands.c - see commands.h. */
#include "commands.h"
#include "help.h"
#include <stdio.h>
#include <string.h>

/* clang-format off */
const cli_command cli_commands[] = {
    {.name = "serve",
     .summary = "serve robots over HTTP until a signal stops it; the command may be omitted",
     .takes_settings = true,
     .example = "torqued serve --listen 127.0.0.1:8088,unix:/run/torqued/socket"},
    {.name = "check",
     .summary = "check files of robots and print what looks wrong in them",
     .description = "Prints the report that PUT of the file would answer: what was merged, dropped or assumed, and what looks "
                    "suspicious. No server is needed, and nothing is stored. FILE may be - for standard input.",
     .options = {cli_format_options},
     .operands = {{"FILE", CLI_FILE, CLI_SOME}},
     .example = "xacro my_arm.urdf.xacro | torqued check -",
     .run = srv_check},
    {.name = "convert",
     .summary = "convert a file of a robot to a model document, URDF or MJCF",
     .description = "Reads every format that the server accepts, and writes the result to standard output; a document in canonical "
                    "form. Standard error lists what the result cannot hold. FILE may be - for standard input; an MJCF file may "
                    "include files of its own folder.",
     .options = {cli_format_options, cli_convert_options},
     .operands = {{"FILE", CLI_FILE, CLI_NEEDED}},
     .example = "torqued convert --base floating my_robot.urdf > my_robot.json",
     .run = srv_convert},
    {.name = "eval",
     .summary = "answer one request without a server",
     .description = "Reads the body of a POST in JSON from standard input and writes the answer to standard output, with the "
                    "bits that a server would answer. The model is a file of a robot, or a model that a server with these settings would "
                    "have.",
     .options = {cli_format_options},
     .operands = {{"MODEL|FILE", CLI_MODEL_OR_FILE, CLI_NEEDED}, {"OPERATION", CLI_OPERATION, CLI_NEEDED}},
     .takes_settings = true,
     .example = "echo '{\"q\": [0, 0.5, 1, 0, 0.5, 0]}' | torqued eval puma560 bias",
     .run = srv_eval},
    {.name = "export",
     .summary = "write all models of the store and the bundled ones to one file",
     .description = "Writes the archive to standard output. No server may use the store meanwhile.",
     .takes_settings = true,
     .example = "torqued export --store /var/lib/torqued > models.json",
     .run = srv_export},
    {.name = "import",
     .summary = "add the models of an archive to the store",
     .description = "ARCHIVE may be - for standard input. The archive is checked as a whole before the first change. No server may use the "
                    "store meanwhile.",
     .operands = {{"ARCHIVE", CLI_FILE, CLI_NEEDED}},
     .takes_settings = true,
     .example = "torqued import models.json --store /var/lib/torqued",
     .run = srv_import},
    {.name = "token",
     .summary = "make the token of a client",
     .description = "Prints the token to standard error: it is shown once and kept nowhere. Prints the client with its roles and the hash of "
                    "the token to standard output, as a line for the file of --tokens. Roles are evaluate (read and evaluate models), admin "
                    "(also change models) and observe (read the metrics), with commas between them. Send SIGHUP to a server that runs: it "
                    "then reads the file again.",
     .options = {cli_token_options},
     .operands = {{"NAME", CLI_NOTHING, CLI_NEEDED}, {"ROLE[,ROLE]...", CLI_NOTHING, CLI_NEEDED}},
     .example = "torqued token planner evaluate --days 90 --models 'cell1-*' >>/etc/torqued/tokens",
     .run = srv_token},
    {.name = "completion",
     .summary = "print the completion script of a shell",
     .description = "Completes sub-commands, options, settings and their values, the models of the server and the operations.",
     .operands = {{"bash|zsh|fish", CLI_WORDS, CLI_NEEDED}},
     .example = "source <(torqued completion bash)",
     .run = cli_completion_script},
    {.name = "man",
     .summary = "print the manual page",
     .description = "The page is in the mdoc format, made from the tables of commands and settings.",
     .example = "torqued man | man -l -",
     .run = cli_man},
    {.name = NULL},
};
/* clang-format on */

const cli_command *cli_command_named(const char *name)
{
    for (const cli_command *c = cli_commands; c->name; c++)
        if (strcmp(name, c->name) == 0) return c;
    return NULL;
}

bool cli_run(int argc, char *argv[], int *status)
{
    const cli_command *command = argc > 1 ? cli_command_named(argv[1]) : NULL;
    cli_arguments      arguments;
    char               error[600];
    *status = 0;
    if (!command) return false;
    switch (cli_parse(command, argc - 1, argv + 1, &arguments, error, sizeof error)) {
    case CLI_HELP: cli_help_command(command, stdout); return true;
    case CLI_MISUSE: *status = cli_fail(2, "%s", error); return true;
    case CLI_RUN: break;
    }
    if (!command->run) return false;
    *status = command->run(&arguments);
    return true;
}
