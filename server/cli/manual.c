/* manual.c - write the manual page torqued(1) in the mdoc language, from the tables of commands and settings.
 *
 * Source of the language: mdoc(7) and groff_char(7). */
#include "commands.h"
#include "help.h"
#include "server/config.h"
#include <stdio.h>
#include <string.h>

#define MANUAL_DATE "November 24, 2026" /* when the fixed text of this page changed last */

enum { LINE = 72 /* columns of the source; escapes may add some */ };

/* Prints text[0..length) with what roff would take for its own escaped. At the start of a line a full stop or an
 * apostrophe would begin a request. */
static void print_escaped(const char *text, size_t length, bool line_start)
{
    for (size_t i = 0; i < length; i++) {
        if (line_start && (text[i] == '.' || text[i] == '\'')) fputs("\\&", stdout);
        line_start = text[i] == '\n';
        if (text[i] == '\\')
            fputs("\\e", stdout);
        else if (text[i] == '-')
            fputs("\\-", stdout);
        else if (text[i] == '~')
            fputs("\\(ti", stdout);
        else if (text[i] == '\'')
            fputs("\\(aq", stdout);
        else
            putchar(text[i]);
    }
}

/* Prints words[0..length) in lines of at most LINE columns. */
static void print_words(const char *words, size_t length)
{
    size_t column = 0;
    for (size_t i = 0; i < length;) {
        size_t size = strcspn(words + i, " ");
        if (size > length - i) size = length - i;
        if (column > 0) putchar(column + 1 + size > LINE ? '\n' : ' ');
        if (column + 1 + size > LINE) column = 0;
        print_escaped(words + i, size, column == 0);
        column += size + 1;
        i += size + 1;
    }
    putchar('\n');
}

/* Prints paragraphs; each sentence begins a new line, as mdoc asks. */
static void print_text(const char *text)
{
    for (const char *rest = text; *rest;) {
        const char *end = strstr(rest, ". "), *paragraph = strstr(rest, "\n\n");
        bool        breaks = paragraph && (!end || paragraph < end);
        size_t      length = breaks ? (size_t)(paragraph - rest) : end ? (size_t)(end + 1 - rest) : strlen(rest);
        print_words(rest, length);
        if (breaks) puts(".Pp");
        rest += length;
        rest += breaks ? 2 : *rest == ' ';
    }
}

/* Prints a summary as a sentence. */
static void print_sentence(const char *summary)
{
    char sentence[200];
    snprintf(sentence, sizeof sentence, "%s.", summary);
    if (*sentence >= 'a' && *sentence <= 'z') *sentence = (char)(*sentence - 'a' + 'A');
    print_text(sentence);
}

static void print_literal(const char *text)
{
    puts(".Bd -literal -offset indent");
    print_escaped(text, strlen(text), true);
    puts("\n.Ed");
}

static void print_item(const char *flag, const char *value)
{
    fputs(".It Fl Fl ", stdout);
    print_escaped(flag, strlen(flag), false);
    if (value) {
        fputs(" Ar \\&", stdout); /* the escape keeps a placeholder from being read as a macro */
        print_escaped(value, strlen(value), false);
    }
    putchar('\n');
}

static void print_options(const cli_command *c)
{
    if (!c->options[0]) return;
    puts(".Bl -tag -width indent");
    for (size_t list = 0; list < CLI_OPTION_LISTS && c->options[list]; list++)
        for (const cli_option *o = c->options[list]; o->name; o++) {
            print_item(o->name, o->value);
            print_text(o->help);
            if (o->variable) printf("The environment variable is\n.Ev %s .\n", o->variable);
        }
    puts(".El");
}

static void print_command(const cli_command *c)
{
    char synopsis[200];
    cli_synopsis(c, synopsis, sizeof synopsis);
    printf(".Ss %s\n", c->name);
    print_literal(synopsis);
    print_sentence(c->summary);
    if (c->description) puts(".Pp");
    if (c->description) print_text(c->description);
    print_options(c);
    if (c->takes_settings) puts(".Pp\nEvery setting of\n.Sx SETTINGS\nis an option too.");
    puts(".Pp\nExample:");
    print_literal(c->example);
}

static void print_setting(void *arg, const srv_setting_text *s)
{
    (void)arg;
    print_item(s->name, s->value);
    print_text(s->help);
    printf(".Pp\n.Ev %s", s->variable);
    if (s->default_text) {
        fputs(" ,\ndefault ", stdout);
        print_escaped(s->default_text, strlen(s->default_text), false);
    }
    putchar('\n');
}

static void print_head(void)
{
    puts(".\\\" Written by torqued man: do not edit.\n"
         ".Dd " MANUAL_DATE "\n"
         ".Dt TORQUED 1\n"
         ".Os torqued " TORQUED_VERSION "\n"
         ".Sh NAME\n.Nm torqued\n.Nd serve robot dynamics over HTTP, and ask such a server\n"
         ".Sh SYNOPSIS\n"
         ".Nm torqued\n.Op Cm serve\n.Op Fl Fl Ns Ar SETTING Ar VALUE\n.Ar ...\n"
         ".Nm torqued\n.Ar COMMAND\n.Op Ar ARGUMENT\n.Ar ...\n"
         ".Nm torqued\n.Ar COMMAND\n.Fl Fl help\n"
         ".Nm torqued\n.Fl Fl help | Fl Fl version | Fl Fl settings\\-table\n"
         ".Sh DESCRIPTION\n"
         ".Nm\ncomputes the dynamics of robots: torques, accelerations, inertia\nmatrices, gradients and motions.\n"
         "Without a command it serves them over HTTP in JSON, CBOR and MessagePack,\nuntil SIGTERM or SIGINT.\n"
         "The reference of the service is at\n.Pa /docs\nof the server.");
}

int cli_man(const cli_arguments *arguments)
{
    (void)arguments;
    print_head();
    puts(".Sh COMMANDS");
    for (const cli_command *c = cli_commands; c->name; c++)
        print_command(c);
    puts(".Sh SETTINGS\nA flag overrides its environment variable, and the variable overrides\nthe default.\n"
         "Sizes take K, M and G (powers of 1024).\n.Bl -tag -width indent");
    srv_config_describe(print_setting, NULL);
    puts(".El\n.Sh EXIT STATUS\n" CLI_EXIT_STATUS);
    return 0;
}
