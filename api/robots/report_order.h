/* report_order.h - put the entries of a report in the order in which a user needs them. */
#pragma once
#include <jansson.h>
#include <stdbool.h>

/* Sorts a report, [{"severity","code","where","text"}...]: warnings, then what the model does not hold ("not-held"),
 * then assumptions, other notes, parts without a role in the dynamics, and merges. Entries of one kind keep their
 * order. False when memory is short; the report then lacks entries. */
bool api_report_order(json_t *report);
