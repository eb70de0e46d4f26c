/* reference_fields.c - see reference_fields.h. */
#include "reference_fields.h"
#include "fields.h"
#include "operation.h"

bool api_check_reference(const api_query *q)
{
    api_place at = api_place_key(NULL, "qdd");
    if (!api_has_reference(q) || !q->field[API_QDD]) return true;
    for (size_t i = 0; i < q->n_selected; i++) {
        const api_operation *o = q->selected[i].operation;
        if ((o->needs | o->takes) & API_BIT(API_QDD) && !(o->takes & API_BIT(API_QDD_REFERENCE))) return true;
    }
    return api_fail_at(q->problem, &at, API_UNKNOWN_FIELD,
                       "qdd is not used with a reference velocity: qdd_reference replaces it");
}

bool api_fail_reference(const api_query *q, const char *text)
{
    api_field field = q->field[API_QD_REFERENCE] ? API_QD_REFERENCE : API_QDD_REFERENCE;
    api_place at    = api_place_key(NULL, api_field_names[field]);
    return api_fail_at(q->problem, &at, API_BAD_VALUE, "%s", text);
}
