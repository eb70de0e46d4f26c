/* completion_zsh.c - write the completion script of zsh (completion.h). */
#include "commands.h"
#include "completion.h"
#include <stdio.h>

static const char zsh_head[] =
    "#compdef torqued\n"
    "# torqued - completion for zsh, written by `torqued completion zsh`.\n"
    "\n"
    "_torqued_models()\n"
    "{\n"
    "    local -a models connection\n"
    "    local flag\n"
    "    for flag in --url --token-file --ca-file; do\n"
    "        [[ -z ${opt_args[$flag]-} ]] || connection+=(\"$flag\" \"${(Q)opt_args[$flag]}\")\n"
    "    done\n"
    "    models=(${(f)\"$(_call_program models torqued models --names --timeout 2 ${(q)connection} 2>/dev/null)\"})\n"
    "    compadd -a models\n"
    "}\n"
    "\n"
    "_torqued_models_or_files()\n"
    "{\n"
    "    _torqued_models\n"
    "    _files\n"
    "}\n"
    "\n"
    "_torqued()\n"
    "{\n"
    "    local curcontext=$curcontext state line\n"
    "    typeset -A opt_args\n";

static void print_zsh_action(const cli_flag *f)
{
    switch (f->completion) {
    case CLI_FILE: fputs("_files", stdout); return;
    case CLI_MODEL: fputs("_torqued_models", stdout); return;
    case CLI_MODEL_OR_FILE: fputs("_torqued_models_or_files", stdout); return;
    case CLI_OPERATION:
    case CLI_WORDS: cli_print_choices(f, "(", ")"); return;
    case CLI_NOTHING: putchar(' '); return;
    }
}

static void print_zsh_flag(const char *command, const cli_flag *f)
{
    (void)command;
    printf("            '--%s%s[", f->name, f->value ? "=" : "");
    cli_print_quoted(f->help, "[]:\\");
    putchar(']');
    if (f->value) {
        putchar(':');
        cli_print_quoted(f->value, ":\\");
        putchar(':');
        print_zsh_action(f);
    }
    puts("'");
}

static void print_zsh_operands(const cli_command *c)
{
    for (size_t i = 0; cli_has_operand(c, i); i++) {
        const cli_operand *o = &c->operands[i];
        if (cli_repeats(o))
            printf("            '*:%s:", o->name);
        else
            printf("            '%zu:%s%s:", i + 1, o->presence == CLI_OPTIONAL ? ":" : "", o->name);
        print_zsh_action(&(cli_flag){.words = o->name, .completion = o->completion});
        puts("'");
    }
}

void cli_print_zsh(void)
{
    fputs(zsh_head, stdout);
    puts("    local -a settings=(");
    cli_visit_settings(NULL, print_zsh_flag);
    puts("    )\n    local -a commands=(");
    for (const cli_command *c = cli_commands; c->name; c++) {
        printf("        '%s:", c->name);
        cli_print_quoted(c->summary, ":\\");
        puts("'");
    }
    puts("    )\n    _arguments -C '--help[print help]' '--version[print the version]' \\\n"
         "        '--settings-table[print the settings as a table]' $settings '1:command:->command' "
         "'*::argument:->argument' "
         "&& return\n"
         "    case $state in\n    command) _describe command commands ;;\n    argument)\n        case $words[1] in");
    for (const cli_command *c = cli_commands; c->name; c++) {
        printf("        %s)\n            local -a %s=(\n            '--help[print help]'\n", c->name, "specs");
        cli_visit_options(c, print_zsh_flag);
        print_zsh_operands(c);
        puts(c->takes_settings ? "            $settings\n            )\n            _arguments $specs ;;"
                               : "            )\n            _arguments $specs ;;");
    }
    puts("        esac ;;\n    esac\n}\n\n_torqued \"$@\"");
}
