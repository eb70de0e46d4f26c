/* platform_lanes.c - read the platform of each state into lanes, and solve for the state: see platform_lanes.h. */
#include "platform_lanes.h"
#include "api/requests/fields/rows.h"
#include "vector_reader.h"

static const double upright[4] = {0, 0, 0, 1};

static bool check_orientation(const api_evaluation *e, const api_vector *v, double *values, size_t stride, size_t lanes,
                              const api_place *row)
{
    return api_check_quaternion(e, v, 0, values, stride, lanes, row);
}

static bool take_state(api_plan *plan)
{
    plan->passive = api_take_lanes(plan, plan->query->model->loops->n_passive_q);
    if (!plan->passive) return false;
    for (int f = API_Q; f <= API_QDD; f++)
        if (api_platform_gives(plan->query, (api_field)f) &&
            !(plan->state[f] = api_take_lanes(plan, f == API_Q ? plan->query->model->nq : plan->query->model->nv)))
            return false;
    return true;
}

bool api_fill_platform(api_plan *plan)
{
    api_place           at    = api_place_key(NULL, "platform");
    const api_platform *p     = plan->query->platform;
    const api_node     *given = plan->query->field[API_PLATFORM];
    if (!p) return true;
    const size_t n[API_PLATFORM_PARTS] = {3, 4, p->rows, p->rows};
    for (size_t i = 0; i < API_PLATFORM_PARTS; i++) {
        if (!p->given[i]) continue;
        api_vector v = {.value = api_node_get(given, api_platform_part_names[i]), .n = n[i], .stride = n[i]};
        v.at         = api_place_key(&at, api_platform_part_names[i]);
        v.check      = i == API_PLATFORM_ORIENTATION ? check_orientation : NULL;
        v.form       = i == API_PLATFORM_ORIENTATION ? API_QUATERNION_FORM : NULL;
        v.neutral    = i == API_PLATFORM_ORIENTATION ? upright : NULL;
        v.lanes = plan->platform[i] = api_take_lanes(plan, n[i]);
        if (!v.lanes || !api_vector_read(plan, &v)) return false;
    }
    return take_state(plan);
}

bool api_platform_fail(const api_evaluation *e, size_t row, const api_problem *found)
{
    api_place at = api_place_key(NULL, "platform");
    for (size_t i = 0; i < API_PLATFORM_PARTS; i++) {
        api_place       part_at = api_place_key(&at, api_platform_part_names[i]);
        const api_node *part    = api_node_get(e->query->field[API_PLATFORM], api_platform_part_names[i]);
        if (part && api_is_batch(part, 1)) return api_fail_entry(e, &part_at, row, found);
    }
    return api_fail_found(e, API_PLATFORM, row, found);
}

/* --- a block ----------------------------------------------------------------------------------------------------- */

bool api_platform_reach(const api_evaluation *e, dyn_loop_workspace *c, size_t block, size_t live)
{
    const api_platform   *p         = e->query->platform;
    double *const        *lanes     = e->plan->platform;
    size_t                nv        = e->model->nv;
    size_t                n_passive = e->model->loops->n_passive_q;
    dyn_platform_motion   to        = {.position     = api_block(e, lanes[API_PLATFORM_POSITION], 3, block),
                                       .orientation  = api_block(e, lanes[API_PLATFORM_ORIENTATION], 4, block),
                                       .velocity     = api_block(e, lanes[API_PLATFORM_VELOCITY], p->rows, block),
                                       .acceleration = api_block(e, lanes[API_PLATFORM_ACCELERATION], p->rows, block)};
    dyn_platform_solution found     = {.q       = api_block(e, e->plan->state[API_Q], e->model->nq, block),
                                       .qd      = api_block(e, e->plan->state[API_QD], nv, block),
                                       .qdd     = api_block(e, e->plan->state[API_QDD], nv, block),
                                       .passive = api_block(e, e->plan->passive, n_passive, block)};
    return dyn_loop_solve_platform(c, &e->query->scene, &to, api_block(e, e->plan->guess, n_passive, block), &found,
                                   live);
}
