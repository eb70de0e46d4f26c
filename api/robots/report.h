/* report.h - hand the entries of a report to a callback. */
#pragma once
#include "api/api.h"
#include "api/codec/json.h"

/* Calls target->entry for each entry of a report, [{"severity","code","where","text"}...]. `target` may be NULL. */
void api_report_entries(const json_t *report, const api_report_target *target);
