/* completion_bash.c - write the completion script of bash (completion.h). */
#include "commands.h"
#include "completion.h"
#include <stdio.h>

static const char bash_head[] = "# torqued - completion for bash, written by `torqued completion bash`.\n";

static const char bash_text[] =
    "# Offers the values of the kind in $kind that begin with $current.\n"
    "_torqued_offer()\n"
    "{\n"
    "    case $kind in\n"
    "    file | model-or-file) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- \"$current\") "
    ";;\n"
    "    operation) words=$_torqued_operations ;;\n"
    "    esac\n"
    "    case $kind in\n"
    "    model*) words=$(\"$1\" models --names --timeout 2 \"${connection[@]}\" 2>/dev/null) ;;\n"
    "    esac\n"
    "    mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
    "}\n"
    "\n"
    "_torqued()\n"
    "{\n"
    "    # bash splits words at : and =, which addresses contain: split the line at white space instead.\n"
    "    local line=${COMP_LINE:0:COMP_POINT} kind words current command= flag= i operands=0\n"
    "    local -a given connection=()\n"
    "    COMPREPLY=()\n"
    "    read -ra given <<<\"$line\"\n"
    "    case $line in *[[:space:]]) given+=('') ;; esac\n"
    "    for ((i = 1; i < ${#given[@]} - 1; i++)); do\n"
    "        case ${given[i]} in\n"
    "        --url=* | --token-file=* | --ca-file=*) connection+=(\"${given[i]}\") ;;\n"
    "        --*=*) ;;\n"
    "        --*)\n"
    "            kind=\n"
    "            _torqued_option \"$command\" \"${given[i]}\"\n"
    "            [ \"$kind\" = switch ] && continue\n"
    "            flag=${given[i++]}\n"
    "            case $flag in --url | --token-file | --ca-file) connection+=(\"$flag\" \"${given[i]}\") ;; esac\n"
    "            ;;\n"
    "        *) if [ -z \"$command\" ]; then command=${given[i]}; else operands=$((operands + 1)); fi; flag= ;;\n"
    "        esac\n"
    "        [ $i -ge $((${#given[@]} - 1)) ] || flag=\n"
    "    done\n"
    "    current=${given[-1]} kind= words=\n"
    "    if [ -n \"$flag\" ]; then\n"
    "        _torqued_option \"$command\" \"$flag\"\n"
    "    elif [[ $current == --*=* ]]; then\n"
    "        _torqued_option \"$command\" \"${current%%=*}\"\n"
    "        current=${current#*=}\n"
    "    elif [[ $current == -* ]]; then\n"
    "        _torqued_flags \"$command\"\n"
    "    elif [ -z \"$command\" ]; then\n"
    "        words=$_torqued_commands\n"
    "    else\n"
    "        _torqued_operand \"$command\" $((operands + 1))\n"
    "    fi\n"
    "    _torqued_offer \"${COMP_WORDS[0]}\"\n"
    "    # bash replaces only the part after the last : or = of the word.\n"
    "    local kept=${current%\"${current##*[:=]}\"}\n"
    "    [ -z \"$kept\" ] || COMPREPLY=(\"${COMPREPLY[@]#\"$kept\"}\")\n"
    "}\n"
    "complete -F _torqued torqued\n";

static const char *const kinds[] = {
    [CLI_NOTHING] = "none",        [CLI_FILE] = "file",  [CLI_MODEL] = "model", [CLI_MODEL_OR_FILE] = "model-or-file",
    [CLI_OPERATION] = "operation", [CLI_WORDS] = "words"};

static void print_bash_kind(const cli_flag *f)
{
    printf("kind=%s", f->value ? kinds[f->completion] : "switch");
    if (f->words) cli_print_choices(f, " words='", "'");
}

static void print_bash_option(const char *command, const cli_flag *f)
{
    printf("    '%s --%s') ", command, f->name);
    print_bash_kind(f);
    puts(" ;;");
}

static void print_bash_setting(const char *command, const cli_flag *f)
{
    (void)command;
    printf("    *' --%s') ", f->name);
    print_bash_kind(f);
    puts(" ;;");
}

static void print_bash_flag(const char *command, const cli_flag *f)
{
    (void)command;
    printf(" --%s", f->name);
}

static void print_bash_operands(const cli_command *c)
{
    for (size_t i = 0; cli_has_operand(c, i); i++) {
        const cli_operand *o = &c->operands[i];
        printf(cli_repeats(o) ? "    '%s '*) " : "    '%s %zu') ", c->name, i + 1);
        print_bash_kind(&(cli_flag){
            .value = o->name, .words = o->completion == CLI_WORDS ? o->name : NULL, .completion = o->completion});
        puts(" ;;");
    }
}

void cli_print_bash(void)
{
    fputs(bash_head, stdout);
    fputs("_torqued_commands='", stdout);
    for (const cli_command *c = cli_commands; c->name; c++)
        printf("%s%s", c == cli_commands ? "" : " ", c->name);
    fputs("'\n_torqued_operations='", stdout);
    cli_print_operations();
    fputs("'\n_torqued_settings='", stdout);
    cli_visit_settings(NULL, print_bash_flag);
    puts("'\n\n# COMMAND FLAG: the kind of value that the flag takes.\n_torqued_option()\n{\n    case \"$1 $2\" in");
    for (const cli_command *c = cli_commands; c->name; c++)
        cli_visit_options(c, print_bash_option);
    cli_visit_settings(NULL, print_bash_setting);
    puts("    *' --help' | *' --version' | *' --settings-table') kind=switch ;;\n    esac\n}\n\n"
         "# COMMAND NUMBER: the kind of an operand.\n_torqued_operand()\n{\n    case \"$1 $2\" in");
    for (const cli_command *c = cli_commands; c->name; c++)
        print_bash_operands(c);
    puts("    esac\n}\n\n# COMMAND: its flags.\n_torqued_flags()\n{\n    words=--help\n    case $1 in\n"
         "    '') words+=\" $_torqued_settings --version --settings-table\" ;;");
    for (const cli_command *c = cli_commands; c->name; c++) {
        printf("    %s) words+=\"", c->name);
        cli_visit_options(c, print_bash_flag);
        puts(c->takes_settings ? " $_torqued_settings\" ;;" : "\" ;;");
    }
    puts("    esac\n}\n");
    fputs(bash_text, stdout);
}
