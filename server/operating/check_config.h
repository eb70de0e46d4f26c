/* check_config.h - the command `torqued check-config`. */
#pragma once
#include "server/cli/options.h"

extern const cli_option cli_check_config_options[];

/* Prints all settings with their origins, and what is wrong with them. Returns 0, 1 if a server would not start with
 * these settings, or 2 for arguments of another kind. */
int srv_check_config(const cli_arguments *arguments);
