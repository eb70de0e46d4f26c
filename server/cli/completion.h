/* completion.h - print options, settings and operations in the forms that the completion scripts of all shells need.
 *
 * A script has data, generated from the tables, and a fixed text that uses them. Names of models come from the server
 * when the key is pressed, by `torqued models --names`; operations are written into the script. */
#pragma once
#include "options.h"

/* An option or a setting. */
typedef struct cli_flag {
    const char    *name;
    const char    *value; /* NULL: a switch */
    const char    *words; /* "a|b"; NULL: any value */
    const char    *help;
    cli_completion completion;
} cli_flag;

/* Calls `print` for every option in the table of a command; settings of the server are not among them. */
void cli_visit_options(const cli_command *c, void (*print)(const char *command, const cli_flag *f));
/* Calls `print` for every setting of the server. */
void cli_visit_settings(const char *command, void (*print)(const char *command, const cli_flag *f));

bool cli_has_operand(const cli_command *c, size_t i);

/* Prints text for a string in single quotes, with a backslash before every character that is in `special`. */
void cli_print_quoted(const char *text, const char *special);
void cli_print_words(const char *words); /* prints the words of "a|b" with spaces between them */
void cli_print_operations(void);         /* prints the names of the operations, with spaces between them */
/* Prints the words that a flag takes (CLI_OPERATION, CLI_WORDS) between two texts. */
void cli_print_choices(const cli_flag *f, const char *before, const char *after);

void cli_print_bash(void); /* completion_bash.c */
void cli_print_zsh(void);  /* completion_zsh.c */
void cli_print_fish(void); /* completion_fish.c */
