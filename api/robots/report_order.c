/* report_order.c - sort a report by the kinds of its entries (report_order.h). */
#include "report_order.h"
#include <string.h>

typedef enum report_rank {
    RANK_WARNING,
    RANK_NOT_HELD,
    RANK_ASSUMED,
    RANK_NOTE,
    RANK_UNUSED,
    RANK_DROPPED,
    RANK_MERGED,
    RANKS
} report_rank;

static bool has(const json_t *entry, const char *member, const char *text)
{
    const char *value = json_string_value(json_object_get(entry, member));
    return value && strcmp(value, text) == 0;
}

static report_rank entry_rank(const json_t *entry)
{
    if (has(entry, "severity", "warning")) return has(entry, "code", "not-held") ? RANK_NOT_HELD : RANK_WARNING;
    if (has(entry, "code", "assumed")) return RANK_ASSUMED;
    if (has(entry, "code", "unused")) return RANK_UNUSED;
    if (has(entry, "code", "dropped")) return RANK_DROPPED;
    return has(entry, "code", "merged") ? RANK_MERGED : RANK_NOTE;
}

bool api_report_order(json_t *report)
{
    json_t *original = json_copy(report), *entry;
    size_t  i;
    bool    ok = original && json_array_clear(report) == 0;
    for (int rank = 0; ok && rank < RANKS; rank++)
        json_array_foreach (original, i, entry)
            if (entry_rank(entry) == (report_rank)rank) ok = ok && json_array_append(report, entry) == 0;
    json_decref(original);
    return ok;
}
