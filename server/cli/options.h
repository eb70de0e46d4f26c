/* options.h - describe the arguments of a sub-command, and parse them.
 *
 * A sub-command is one constant `cli_command`. Parsing, `--help`, the manual page and the completions of the shells are
 * derived from it, so that they agree. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

/* The completions that a shell offers for a value. */
typedef enum cli_completion {
    CLI_NOTHING,
    CLI_FILE,
    CLI_MODEL,
    CLI_MODEL_OR_FILE,
    CLI_OPERATION,
    CLI_WORDS
} cli_completion;

typedef struct cli_option {
    const char    *name;  /* the flag is --name; NULL ends a list */
    const char    *value; /* placeholder; with CLI_WORDS the allowed words, "a|b". NULL: a switch without value */
    cli_completion completion;
    const char    *variable; /* environment variable that the flag overrides; NULL: none */
    const char    *help;
} cli_option;

/* CLI_SOME: one or more; CLI_MANY: any number, also none. CLI_SOME and CLI_MANY stand only at the last operand. */
typedef enum cli_presence { CLI_NEEDED, CLI_OPTIONAL, CLI_SOME, CLI_MANY } cli_presence;

typedef struct cli_operand {
    const char    *name; /* placeholder, with CLI_WORDS the allowed words; NULL ends a list */
    cli_completion completion;
    cli_presence   presence;
} cli_operand;

enum { CLI_OPTION_LISTS = 4, CLI_OPERANDS = 5, CLI_OPTIONS_MOST = 32 };

typedef struct cli_arguments cli_arguments;

typedef struct cli_command {
    const char       *name;        /* NULL ends the table */
    const char       *summary;     /* one line, an infinitive: "list the models of a server" */
    const char       *description; /* paragraphs, separated by "\n\n"; NULL: the summary says everything */
    const cli_option *options[CLI_OPTION_LISTS]; /* lists, each ending with a NULL name */
    cli_operand       operands[CLI_OPERANDS];
    bool              takes_settings;           /* every setting of the server is an option too */
    const char       *statuses;                 /* the exit statuses; NULL: CLI_EXIT_STATUS */
    const char       *example;                  /* lines of shell; a line that begins with "#" is a comment */
    int (*run)(const cli_arguments *arguments); /* returns the exit status; NULL: main.c runs the command */
} cli_command;

/* The parsed arguments. All strings are those of argv or of the environment. */
struct cli_arguments {
    const cli_command *command;
    const char
          *values[CLI_OPTION_LISTS][CLI_OPTIONS_MOST]; /* by list and option; of an option without a value: its flag */
    char **operands;
    size_t n_operands;
    char **settings; /* settings[0] is the command's name, as srv_config_read expects */
    int    n_settings;
};

typedef enum cli_parsed { CLI_RUN, CLI_HELP, CLI_MISUSE } cli_parsed;

/* Parses argv[1..argc). Flags and operands may come in any order. For CLI_MISUSE, `error` names the argument and what
 * was expected. */
cli_parsed cli_parse(const cli_command *command, int argc, char *argv[], cli_arguments *arguments, char *error,
                     size_t error_size);

/* Returns the value of an option of the command, from the flag, else from its variable; NULL if it has none. */
const char *cli_value(const cli_arguments *arguments, const char *option);

/* Returns operand number `index`; NULL if there are fewer. */
const char *cli_operand_at(const cli_arguments *arguments, size_t index);

/* Reads the value of an option as a decimal number within bounds; `absent` if the option has no value. False after
 * printing an error. */
bool cli_number(const cli_arguments *arguments, const char *option, double least, double most, double absent,
                double *number);

/* Writes "torqued put [OPTION]... MODEL FILE". */
void cli_synopsis(const cli_command *command, char *text, size_t size);

/* True if an operand may be given more than once. */
static inline bool cli_repeats(const cli_operand *operand)
{
    return operand->presence == CLI_SOME || operand->presence == CLI_MANY;
}

/* Prints "torqued: " and a message to standard error; returns `status`. */
int cli_fail(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints, once in the process, that standard output cannot be written; reason 0: unknown. Returns false. */
bool cli_stdout_error(int reason);

/* Writes what is buffered for standard output and closes it. Returns `status`, or 1 after printing an error if some of
 * the output of the command is lost. */
int cli_close_stdout(int status);

/* As cli_fail; returns false. */
bool cli_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
