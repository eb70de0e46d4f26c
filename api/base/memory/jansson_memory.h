/* jansson_memory.h - allocate for jansson, whose version 2.14 aborts when memory is short at the wrong moment.
 *
 * Its lexer collects a token in a buffer that it doubles. It ignores that the buffer could not grow, and later asserts
 * that the last character of the buffer is the one that it appended. Therefore blocks for a growing buffer are set
 * aside before a text is parsed, and used when malloc fails. Any other failed allocation ends the parser in order. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

/* Call before and after a text is parsed on this thread. `longest`: bytes of its longest token. False: no memory, and
 * the text must not be parsed. After a shortage (shortage.h) the result of the parser must not be used, only released,
 * and before api_jansson_end. */
bool api_jansson_begin(size_t longest);
void api_jansson_end(void);

/* For json_set_alloc_funcs. */
void *api_jansson_malloc(size_t bytes);
void  api_jansson_free(void *memory);
