/* text.c - see text.h. */
#include "text.h"
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *cli_text_reserve(cli_text *text, size_t length)
{
    if (!text->failed && text->size - text->length <= length) {
        size_t size  = text->size + text->size / 2 + length + 64;
        char  *grown = size > length ? realloc(text->bytes, size) : NULL;
        text->failed = !grown;
        if (grown) {
            text->bytes = grown;
            text->size  = size;
        }
    }
    return text->failed ? NULL : text->bytes + text->length;
}

void cli_text_add(cli_text *text, const void *bytes, size_t length)
{
    char *end = cli_text_reserve(text, length);
    if (!end) return;
    if (length > 0) memcpy(end, bytes, length);
    text->length += length;
    text->bytes[text->length] = '\0';
}

void cli_text_print(cli_text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    char *end = length >= 0 ? cli_text_reserve(text, (size_t)length + 1) : NULL;
    if (!end) return;
    va_start(arguments, format);
    vsnprintf(end, (size_t)length + 1, format, arguments);
    va_end(arguments);
    text->length += (size_t)length;
}

void cli_text_free(cli_text *text)
{
    free(text->bytes);
    *text = (cli_text){0};
}
