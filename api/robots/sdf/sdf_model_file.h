/* sdf_model_file.h - find the file of a model that <include><uri> of SDF names. */
#pragma once
#include "api/robots/files.h"

/* Finds the file for a URI in a file of `folder`: the file itself, or, for a folder, the <sdf> of its model.config of
 * the greatest version up to 1.12, as libsdformat does. A name without a scheme that is not there counts as one of
 * model://. NULL: there is none. */
const api_file_entry *api_sdf_find_model(const api_files *files, const char *folder, const char *uri);

/* Calls `visit` for each file that a model.config names except that of the greatest version: the same model in older
 * versions of the format. */
void api_sdf_visit_older(const api_files *files, const api_file_entry                *config,
                         void (*visit)(void *arg, const api_file_entry *older), void *arg);
