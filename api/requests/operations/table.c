/* table.c - makes the table of all operations from their list (operation.h). */
#include "api/requests/fields/operation.h"

#define X(name) &api_##name,
const api_operation *const api_operations[] = {API_OPERATIONS(X) NULL};
#undef X
