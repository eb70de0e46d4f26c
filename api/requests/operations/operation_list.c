/* operation_list.c - makes the table of all operations from their list, and checks that their number fits. */
#include "operation_list.h"
#include "api/metrics.h"
#include "api/requests/cost/cost_feedback.h"

#define X(name) &api_##name,
const api_operation *const api_operations[] = {API_OPERATIONS(X) NULL};
#undef X

/* Operations are numbered from 1; evaluate has the last number. */
#define NUMBERS (sizeof api_operations / sizeof *api_operations + 1)
_Static_assert(NUMBERS <= API_MOST_OPERATIONS, "each operation has its metrics");
_Static_assert(NUMBERS <= API_COST_OPERATIONS, "each operation has its costs");
