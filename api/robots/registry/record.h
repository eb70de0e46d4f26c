/* record.h - print a model as one JSON text, for the store or an archive, and read it back:
 *
 *     {"version": 1, "document": {...}, "report": [...]}   its canonical document, and the report of the PUT
 *     {"deleted": true}                                    a tombstone: the bundled model of that name stays deleted
 *
 * The version grows when a record can no longer be read as before. Older ones are read for good; a record without a
 * version is the oldest. */
#pragma once
#include "api/robots/model/model.h"

/* Prints the record of a model, or with NULL that of a tombstone, into `buffer`. The function initialises the
 * buffer, and the caller frees it. */
void api_record_print(api_buffer *buffer, const api_model *model);

enum { API_RECORD_VERSION = 1 }; /* version of the records that are printed */

/* Reads a record. True with *model NULL for a tombstone; otherwise the caller releases the model. Without "report"
 * the model gets the report of reading its document. False with a problem, whose pointer is relative to the record; a
 * record of a newer version is one. */
bool api_record_read(const json_t *record, const char *name, size_t max_links, api_model **model, api_problem *problem);
