/* completion_fish.c - write the completion script of fish (completion.h). */
#include "commands.h"
#include "completion.h"
#include <stdio.h>

static const char fish_text[] =
    "# COMMAND NUMBER: true if the line has that command (\"\" for none yet) and NUMBER operands so far, or any "
    "number.\n"
    "function __torqued_at --argument-names command number\n"
    "    set -l given (commandline -opc)\n"
    "    set -l found ''\n"
    "    set -l operands 0\n"
    "    set -l skip no\n"
    "    for word in $given[2..]\n"
    "        if test $skip = yes\n"
    "            set skip no\n"
    "            continue\n"
    "        end\n"
    "        switch $word\n"
    "            case '--*=*'\n"
    "            case '--*'\n"
    "                contains -- $word $__torqued_switches; or set skip yes\n"
    "            case '*'\n"
    "                if test -z \"$found\"\n"
    "                    set found $word\n"
    "                else\n"
    "                    set operands (math $operands + 1)\n"
    "                end\n"
    "        end\n"
    "    end\n"
    "    test \"$found\" = \"$command\"; and contains -- $number any $operands\n"
    "end\n"
    "\n"
    "function __torqued_models\n"
    "    set -l given (commandline -opc)\n"
    "    set -l connection\n"
    "    for i in (seq 2 (count $given))\n"
    "        switch $given[$i]\n"
    "            case '--url=*' '--token-file=*' '--ca-file=*'\n"
    "                set -a connection $given[$i]\n"
    "            case --url --token-file --ca-file\n"
    "                set -q given[(math $i + 1)]; and set -a connection $given[$i]=$given[(math $i + 1)]\n"
    "        end\n"
    "    end\n"
    "    $given[1] models --names --timeout 2 $connection 2>/dev/null\n"
    "end\n"
    "\n"
    "complete -c torqued -f\n"
    "complete -c torqued -l help -d 'print help'\n"
    "complete -c torqued -n '__torqued_at \"\" any' -l version -d 'print the version'\n"
    "complete -c torqued -n '__torqued_at \"\" any' -l settings-table -d 'print the settings as a table'\n";

static void print_fish_action(const cli_flag *f)
{
    switch (f->completion) {
    case CLI_FILE: fputs(" -F", stdout); return;
    case CLI_MODEL: fputs(" -a '(__torqued_models)'", stdout); return;
    case CLI_MODEL_OR_FILE: fputs(" -F -a '(__torqued_models)'", stdout); return;
    case CLI_OPERATION:
    case CLI_WORDS: cli_print_choices(f, " -a '", "'"); return;
    case CLI_NOTHING: return;
    }
}

static void print_fish_flag(const char *command, const cli_flag *f)
{
    printf("complete -c torqued -n '__torqued_at \"%s\" any' -l %s%s -d '", command, f->name, f->value ? " -r" : "");
    cli_print_quoted(f->help, "\\");
    putchar('\'');
    if (f->value) print_fish_action(f);
    putchar('\n');
}

static void print_fish_switch(const char *command, const cli_flag *f)
{
    (void)command;
    if (!f->value) printf(" --%s", f->name);
}

static void print_fish_operands(const cli_command *c)
{
    for (size_t i = 0; cli_has_operand(c, i); i++) {
        const cli_operand *o = &c->operands[i];
        char               number[24];
        snprintf(number, sizeof number, "%zu", i);
        if (o->completion == CLI_NOTHING) continue;
        printf("complete -c torqued -n '__torqued_at %s %s'", c->name, cli_repeats(o) ? "any" : number);
        print_fish_action(&(cli_flag){.words = o->name, .completion = o->completion});
        putchar('\n');
    }
}

void cli_print_fish(void)
{
    fputs("# torqued - completion for fish, written by `torqued completion fish`.\n"
          "set -g __torqued_switches --help --version --settings-table",
          stdout);
    for (const cli_command *c = cli_commands; c->name; c++)
        cli_visit_options(c, print_fish_switch);
    puts("\n");
    fputs(fish_text, stdout);
    cli_visit_settings("", print_fish_flag);
    for (const cli_command *c = cli_commands; c->name; c++) {
        printf("complete -c torqued -n '__torqued_at \"\" any' -a %s -d '", c->name);
        cli_print_quoted(c->summary, "\\");
        puts("'");
        if (c->takes_settings) cli_visit_settings(c->name, print_fish_flag);
        cli_visit_options(c, print_fish_flag);
        print_fish_operands(c);
    }
}
