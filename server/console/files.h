/* files.h - declare the files of the console, which server/console/embed compiles into the server. */
#pragma once
#include "api/api.h"

extern const api_file srv_console_files[]; /* ends with a NULL path */
