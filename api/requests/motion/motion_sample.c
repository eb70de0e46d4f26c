/* motion_sample.c - evaluates q to qddd at all samples of the motions of a request (motion.h). */
#include "dynamics/trajectory_gradients/coordinate_change.h"
#include "motion.h"
#include "api/requests/fields/rows.h"
#include "api/requests/lanes/failed_rows.h"
#include "api/codec/number.h"

/* --- states ----------------------------------------------------------------------------------------------------- */

/* A block of samples, and the lanes of q to qddd. */
typedef struct sampled_block {
    dyn_motion_block spline;
    double          *state[DYN_SPLINE_ORDERS];
} sampled_block;

static sampled_block sampled_block_of(const api_evaluation *e, const api_motion *m, size_t block)
{
    sampled_block b = {.spline = api_motion_block(e, m, block)};
    for (size_t r = 0; r < DYN_SPLINE_ORDERS; r++)
        b.state[r] = api_block(e, e->plan->state[API_Q + r], r == 0 ? e->model->nq : e->model->nv, block);
    return b;
}

/* Sets the state of a lane to the zero position, so that the other lanes of the block can be evaluated. */
static void clear_lane(const sampled_block *b, size_t lane)
{
    for (size_t i = 0; i < b->spline.motion->robot.nv; i++)
        b->spline.x[0][i * b->spline.W + lane] = 0;
    dyn_motion_put_coordinates(&b->spline, lane, b->state);
}

/* Checks that all angles are within the range in which the kernels' sine and cosine are accurate, and rotation vectors
 * within theirs. A state out of range fails. */
static bool check_sampled_angles(const api_evaluation *e, const api_motion *m, size_t state)
{
    const sampled_block b    = sampled_block_of(e, m, state / e->lanes);
    const size_t        lane = state % e->lanes;
    const double       *q    = b.state[0] + lane;
    char                text[API_ANGLE_TEXT];
    if (!dyn_rotation_vectors_within_limit(&b.spline, lane)) {
        clear_lane(&b, lane);
        return api_fail_state(e, API_ANGLE_TOO_LARGE, API_CONTROL_POINTS, state,
                              "at sample %zu a rotation vector is longer than 2 pi", state % m->path.samples);
    }
    const dyn_bound *beyond = api_find_angle_beyond_limit(e->model, q, e->lanes);
    if (!beyond) return true;
    api_angle_write(beyond, q[beyond->entry * e->lanes], text);
    clear_lane(&b, lane);
    return api_fail_state(e, API_ANGLE_TOO_LARGE, API_CONTROL_POINTS, state,
                          "at sample %zu %.64s is %s; angles are limited to %g rad", state % m->path.samples,
                          e->model->position_names[beyond->entry], text, beyond->most);
}

static void put_state(const api_evaluation *e, const api_motion *m, size_t state, const dyn_sample *s, size_t row)
{
    const sampled_block b    = sampled_block_of(e, m, state / e->lanes);
    const size_t        lane = state % e->lanes;
    dyn_motion_put(&b.spline, lane, s, row);
    if (dyn_rotation_vectors_within_limit(&b.spline, lane)) dyn_motion_put_coordinates(&b.spline, lane, b.state);
}

/* Writes the state of all samples to their lanes. The outer loop is over samples: all motions share the basis functions
 * of a sample, unless "times" are given and the durations differ. */
static bool put_states(const api_evaluation *e, const api_motion *m)
{
    const dyn_motion *path   = &m->path;
    size_t            room   = e->plan->blocks * e->lanes;
    bool              shared = !path->times || !path->durations_differ;
    dyn_sample        s;
    for (size_t n = 0; n < path->samples; n++) {
        if (n % API_CHUNK == 0 && !api_deadline_check(e->query->input->deadline, e->problem)) return false;
        for (size_t b = 0; b < e->query->rows; b++) {
            if (b == 0 || !shared) s = dyn_motion_sample(path, n, dyn_motion_duration(path, b));
            size_t state = b * path->samples + n, last = state + 1 == api_states(e->query) ? room : state + 1;
            for (; state < last; state++) /* the last state also fills the unused lanes of its block */
                put_state(e, m, state, &s, b);
            if (!check_sampled_angles(e, m, b * path->samples + n)) return false;
        }
    }
    return true;
}

void api_motion_sample_block(const api_evaluation *e, const api_motion *m, size_t block)
{
    const size_t last = api_states(e->query) - 1;
    for (size_t lane = 0; lane < e->lanes; lane++) {
        const size_t     to = block * e->lanes + lane, state = to < last ? to : last, row = state / m->path.samples;
        const dyn_sample s = dyn_motion_sample(&m->path, state % m->path.samples, dyn_motion_duration(&m->path, row));
        if (!api_failed_rows_has(e->plan->failed_rows, state)) put_state(e, m, to, &s, row);
    }
}

/* --- all lanes -------------------------------------------------------------------------------------------------- */

/* Reserves lanes for the derivative of order r of the spline's coordinates, and of q. */
static bool take_coordinates(api_plan *plan, api_motion *m, int r)
{
    const api_model *model = plan->query->model;
    plan->state[API_Q + r] = api_take_lanes(plan, r == 0 ? model->nq : model->nv);
    m->spline_state[r] =
        dyn_has_rotation_vectors(&m->path.robot) ? api_take_lanes(plan, model->nv) : plan->state[API_Q + r];
    return plan->state[API_Q + r] && m->spline_state[r];
}

bool api_motion_sample(api_plan *plan, api_motion *m)
{
    bool room = m->path.points.numbers || api_motion_load(plan->query, m);
    m->time   = api_take_lanes(plan, 1);
    m->rate   = api_take_lanes(plan, 1);
    m->first  = api_take_lanes(plan, 1);
    m->basis  = api_take_lanes(plan, DYN_SPLINE_ORDERS * (m->path.spline.degree + 1));
    room      = room && m->time && m->rate && m->first && m->basis;
    for (int r = 0; room && r < DYN_SPLINE_ORDERS; r++)
        room = take_coordinates(plan, m, r);
    api_evaluation e = api_evaluation_of(plan);
    return room && api_motion_check_durations(plan, m) && put_states(&e, m) && api_motion_sample_wrenches(plan, m);
}
