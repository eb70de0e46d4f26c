/* evaluation.c - results of a running evaluation, and states that fail: see evaluation.h. */
#include "evaluation.h"
#include "failed_rows.h"
#include "api/requests/fields/rows.h"
#include <stdarg.h>
#include <stdio.h>

/* --- results ---------------------------------------------------------------------------------------------------- */

double *api_result_block(const api_evaluation *e, const api_selection *selected, size_t output, size_t block)
{
    if (!selected->result[output]) return NULL;
    return api_block(e, selected->result[output], api_output_entries(e->model, selected, output), block);
}

double *api_result_or_spare(const api_evaluation *e, const api_selection *selected, size_t output, size_t block,
                            double **next)
{
    double *result = api_result_block(e, selected, output, block);
    if (result) return result;
    result = *next;
    *next += api_output_entries(e->model, selected, output) * e->lanes;
    return result;
}

/* --- states that fail --------------------------------------------------------------------------------------------- */

/* Fails a state with the problem `found`, whose pointer becomes the place `at`; NULL: no pointer. */
static bool fail_at_place(const api_evaluation *e, const api_place *at, size_t state, const api_problem *found)
{
    api_pointer pointer = api_place_pointer(at);
    api_problem told;
    api_problem_clear(&told);
    api_fail(&told, found->code, at ? api_pointer_text(&pointer) : NULL, "%s", found->detail);
    told.fraction = found->fraction;
    told.time     = found->time;
    if (e->plan->failed_rows) return api_failed_rows_add(e->plan->failed_rows, e->evaluating, state, &told, e->problem);
    if (e->query->batched) told.row = (long long)api_row_of(e->query, state);
    if (e->problem->code == API_NO_PROBLEM) *e->problem = told;
    return false;
}

bool api_fail_found(const api_evaluation *e, int field, size_t state, const api_problem *found)
{
    const api_node *given = field < 0 ? NULL : e->query->field[field];
    api_place       at    = api_place_key(NULL, given ? api_field_names[field] : ""),
              entry       = api_place_index(&at, api_row_of(e->query, state));
    bool batch            = given && api_is_batch(given, field == API_CONTROL_POINTS ? 2 : 1);
    return fail_at_place(e, batch ? &entry : given ? &at : NULL, state, found);
}

bool api_fail_state(const api_evaluation *e, api_code code, int field, size_t state, const char *format, ...)
{
    va_list     args;
    api_problem found;
    api_problem_clear(&found);
    va_start(args, format);
    api_failv(&found, code, NULL, format, args);
    va_end(args);
    return api_fail_found(e, field, state, &found);
}

bool api_fail_entry(const api_evaluation *e, const api_place *batch, size_t row, const api_problem *found)
{
    api_place entry = api_place_index(batch, row);
    return fail_at_place(e, &entry, row, found);
}

void api_lane_problems_begin(api_lane_problems *problems, size_t block, size_t lanes)
{
    problems->block = block;
    for (size_t lane = 0; lane < lanes; lane++)
        api_problem_clear(&problems->lane[lane]);
}

void api_lane_problems_note(api_lane_problems *problems, size_t lane, long long step, const api_problem *found)
{
    char prefix[48] = "";
    if (step >= 0) snprintf(prefix, sizeof prefix, "step %lld: ", step);
    if (problems->lane[lane].code == API_NO_PROBLEM)
        api_fail(&problems->lane[lane], found->code, NULL, "%s%s", prefix, found->detail);
}

bool api_lane_problems_tell(const api_evaluation *e, const api_lane_problems *problems, size_t n)
{
    const size_t first = problems->block * e->lanes;
    for (size_t lane = 0; lane < e->lanes && first + lane < n; lane++) {
        const api_problem *problem = &problems->lane[lane];
        if (problem->code != API_NO_PROBLEM && !api_fail_found(e, API_Q, first + lane, problem)) return false;
    }
    return true;
}

const char *api_joint_of(const api_model *m, int body)
{
    const dyn_body *b = &m->dyn->body[body];
    if (b->joint.mover >= 0) return m->mover_names[b->joint.mover];
    for (size_t i = 0; i < m->n_joints; i++) /* an inner body of a joint that consists of several bodies */
        if (m->dyn->body[m->joints[i].body].tree.link == b->tree.link) return m->joints[i].name;
    return "the floating base";
}

bool api_check_singular(const api_evaluation *e, const double *singular, size_t block, size_t blocks)
{
    size_t first = block * e->lanes, rows = blocks * e->lanes;
    if (rows > e->query->rows - first) rows = e->query->rows - first;
    for (size_t i = 0; i < rows; i++) {
        if (singular[i] < 0) continue;
        if (!api_deadline_check(e->query->input->deadline, e->problem))
            return false; /* the deadline may have ended the kernel early */
        if (!api_fail_state(e, API_SINGULAR_MASS_MATRIX, API_Q, first + i,
                            "the mass matrix is singular at %.64s, which moves no effective mass or inertia",
                            api_joint_of(e->model, (int)singular[i])))
            return false;
    }
    return true;
}
