/* call_command.c - implement `torqued call`: the answer goes to a file or to standard output. */
#include "call.h"
#include "client_commands.h"
#include "output.h"
#include <string.h>

const cli_option cli_output_options[] = {
    {"to", CLI_FORMATS, CLI_WORDS, NULL,
     "format of the answer (default: by the end of the name of --output, else json for identify and the format of FILE "
     "for other operations)"},
    {"output", "FILE", CLI_FILE, NULL,
     "file for the answer, also that of the states (default: standard output). FILE keeps its earlier content until "
     "the "
     "answer is complete, and if the command fails or is interrupted"},
    {.name = NULL},
};

static bool write_raw(void *arg, const char *answer, size_t length)
{
    cli_output *output = arg;
    fwrite(answer, 1, length, output->file.stream);
    if (output->format == CLI_JSON) putc('\n', output->file.stream);
    output->format = CLI_NO_FORMAT; /* nothing is left to write at the end */
    return cli_output_file_check(&output->file);
}

static bool add_part(void *arg, const cli_batch *part)
{
    return cli_output_add(arg, part);
}

/* Chooses the format of the answer. */
static cli_format output_format(cli_call *call, const char *file)
{
    const char *to      = cli_value(call->arguments, "to");
    cli_format  of_name = cli_format_of_file(file);
    if (to) return cli_format_named(to);
    if (of_name != CLI_NO_FORMAT) return of_name;
    if (cli_call_answers_once(call)) return CLI_JSON;
    if (call->file && call->format == CLI_NO_FORMAT) call->format = cli_states_sniff(call->file);
    return call->format == CLI_NO_FORMAT ? CLI_JSON : call->format;
}

/* Evaluates the operation and writes the answer. Returns the exit status. */
static int write_answer(cli_call *call, const char *file)
{
    cli_output output = {0};
    cli_format format = output_format(call, file);
    if (format == CLI_CSV && !cli_call_coordinates(call)) return 1;
    int status = cli_output_open(&output, file, format, call->coordinates.model ? &call->coordinates : NULL);
    if (status != 0) return status;
    cli_format takes = cli_format_media_type(format) ? format : CLI_NO_FORMAT;
    cli_sink   sink  = {.arg = &output, .takes = takes, .raw = write_raw, .add = add_part};
    bool       good  = cli_call_run(call, &sink) && cli_output_finish(&output);
    cli_output_close(&output);
    return good ? 0 : 1;
}

int cli_call_command(const cli_arguments *arguments)
{
    cli_call call;
    int      status = cli_call_open(&call, arguments);
    if (status == 0) status = write_answer(&call, cli_value(arguments, "output"));
    cli_call_close(&call);
    return status;
}
