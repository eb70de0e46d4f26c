/* simulated_rows.c - describes the simulations of a request to dynamics/, and starts them (simulated_rows.h). */
#include "simulated_rows.h"
#include "api/requests/lanes/failed_rows.h"
#include "contact_events.h"
#include "ode_limits.h"
#include <math.h>

/* --- description -------------------------------------------------------------------------------------------------- */

/* Lists the limits of effort and the torque-speed lines of motors of transmissions whose joints the input drives. */
static bool describe_motors(const api_query *q, const api_actuator_input *d, dyn_actuator_input *to)
{
    const api_model *m    = q->model;
    dyn_motor_limit *list = api_take(q->pool, (m->dyn->n_drives + 1) * sizeof *list);
    to->motor_limit       = list;
    for (size_t k = 0; list && d->clip && k < m->dyn->n_drives; k++) {
        const api_coupled_motor *motor = &m->coupled_motors[k];
        const api_drive_limits  *own   = &motor->limits;
        if ((own->has_effort || own->has_effort_speed) && api_actuator_input_drives(m, d, motor))
            list[to->n_motor_limits++] = (dyn_motor_limit){
                motor->drive, motor->effort, own->has_effort ? own->effort : INFINITY, api_speed_line(own)};
    }
    return list;
}

static bool describe_input(const api_query *q, const api_actuator_input *d, dyn_actuator_input *to)
{
    int *position = api_take(q->pool, q->model->nv * sizeof *position);
    *to           = (dyn_actuator_input){
                  .controller     = d->controller,
                  .signal         = d->is_given ? &d->signal.curve : NULL,
                  .gains          = {d->gains[DYN_KP], d->gains[DYN_KD], d->gains[DYN_KI]},
                  .sampling       = d->sampling,
                  .model          = d->model ? d->model->dyn : NULL,
                  .knows_payload  = d->knows_payload,
                  .knows_friction = d->knows_friction,
                  .options        = d->options,
                  .clip           = d->clip,
                  .position       = position,
                  .motor          = d->motor,
                  .actuated       = d->actuated,
                  .driven         = d->driven,
                  .supported      = d->supported,
                  .effort_limit   = d->effort_limit,
                  .line           = d->line,
    };
    if (!d->controller) return true;
    for (size_t v = 0; position && v < q->model->nv; v++)
        position[v] = d->coordinate[v].position;
    return position && describe_motors(q, d, to);
}

static bool describe_wrenches(const api_query *q, const api_wrench_signals *signals, dyn_simulation *to)
{
    dyn_wrench_signal *list = api_take(q->pool, (signals->n + 1) * sizeof *list);
    for (size_t i = 0; list && i < signals->n; i++)
        list[i] =
            (dyn_wrench_signal){signals->signal[i].wrench, signals->signal[i].part, &signals->signal[i].signal.curve};
    to->wrench_signal    = list;
    to->n_wrench_signals = signals->n;
    return list;
}

/* Returns the kernels of one lane, unless several lanes hold different states. */
static const dyn_kernels *choose_kernels(const api_query *q, dyn_lane_use lanes)
{
    const bool alone = lanes == DYN_LANES_ONE || (lanes == DYN_LANES_ROWS && (q->rows == 1 || q->row_scenes));
    return alone ? q->call->api->alone : q->call->api->kernels;
}

bool api_simulated_rows_describe(const api_evaluation *e, const api_simulation *s, dyn_scene *scene, dyn_simulation *to)
{
    const api_query *q = e->query;
    api_contact_points_set_scene(q, &s->ground, scene);
    *to = (dyn_simulation){
        .integrator = s->integrator,
        .kernels    = choose_kernels(q, s->integrator->lanes),
        .scene      = scene,
        .mechanism  = api_model_mechanism(e->model),
        .n_angles   = e->model->n_angles,
        .angle      = e->model->angles,
        .step       = s->step,
        .tolerance  = s->tolerance,
        .duration   = s->duration,
        .first_end  = s->n_boundaries > 1 ? s->boundaries[1] : 0,
        .end        = s->boundaries[s->n_boundaries - 1],
        .prescribed = {s->prescribed.n, s->prescribed.v, s->prescribed.q, s->prescribed.mask,
                       &s->prescribed.motion.curve},
        .contact    = s->contact,
        .damping    = s->damping,
        .n_ground   = s->ground.n,
        .ground     = s->ground.point,
        .n_rigid    = s->ground.n_rigid,
        .rigid      = s->ground.rigid,
        .works      = s->works,
        .fail_alone = e->plan->failed_rows,
        .has_guess  = e->plan->guess,
    };
    return describe_input(q, &s->input, &to->input) && describe_wrenches(q, &s->wrenches, to);
}

/* --- rows --------------------------------------------------------------------------------------------------------- */

static void observe(void *rows, double t, const double *qd)
{
    api_ode_limits_compare(rows, t, qd);
}

/* Reserves r->forces if the request selects the forces. */
static bool take_forces(const api_evaluation *e, const api_simulation *s, api_simulated_rows *r)
{
    bool room = true;
    if (s->contact_forces) r->forces = api_take_zeroed(e->query->pool, 3 * s->ground.n_all * r->ode.W, &room);
    return room;
}

bool api_simulated_rows_open(api_evaluation *e, const api_simulation *s, const dyn_simulation *described,
                             api_simulated_rows *r)
{
    const bool watches = s->limits.violation && s->limits.list.n > 0;
    *r                 = (api_simulated_rows){.e = e, .s = s, .share = api_row_share_none(e->plan)};
    r->ode.observer    = (dyn_observer){watches ? observe : NULL, r};
    return dyn_robot_ode_open(&r->ode, described, api_row_share_for_dynamics(&r->share),
                              api_pool_memory(e->query->pool)) &&
           api_ode_limits_open(e, r) && take_forces(e, s, r);
}

/* Copies the entries of one state of the request to lane l of the ODE. */
static void gather(const api_simulated_rows *r, double *lanes, size_t entries, size_t l, double *to)
{
    const double *from = api_state_lane(r->e, lanes, entries, r->ode.row[l] * r->e->query->samples);
    for (size_t i = 0; i < entries; i++)
        to[i * r->ode.W + l] = from[i * r->e->lanes];
}

void api_simulated_rows_start(api_simulated_rows *r, size_t first, size_t n)
{
    const api_plan  *plan  = r->e->plan;
    const api_query *q     = r->e->query;
    dyn_ode         *state = &r->ode.state;
    const size_t     W     = r->ode.W;
    state->rows            = n;
    for (size_t i = 0; r->violation && i < r->s->limits.list.n * W; i++)
        r->violation[i] = (api_limit_violation){.excess = -HUGE_VAL};
    for (size_t l = 0; l < W; l++) {
        const size_t row = r->ode.row[l] = first + (l < n ? l : n - 1);
        r->ode.ignored[l] = plan->failed_rows && api_failed_rows_has(plan->failed_rows, row * q->samples);
        gather(r, plan->state[API_Q], state->nq, l, state->y);
        gather(r, plan->state[API_QD], state->nv, l, dyn_ode_velocities(state, state->y));
        if (q->scene.n_wrenches > 0) gather(r, plan->wrenches, 9 * q->scene.n_wrenches, l, r->ode.wrenches);
        if (r->ode.loops && plan->guess)
            gather(r, plan->guess, r->e->model->loops->n_passive_q, l, r->ode.closed_passive);
    }
    api_contact_events_begin(r);
    dyn_robot_ode_start(&r->ode);
}
