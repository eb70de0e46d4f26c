/* commands.c - see commands.h. */
#include "commands.h"
#include "server/config.h"
#include <stddef.h>
#include <string.h>

static const struct {
    const char *name;
    int (*run)(int argc, char *argv[]);
} commands[] = {
    {"export", srv_export}, {"import", srv_import}, {"check", srv_check}, {"convert", srv_convert}, {"eval", srv_eval},
};

/* One help page describes all commands and settings. */
static bool is_help(const char *argument)
{
    return strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0;
}

bool srv_command(int argc, char *argv[], int *status)
{
    for (size_t i = 0; argc > 1 && i < sizeof commands / sizeof commands[0]; i++)
        if (strcmp(argv[1], commands[i].name) == 0) {
            bool help = argc > 2 && is_help(argv[2]);
            if (help) srv_config_help(stdout);
            *status = help ? 0 : commands[i].run(argc - 1, argv + 1);
            return true;
        }
    return false;
}
