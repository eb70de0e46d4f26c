/* options.c - see options.h. */
#include "options.h"
#include "server/config.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((format(printf, 1, 0))) static void print_error(const char *format, va_list arguments)
{
    fputs("torqued: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
}

int cli_fail(int status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_error(format, arguments);
    va_end(arguments);
    return status;
}

bool cli_error(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_error(format, arguments);
    va_end(arguments);
    return false;
}

bool cli_stdout_error(int reason)
{
    static bool printed;
    if (!printed)
        cli_error("cannot write standard output: %s", reason != 0 ? strerror(reason) : "a part of it is lost");
    printed = true;
    return false;
}

int cli_close_stdout(int status)
{
    bool lost   = ferror(stdout); /* the reason is gone, unless the command has printed it */
    int  reason = fflush(stdout) != 0 ? errno : 0;
    if (fclose(stdout) != 0 && reason == 0 && errno != EBADF) reason = errno; /* EBADF: closed from the start, unused */
    if (!lost && reason == 0) return status;
    cli_stdout_error(reason);
    return 1;
}

void cli_synopsis(const cli_command *command, char *text, size_t size)
{
    bool options = command->options[0] || command->takes_settings;
    int  length  = snprintf(text, size, "torqued %s%s", command->name, options ? " [OPTION]..." : "");
    for (const cli_operand *o = command->operands; o < command->operands + CLI_OPERANDS && o->name; o++) {
        bool needed = o->presence == CLI_NEEDED || o->presence == CLI_SOME;
        char word[80];
        snprintf(word, sizeof word, "%s%s%s%s", needed ? " " : " [", o->name, needed ? "" : "]",
                 cli_repeats(o) ? "..." : "");
        if (length >= 0 && (size_t)length < size) length += snprintf(text + length, size - (size_t)length, "%s", word);
    }
}

/* --- parsing --------------------------------------------------------------------------------------------------- */

/* True if `word` is one of the words of "a|b|c". */
static bool is_among(const char *words, const char *word)
{
    size_t length = strlen(word);
    for (const char *w = words; length > 0 && w; w = strchr(w, '|') ? strchr(w, '|') + 1 : NULL)
        if (strcspn(w, "|") == length && memcmp(w, word, length) == 0) return true;
    return false;
}

/* Finds the option --name[0..length) of a command; sets the indices of its list and of its place there. */
static const cli_option *find_option(const cli_command *c, const char *name, size_t length, size_t *list, size_t *place)
{
    for (*list = 0; *list < CLI_OPTION_LISTS && c->options[*list]; (*list)++) {
        const cli_option *options = c->options[*list];
        for (*place = 0; *place < CLI_OPTIONS_MOST && options[*place].name; (*place)++)
            if (strlen(options[*place].name) == length && memcmp(options[*place].name, name, length) == 0)
                return &options[*place];
    }
    return NULL;
}

typedef struct parser {
    int            argc, index;
    char         **argv;
    cli_arguments *out;
    char          *error;
    size_t         error_size;
} parser;

static bool misuse(parser *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool misuse(parser *p, const char *format, ...)
{
    char    synopsis[200];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(p->error, p->error_size, format, arguments);
    va_end(arguments);
    cli_synopsis(p->out->command, synopsis, sizeof synopsis);
    if (length >= 0 && (size_t)length < p->error_size)
        snprintf(p->error + length, p->error_size - (size_t)length, "\nusage: %s\n\"torqued %s --help\" explains it",
                 synopsis, p->out->command->name);
    return false;
}

static bool check_words(parser *p, const char *what, const char *words, const char *value)
{
    return is_among(words, value) || misuse(p, "%s is \"%.80s\"; expected %s", what, value, words);
}

/* Moves the unknown flag at p->index, and its value, to the settings. */
static void keep_setting(parser *p)
{
    char *flag                             = p->argv[p->index];
    p->out->settings[p->out->n_settings++] = flag;
    if (!strchr(flag, '=') && !srv_config_is_switch(flag) && p->index + 1 < p->argc)
        p->out->settings[p->out->n_settings++] = p->argv[++p->index];
}

static bool parse_flag(parser *p)
{
    const char       *flag   = p->argv[p->index];
    size_t            length = strcspn(flag, "="), list, place;
    const cli_option *o      = find_option(p->out->command, flag + 2, length - 2, &list, &place);
    if (!o && p->out->command->takes_settings) {
        keep_setting(p);
        return true;
    }
    if (!o) return misuse(p, "\"%.80s\" is not an option of %s", flag, p->out->command->name);
    const char **value = &p->out->values[list][place];
    if (!o->value) {
        *value = flag;
        return !flag[length] || misuse(p, "--%s takes no value", o->name);
    }
    if (flag[length])
        *value = flag + length + 1;
    else if (p->index + 1 < p->argc)
        *value = p->argv[++p->index];
    else
        return misuse(p, "--%s needs a value: --%s %s", o->name, o->name, o->value);
    if (o->completion == CLI_WORDS) return check_words(p, flag, o->value, *value);
    return **value || misuse(p, "--%s has an empty value; expected %s", o->name, o->value);
}

/* Refuses operand `surplus`. A command that ends with an operation reads its request from standard input; `call` takes
 * the fields of a request as arguments. */
static bool refuse_surplus(parser *p, const cli_operand *last, const char *surplus)
{
    const bool is_field = last && last->completion == CLI_OPERATION && strchr(surplus, '=');
    return misuse(p, "\"%.80s\" is one argument too many for %s%s", surplus, p->out->command->name,
                  is_field ? ", which reads the fields of a request in JSON from standard input" : "");
}

static bool check_operands(parser *p)
{
    const cli_operand *o     = p->out->command->operands;
    size_t             index = 0, n = p->out->n_operands;
    for (; o < p->out->command->operands + CLI_OPERANDS && o->name; o++, index++) {
        if (index >= n && (o->presence == CLI_NEEDED || o->presence == CLI_SOME))
            return misuse(p, "%s needs %s", p->out->command->name, o->name);
        if (cli_repeats(o)) return true;
        if (index < n && o->completion == CLI_WORDS &&
            !check_words(p, "the argument", o->name, p->out->operands[index]))
            return false;
    }
    return index >= n || refuse_surplus(p, index ? o - 1 : NULL, p->out->operands[index]);
}

static bool is_help(const char *argument)
{
    return strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0;
}

cli_parsed cli_parse(const cli_command *command, int argc, char *argv[], cli_arguments *arguments, char *error,
                     size_t error_size)
{
    parser p   = {.argc = argc, .index = 1, .argv = argv, .out = arguments, .error = error, .error_size = error_size};
    *arguments = (cli_arguments){.command = command, .n_settings = 1};
    for (int i = 1; i < argc; i++)
        if (is_help(argv[i])) return CLI_HELP;
    static char **kept; /* lives until the process exits */
    kept = calloc((size_t)argc * 2 + 2, sizeof *kept);
    if (!kept) {
        snprintf(error, error_size, "out of memory");
        return CLI_MISUSE;
    }
    arguments->operands    = kept;
    arguments->settings    = kept + argc + 1;
    arguments->settings[0] = argv[0];
    for (; p.index < argc; p.index++)
        if (argv[p.index][0] == '-' && argv[p.index][1]) {
            if (argv[p.index][1] != '-') {
                misuse(&p, "\"%.80s\" is not an option of %s", argv[p.index], command->name);
                return CLI_MISUSE;
            }
            if (!parse_flag(&p)) return CLI_MISUSE;
        } else {
            kept[arguments->n_operands++] = argv[p.index];
        }
    return check_operands(&p) ? CLI_RUN : CLI_MISUSE;
}

/* --- values ---------------------------------------------------------------------------------------------------- */

const char *cli_value(const cli_arguments *arguments, const char *option)
{
    size_t            list, place;
    const cli_option *o = find_option(arguments->command, option, strlen(option), &list, &place);
    if (!o || arguments->values[list][place]) return o ? arguments->values[list][place] : NULL;
    const char *inherited = o->variable ? getenv(o->variable) : NULL;
    return inherited && *inherited ? inherited : NULL;
}

const char *cli_operand_at(const cli_arguments *arguments, size_t index)
{
    return index < arguments->n_operands ? arguments->operands[index] : NULL;
}

bool cli_number(const cli_arguments *arguments, const char *option, double least, double most, double absent,
                double *number)
{
    const char *text = cli_value(arguments, option);
    char       *end  = NULL;
    *number          = text ? strtod(text, &end) : absent;
    if (!text || (end != text && !*end && *number >= least && *number <= most)) return true;
    cli_fail(2, "--%s is \"%.80s\"; expected a number from %.15g to %.15g", option, text, least, most);
    return false;
}
