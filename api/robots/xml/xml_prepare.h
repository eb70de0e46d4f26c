/* xml_prepare.h - copy a text into a form that libxml2 parses. Files of robots are often not well-formed in five ways
 * that other readers accept, and that change no element: white space or comments before the XML declaration, a
 * declaration with a version other than 1.x, "--" in a comment, no space between two attributes, and ISO-8859-1 where
 * the declaration names it. */
#pragma once
#include <stddef.h>

/* Returns a copy of the text, which the caller frees; NULL when memory is short. The declaration is overwritten with
 * spaces, as is the content of each comment: offsets and lines stay. Only a text in ISO-8859-1 becomes longer, since
 * it is converted to UTF-8, and one whose attributes get spaces. A document type declaration is copied unchanged. */
char *api_xml_prepare(const char *text, size_t length, size_t *prepared);
