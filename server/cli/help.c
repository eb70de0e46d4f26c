/* help.c - see help.h. */
#include "help.h"
#include "commands.h"
#include "server/config.h"
#include <string.h>

enum { WIDTH = 78, OPTION_INDENT = 8 };

/* Prints a text with lines of at most WIDTH columns, each after `indent` spaces; a line break of the text is kept. */
static void print_wrapped(FILE *out, const char *text, int indent)
{
    int column = 0;
    for (const char *word = text; *word;) {
        int length = (int)strcspn(word, " \n");
        if (column > 0 && column + 1 + length > WIDTH) {
            fputc('\n', out);
            column = 0;
        }
        if (length > 0) fprintf(out, "%*s%.*s", column > 0 ? 1 : indent, "", length, word);
        if (length > 0) column += length + (column > 0 ? 1 : indent);
        word += length;
        if (*word == '\n') {
            fputc('\n', out);
            column = 0;
        }
        if (*word) word++;
    }
    fputc('\n', out);
}

static void print_option(FILE *out, const cli_option *o)
{
    fprintf(out, "  --%s%s%s\n", o->name, o->value ? " " : "", o->value ? o->value : "");
    print_wrapped(out, o->help, OPTION_INDENT);
    if (o->variable) fprintf(out, "%*s%s\n", OPTION_INDENT, "", o->variable);
}

static void print_setting(void *arg, const srv_setting_text *s)
{
    FILE *out = arg;
    fprintf(out, "  --%s%s%s\n", s->name, s->value ? " " : "", s->value ? s->value : "");
    print_wrapped(out, s->help, OPTION_INDENT);
    fprintf(out, "%*s%s%s%s\n", OPTION_INDENT, "", s->variable, s->default_text ? ", default " : "",
            s->default_text ? s->default_text : "");
}

static void print_options(FILE *out, const cli_command *c)
{
    if (c->options[0]) fputs("\noptions:\n", out);
    for (size_t list = 0; list < CLI_OPTION_LISTS && c->options[list]; list++)
        for (const cli_option *o = c->options[list]; o->name; o++)
            print_option(out, o);
    if (!c->takes_settings) return;
    if (c->run) {
        fputs("\nEvery setting that \"torqued serve --help\" lists is an option too.\n", out);
        return;
    }
    fputs("\nsettings:\n", out);
    srv_config_describe(print_setting, out);
    fputs("\nA flag overrides its environment variable, and the variable overrides the default. Sizes\n"
          "take K, M or G (powers of 1024).\n",
          out);
}

static void print_example(FILE *out, const char *example)
{
    fputs("\nexample:\n", out);
    for (const char *line = example; *line;) {
        int length = (int)strcspn(line, "\n");
        fprintf(out, "  %.*s\n", length, line);
        line += length + (line[length] == '\n');
    }
}

void cli_help_command(const cli_command *command, FILE *out)
{
    char synopsis[200];
    cli_synopsis(command, synopsis, sizeof synopsis);
    fprintf(out, "torqued %s - %s\n\nusage: %s\n", command->name, command->summary, synopsis);
    if (command->description) {
        fputc('\n', out);
        print_wrapped(out, command->description, 0);
    }
    print_options(out, command);
    print_example(out, command->example);
    fprintf(out, "\nexit status: %s\n", command->statuses ? command->statuses : CLI_EXIT_STATUS);
}

void cli_help_overview(FILE *out)
{
    fputs("torqued serves robot dynamics over HTTP.\n\n"
          "usage: torqued [serve] [--SETTING VALUE]...\n"
          "       torqued COMMAND [ARGUMENT]...\n"
          "       torqued COMMAND --help | --help | --version | --settings-table\n\n"
          "commands:\n",
          out);
    for (const cli_command *c = cli_commands; c->name; c++)
        fprintf(out, "  %-12s %s\n", c->name, c->summary);
    fputs("\n\"torqued serve --help\" lists the settings of the server, \"torqued COMMAND --help\" explains a\n"
          "command with an example, and \"man torqued\" has both.\n",
          out);
}
