/* guess_fields.c - check that "guess" and "platform" are for the model, and count their rows. */
#include "rows.h"
#include "operation.h"
#include "platform.h"

bool api_check_guess(api_query *q)
{
    if (!q->model->loops)
        return !q->field[API_GUESS] || api_fail(q->problem, API_BAD_VALUE, "/guess",
                                                "guess is for models with loops; %s has none", q->model->name);
    for (size_t i = 0; i < q->n_selected; i++)
        q->selected[i].one_by_one = true;
    return true;
}

bool api_measure_guess(api_query *q)
{
    const api_node *guess = q->field[API_GUESS];
    api_place       at    = api_place_key(NULL, "guess");
    return (!guess || api_batch_measure(q, guess, &at)) && api_platform_measure(q);
}
