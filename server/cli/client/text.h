/* text.h - a growing sequence of bytes. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

/* Initialise with {0}. `failed` is true once memory was short; later additions then do nothing. */
typedef struct cli_text {
    char  *bytes; /* malloc'd, NUL-terminated; NULL while nothing has been added */
    size_t length, size;
    bool   failed;
} cli_text;

void cli_text_add(cli_text *text, const void *bytes, size_t length);
void cli_text_print(cli_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Makes room for `length` bytes after the end and returns the address of the end; NULL if memory is short. The caller
 * adds what it writes to `length`. */
char *cli_text_reserve(cli_text *text, size_t length);

void cli_text_free(cli_text *text);
