/* xml_text.h - recognise XML files from their text, by their outermost element. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

/* True when a text begins as XML does, after white space and a byte order mark. */
bool api_xml_begins(const char *text, size_t length);

/* Offset after a byte order mark, white space and comments at the beginning. */
size_t api_xml_skip_comments(const char *text, size_t length);

/* Finds the name of the outermost element, after comments, processing instructions and a document type declaration
 * without a subset. NULL when the text has none. The name lies in the text and has *size bytes. */
const char *api_xml_root_name(const char *text, size_t length, size_t *size);

/* Estimates the bytes that parsing the text and writing its document take. */
size_t api_xml_estimate_memory(const char *text, size_t length);
