/* commands.c - see commands.h. */
#include "commands.h"
#include "help.h"
#include "server/cli/files/format_options.h"
#include "server/cli/client/client_commands.h"
#include "server/cli/top/top.h"
#include "server/operating/check_config.h"
#include <signal.h>
#include <stdio.h>
#include <string.h>

/* clang-format off */
const cli_command cli_commands[] = {
    {.name = "serve",
     .summary = "serve robots over HTTP until a signal stops it; the command may be omitted",
     .takes_settings = true,
     .example = "torqued serve --listen 127.0.0.1:8088,unix:/run/torqued/socket"},
    {.name = "check-config",
     .summary = "check the settings and files of a server before it starts or reloads",
     .description = "Takes the options, variables and file of serve, and prints every setting with its value and origin: flag, "
                    "file, environment or default; passwords are hidden. Then checks what the start would: clients, "
                    "certificates, folders of models and store, the audit log, the instruction set, and addresses that "
                    "other machines can reach. Nothing is changed, and a running server is not disturbed. Warnings name "
                    "what has no effect or ends soon. The service runs it before each start and reload.\n\n"
                    "The exit status is 1 if a server would not start with these settings.",
     .options = {cli_check_config_options},
     .takes_settings = true,
     .example = "torqued check-config --config /etc/torqued.env && systemctl reload torqued",
     .run = srv_check_config},
    {.name = "check",
     .summary = "check files of robots and print what looks wrong in them",
     .description = "Prints the report that PUT of the file would answer: what looks suspicious, and what was lost, assumed, "
                    "dropped or merged. No server is needed, and nothing is stored. FILE may be - for standard input. Files that the robot's file "
                    "names are read along the user's own paths; of a folder or an archive (zip, tar, tar.gz), --main names the robot's file. "
                    "A template of xacro is expanded first, if the program xacro is installed.\n\n"
                    "Warnings come first, then parts that the model does not hold, assumptions and merges. The last line of a file counts "
                    "them. The exit status is 0 if all files are good, 3 if one loads with warnings, 4 if the model of one "
                    "does not hold all of it, 1 if one is refused; the worst of the files counts, and refused is worst.",
     .options = {cli_format_options, cli_file_options, cli_check_options},
     .operands = {{"FILE|FOLDER|ARCHIVE", CLI_FILE, CLI_SOME}},
     .statuses = "0, 1, 3 or 4 as above, 2 for invalid arguments.",
     .example = "xacro my_arm.urdf.xacro | torqued check -",
     .run = srv_check},
    {.name = "convert",
     .summary = "convert a file of a robot to a model document, URDF, MJCF or SDF",
     .description = "Reads every format that the server accepts, and writes the result to standard output; a document in canonical "
                    "form, with the warnings about the file. Standard error lists what looks suspicious and what the result cannot hold. FILE may be - for standard input. Other files are found as "
                    "by check.",
     .options = {cli_format_options, cli_file_options, cli_convert_options},
     .operands = {{"FILE|FOLDER|ARCHIVE", CLI_FILE, CLI_NEEDED}},
     .example = "torqued convert --base floating my_robot.urdf > my_robot.json",
     .run = srv_convert},
    {.name = "eval",
     .summary = "answer one request without a server",
     .description = "Reads the body of a POST in JSON from standard input and writes the answer to standard output, with the "
                    "bits that a server would answer. The model is a file of a robot, or a model that a server with these settings would "
                    "have.",
     .options = {cli_format_options, cli_file_options},
     .operands = {{"MODEL|FILE", CLI_MODEL_OR_FILE, CLI_NEEDED}, {"OPERATION", CLI_OPERATION, CLI_NEEDED}},
     .takes_settings = true,
     .example = "echo '{\"q\": [0, 0.5, 1, 0, 0.5, 0]}' | torqued eval puma560 bias",
     .run = srv_eval},
    {.name = "backup",
     .summary = "write all models of the store and the bundled ones to one file with checksums",
     .description = "Servers may use and change the store meanwhile: the file has the models of one moment. It is written beside FILE and "
                    "renamed once it is complete and on the disk; - is standard output. Without all models, because a record is damaged, no "
                    "file is written. The manifest has SHA-256 of each model and of the whole file, the number of models, the version of "
                    "torqued and the time.",
     .operands = {{"FILE", CLI_FILE, CLI_NEEDED}},
     .takes_settings = true,
     .example = "torqued backup --store /var/lib/torqued models.backup",
     .run = srv_backup},
    {.name = "restore",
     .summary = "put the models of a backup into the store",
     .description = "ARCHIVE may be - for standard input. Its checksums and all its models are checked before the first change, and a model "
                    "whose bytes differ is named. Models that the archive does not have stay. No server may use the folder of the store "
                    "meanwhile; servers on a database go on.",
     .options = {cli_archive_options},
     .operands = {{"ARCHIVE", CLI_FILE, CLI_NEEDED}},
     .takes_settings = true,
     .example = "torqued restore models.backup --store /var/lib/torqued",
     .run = srv_restore},
    {.name = "verify",
     .summary = "check the checksums and the models of a backup, or of the store",
     .description = "Changes nothing. With ARCHIVE (- for standard input) checks that backup, else the store, also while servers use it. Names "
                    "each damaged model. The exit status is 0 if everything is whole, 1 if not.",
     .options = {cli_archive_options},
     .operands = {{"ARCHIVE", CLI_FILE, CLI_OPTIONAL}},
     .takes_settings = true,
     .example = "torqued verify models.backup\ntorqued verify --store /var/lib/torqued",
     .run = srv_verify},
    {.name = "store",
     .summary = "prepare the database of a store",
     .description = "migrate makes the tables of the store in the database that --store names, or brings those of an earlier version to "
                    "this one. Servers of the previous release go on meanwhile.",
     .operands = {{"migrate", CLI_NOTHING, CLI_NEEDED}},
     .takes_settings = true,
     .example = "torqued store migrate --store postgresql://torqued@db.example/torqued",
     .run = srv_store_command},
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
    {.name = "certificate",
     .summary = "make a key and a certificate with the names and addresses of this machine",
     .description = "Clients that are given the certificate (curl --cacert certificate.pem) then reach the server by each of its names: the "
                    "host name, alone and with its domain, NAME.local, localhost, and the addresses of all interfaces. Further names and "
                    "addresses are operands. Files that exist are not overwritten. A certificate of your own authority serves as well.",
     .options = {cli_certificate_options},
     .operands = {{"NAME|ADDRESS", CLI_NOTHING, CLI_MANY}},
     .example = "torqued certificate robots.example 192.0.2.7\n"
                "torqued --tokens tokens --tls-certificate certificate.pem --tls-key key.pem --listen 0.0.0.0:8088",
     .run = srv_certificate_command},
    {.name = "models",
     .summary = "list the models of a running server",
     .options = {cli_models_options, cli_connection_options},
     .example = "torqued models --url http://robots.example:8088",
     .run = cli_models},
    {.name = "put",
     .summary = "create or replace a model of a running server from a file",
     .description = "FILE is a model document in JSON, or XML of a format that the server reads, such as URDF; - for standard input. The "
                    "report of the import is printed. A robot of several files is sent as an archive: its file with those that it "
                    "names, found as by check. Meshes of URDF are sent with --meshes only, since robots do not need them.",
     .options = {cli_format_options, cli_file_options, cli_put_options, cli_connection_options},
     .operands = {{"MODEL", CLI_MODEL, CLI_NEEDED}, {"FILE|FOLDER|ARCHIVE", CLI_FILE, CLI_NEEDED}},
     .example = "torqued put my_arm my_arm.urdf",
     .run = cli_put},
    {.name = "delete",
     .summary = "delete models of a running server, and print their names",
     .options = {cli_connection_options},
     .operands = {{"MODEL", CLI_MODEL, CLI_SOME}},
     .example = "torqued delete my_arm",
     .run = cli_delete},
    {.name = "call",
     .summary = "evaluate an operation of a running server",
     .description = "The states come from FILE (- for standard input), from FIELD=JSON, or from both; then the fields of the command "
                    "line hold for all states. With neither, or with --from alone, FILE is standard input. Large batches are sent in parts, in CBOR with exact doubles.\n\n"
                    "json: the body of a request, with arrays of rows for a batch. jsonl: a state a line, such as {\"q\": [0, 1]}. csv: "
                    "a header with columns such as q.elbow (by name) or q3 (by number, from 1), then a state a line. npz: arrays named "
                    "q, qd, qdd, tau. npy: one array, which --field names. cbor and msgpack: the body of a request, which is sent as it is. The answer has the same formats, one row or array for each "
                    "state, and numbers that read back as the same doubles; in cbor (with plain arrays) and msgpack it is the answer to one request, as it came. Names of joints with separators, quotes, or blanks at their ends are "
                    "in quotes in CSV; the header of a motion that the console exports, such as q elbow [rad], is read too.\n\n"
                    "All parts are of one revision of the model: if somebody replaces it meanwhile, the command fails. The answer goes to "
                    "FILE.torqued- and six characters beside the FILE of --output, which is renamed once it is complete and on the disk; a "
                    "failure or a signal other than SIGKILL removes it. Symbolic links are followed, of several hard links only the one "
                    "that is named gets the answer, an existing file keeps its mode and, where the system allows it, its owner. Devices "
                    "and pipes are written as they are.",
     .options = {cli_call_options, cli_output_options, cli_connection_options},
     .operands = {{"MODEL", CLI_MODEL, CLI_NEEDED}, {"OPERATION", CLI_OPERATION, CLI_NEEDED}, {"FILE|FIELD=JSON", CLI_FILE, CLI_MANY}},
     .example = "torqued call two_link inverse-dynamics q=[0,0.5] qd=[1,2]\n"
                "torqued call panda inverse-dynamics states.csv gravity=[0,0,-1.62] --output torques.npz",
     .run = cli_call_command},
    {.name = "plot",
     .summary = "draw the answer of an operation as SVG or PNG",
     .description = "Evaluates as call does, and draws every quantity over time for a trajectory or simulation, else over the rows of "
                    "the batch. gnuplot draws; on Debian it is the package gnuplot-nox. The legend is as wide as the names need; long ones "
                    "lose their middle. The picture is written as call writes its answer.",
     .options = {cli_call_options, cli_plot_options, cli_connection_options},
     .operands = {{"MODEL", CLI_MODEL, CLI_NEEDED}, {"OPERATION", CLI_OPERATION, CLI_NEEDED}, {"FILE|FIELD=JSON", CLI_FILE, CLI_MANY}},
     .example = "torqued plot puma560 simulate q=[0,0,0,0,0,0] duration=2 tolerance=1e-9 samples=200 --output motion.svg",
     .run = cli_plot},
    {.name = "bench",
     .summary = "measure the latency of requests to a running server",
     .description = "Sends requests one after the other on one connection and prints percentiles and a histogram of the time from "
                    "sending to the whole answer: inverse dynamics of MODEL for one state, or GET of /livez without MODEL.",
     .options = {cli_bench_options, cli_connection_options},
     .operands = {{"MODEL", CLI_MODEL, CLI_OPTIONAL}},
     .example = "torqued bench panda --requests 10000 --url unix:/run/torqued/socket",
     .run = cli_bench},
    {.name = "top",
     .summary = "show what a running server does, live",
     .description = "Draws the state of the server, its memory, connections, models and queue, the rate and the times of each operation, "
                    "and the clients that cause most work, requests and refusals, once a second from /metrics and /readyz. q ends it. "
                    "Where standard output is no terminal, prints the figures since the start of the server once. A server that knows "
                    "its clients asks for a token with the role observe.",
     .options = {cli_top_options, cli_connection_options},
     .operands = {{"URL", CLI_NOTHING, CLI_OPTIONAL}},
     .example = "torqued top https://robots.example:8443 --token-file observer.token\n"
                "torqued top --once | grep -E '^(ready|memory|queue)'",
     .run = cli_top},
    {.name = "healthcheck",
     .summary = "tell by the exit status whether a running server is ready",
     .description = "Asks /readyz. Prints nothing if the server is ready, else the reason. It is meant for HEALTHCHECK of containers and for "
                    "service managers.",
     .options = {cli_connection_options},
     .example = "torqued healthcheck --timeout 2 || echo the server is not ready",
     .run = cli_healthcheck},
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
    case CLI_HELP:
        cli_help_command(command, stdout);
        *status = cli_close_stdout(0);
        return true;
    case CLI_MISUSE: *status = cli_fail(2, "%s", error); return true;
    case CLI_RUN: break;
    }
    if (!command->run) return false;
    signal(SIGXFSZ, SIG_IGN); /* a write beyond the file size limit then fails with EFBIG, which the command reports */
    *status = cli_close_stdout(command->run(&arguments));
    return true;
}
