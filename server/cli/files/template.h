/* template.h - expand a template of xacro, the macro language of robot files, by the program xacro. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

/* Runs `xacro FILE` and returns its output, NUL-terminated; the caller frees. NULL after an error was printed, which
 * says how to get xacro if it is not installed. */
char *cli_template_expand(const char *file, size_t limit, size_t *length);
