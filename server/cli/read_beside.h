/* read_beside.h - read files that a model file includes, from the folder of that file and folders in it. */
#pragma once
#include <stddef.h>

/* Reads the file `name`, relative to the folder of the model file `model_file` (a char *), as an api_read_beside. NULL:
 * there is none, it lies outside that folder, or the model came from standard input. The caller frees. */
char *srv_read_beside(void *model_file, const char *name, size_t *length);
