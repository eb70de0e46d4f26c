/* model_files.h - reads robots from the text of a file in one format, whole and damaged. */
#pragma once
#include "models.h"

enum { NESTING = 32, LINKS = 100 /* limits of every file that is read here */ };

/* A reader of a format, such as api_model_from_urdf. */
typedef api_model *file_reader(const api_model_source *source, api_problem *problem);

/* Reads source->text from memory that has exactly its length, so that a sanitizer sees a read behind its end. Asserts
 * that there is a model or a problem. The caller releases the model. */
api_model *file_read(file_reader *read, api_model_source source, api_problem *problem);
/* Returns the api_model_source of a text, with the limits NESTING and LINKS. */
api_model_source file_source(const char *text, size_t length, const char *query);
/* Asserts that the file is read. The caller releases the model. */
api_model *file_model(file_reader *read, const char *text, const char *query);
/* Asserts that the file is refused with that code and a detail that contains `words`. A problem has an offset where the
 * text is no XML. */
void assert_file_refused(file_reader *read, const char *text, const char *code, const char *words);

/* Asserts that the text cut off at any length below `length` is refused as malformed XML, with an offset inside the
   text. */
void assert_cuts_refused(file_reader *read, const char *text, size_t length);
/* Replaces one byte of the file after the other by a character of markup, a digit, a byte of UTF-8 or a blank. Asserts
 * that each changed file is read, or refused with the status 400 or 422, and that more than 100 of them are read. */
void assert_bytes_may_change(file_reader *read, const char *text);
