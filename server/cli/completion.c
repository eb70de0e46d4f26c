/* completion.c - see completion.h. */
#include "completion.h"
#include "api/api.h"
#include "commands.h"
#include "server/config.h"
#include <stdio.h>
#include <string.h>

void cli_print_quoted(const char *text, const char *special)
{
    for (const char *c = text; *c; c++)
        if (*c == '\'')
            fputs("'\\''", stdout);
        else
            printf("%s%c", strchr(special, *c) ? "\\" : "", *c);
}

void cli_print_words(const char *words)
{
    for (const char *c = words; *c; c++)
        putchar(*c == '|' ? ' ' : *c);
}

void cli_print_operations(void)
{
    for (size_t i = 0; api_operation_name_at(i); i++)
        printf("%s%s", i > 0 ? " " : "", api_operation_name_at(i));
}

void cli_print_choices(const cli_flag *f, const char *before, const char *after)
{
    fputs(before, stdout);
    if (f->completion == CLI_OPERATION)
        cli_print_operations();
    else
        cli_print_words(f->words);
    fputs(after, stdout);
}

typedef struct flag_visit {
    void (*print)(const char *command, const cli_flag *f);
    const char *command;
} flag_visit;

static void visit_setting(void *arg, const srv_setting_text *s)
{
    const flag_visit *visit = arg;
    cli_completion    by_name =
        s->value && (strcmp(s->value, "DIR") == 0 || strcmp(s->value, "FILE") == 0) ? CLI_FILE : CLI_NOTHING;
    visit->print(visit->command, &(cli_flag){.name       = s->name,
                                             .value      = s->value,
                                             .words      = s->choices,
                                             .help       = s->help,
                                             .completion = s->choices ? CLI_WORDS : by_name});
}

void cli_visit_options(const cli_command *c, void (*print)(const char *command, const cli_flag *f))
{
    for (size_t list = 0; list < CLI_OPTION_LISTS && c->options[list]; list++)
        for (const cli_option *o = c->options[list]; o->name; o++)
            print(c->name, &(cli_flag){.name       = o->name,
                                       .value      = o->value,
                                       .words      = o->completion == CLI_WORDS ? o->value : NULL,
                                       .help       = o->help,
                                       .completion = o->completion});
}

void cli_visit_settings(const char *command, void (*print)(const char *command, const cli_flag *f))
{
    srv_config_describe(visit_setting, &(flag_visit){.print = print, .command = command});
}

bool cli_has_operand(const cli_command *c, size_t i)
{
    return i < CLI_OPERANDS && c->operands[i].name;
}

int cli_completion_script(const cli_arguments *arguments)
{
    const char *shell = arguments->operands[0];
    if (strcmp(shell, "bash") == 0) cli_print_bash();
    if (strcmp(shell, "zsh") == 0) cli_print_zsh();
    if (strcmp(shell, "fish") == 0) cli_print_fish();
    return 0;
}
