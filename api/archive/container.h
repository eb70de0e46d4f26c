/* container.h - recognise files whose bytes are not the text that their user means. */
#pragma once
#include <stddef.h>

/* Returns what is wrong with the bytes of a text file as a whole, with the remedy, as the end of a sentence "the file
 * ...": an empty file, a Git LFS pointer, an HTML page, UTF-16, UTF-32, NUL characters. NULL: nothing. *offset is the
 * place. */
const char *api_container_fault(const char *bytes, size_t length, size_t *offset);
