/* top.h - the sub-command `torqued top`: the figures of a running server, live. */
#pragma once
#include "server/cli/options.h"

extern const cli_option cli_top_options[];

int cli_top(const cli_arguments *arguments);
