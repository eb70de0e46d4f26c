/* xml_model.h - open a reader for a parsed XML file, and build the model from the document that the reader wrote. */
#pragma once
#include "api/robots/model/model.h"
#include "xml_options.h"
#include "xml_reader.h"
#include "xml_text.h"

/* Opens a reader for a parsed file; its texts are in `arena`. False when memory is short, with the problem set.
 * api_xml_reader_close ends it in either case. */
bool api_xml_reader_open(api_xml_reader *reader, const xmlDoc *file, const api_model_source *source, api_arena *arena,
                         api_problem *problem);
void api_xml_reader_close(api_xml_reader *reader);

/* Returns the element of the file that corresponds to a pointer into the document; NULL: the whole file. */
typedef const xmlNode *api_xml_element_at(const void *arg, const char *pointer);

/* Builds the model from the document that was written from the file. Its report is that of the reader followed by that
 * of the document. NULL with a problem, which names the element of the file. */
api_model *api_xml_make_model(api_xml_reader *reader, const json_t *document, const char *name,
                              api_xml_element_at *element_at, const void *arg);
