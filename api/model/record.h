/* record.h - a model as one JSON text, for a store or an archive, and back:
 *
 *     {"document": {...}, "report": [...]}   its canonical document, and what was said when it was put
 *     {"deleted": true}                      a tombstone: a bundled model is not to come back */
#pragma once
#include "model.h"

/* Prints a model's record, or with NULL a tombstone, into a buffer that it initialises; the caller frees. */
void api_record_print(api_buffer *buffer, const api_model *model);

/* Reads a record. True with *model NULL: a tombstone. Else the caller releases the model. A record without a report
 * gets that of its document. False: a problem, its pointer into the record. */
bool api_record_read(const json_t *record, const char *name, size_t max_links, api_model **model, api_problem *problem);
