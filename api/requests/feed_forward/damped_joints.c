/* damped_joints.c - reads or integrates positions of the motors of elastic joints with dampers: see damped_joints.h. */
#include "damped_joints.h"
#include "api/codec/number.h"
#include "api/requests/fields/rows.h"
#include "api/requests/lanes/failed_rows.h"
#include "api/requests/scene/row_scenes.h"
#include "dynamics/integration/damped_spring.h"
#include <math.h>
#include <string.h>

/* --- fields ------------------------------------------------------------------------------------------------------- */

static bool read_row_times(api_query *q, const api_node *fields, const api_place *up, api_damped_joints *d)
{
    const api_node *list  = api_node_get(fields, "times");
    const api_place place = api_place_key(up, "times");
    if (!list) return true;
    if (!api_node_is(list, API_ARRAY))
        return api_fail_at(q->problem, &place, API_WRONG_TYPE, "%s given, an array of times expected",
                           api_node_kind_text(list));
    d->n_times = api_node_size(list);
    if (d->n_times > q->call->api->limits.rows)
        return api_fail_at(q->problem, &place, API_TOO_MANY_ROWS, "%zu times given, the limit is %zu rows", d->n_times,
                           q->call->api->limits.rows);
    if (!(d->times = api_take_numbers(q, list, &place, d->n_times))) return false;
    for (size_t n = 1; n < d->n_times; n++) {
        const api_place entry = api_place_index(&place, n);
        if (!(d->times[n] > d->times[n - 1] && isfinite(d->times[n] - d->times[n - 1])))
            return api_fail_at(q->problem, &entry, API_BAD_VALUE, "%s s given, a time after %s s expected",
                               API_NUMBER_TEXT(d->times[n]), API_NUMBER_TEXT(d->times[n - 1]));
    }
    return true;
}

static bool read_motor_positions(const api_query *q, const api_node *fields, const api_place *up, api_damped_joints *d)
{
    static const char *const names[] = {"settled", "given"};
    const api_node          *value   = api_node_get(fields, "motor_positions");
    const api_place          place   = api_place_key(up, "motor_positions");
    const api_names          known   = api_names_from_array(names, 2);
    const int i        = value ? api_read_choice(q, value, &place, "a source of the motors' positions", &known) : 0;
    d->positions_given = i == 1;
    return i >= 0;
}

/* Checks that joint i has a damper whose motor's position is known. */
static bool check_damper(const api_query *q, size_t i, const api_damped_joints *d)
{
    const double damping = q->model->dyn->coupling[i].spring.damping;
    if (!d->times && !d->positions_given)
        return api_fail(q->problem, API_NOT_SUPPORTED, NULL,
                        "elastic joint %s has damping: its motor's position depends on the past of the motion. Give "
                        "\"times\" of the rows, or the motors' positions in q with \"motor_positions\": \"given\"",
                        api_elastic_joint(q->model, i));
    return !d->times || damping > 0 ||
           api_fail(q->problem, API_NOT_SUPPORTED, NULL,
                    "elastic joint %s has negative damping: its motor runs away from any motion. Leave out \"times\" "
                    "and give the motors' positions in q with \"motor_positions\": \"given\"",
                    api_elastic_joint(q->model, i));
}

bool api_damped_joints_read(api_query *q, const api_node *fields, const api_place *up, api_damped_joints *d)
{
    const dyn_model *m = q->model->dyn;
    if (!read_row_times(q, fields, up, d) || !read_motor_positions(q, fields, up, d)) return false;
    for (size_t i = 0; i < m->n_couplings; i++) {
        if (m->coupling[i].spring.damping == 0) continue;
        if (!check_damper(q, i, d)) return false;
        d->integrated = d->times != NULL;
    }
    return true;
}

/* Refuses wrenches that differ from row to row: their rates along the motion would be missing. */
static bool check_wrenches(const api_query *q)
{
    static const char *const vectors[] = {"force", "torque", "point"};
    const api_node          *list      = q->field[API_WRENCHES];
    const api_place          place     = api_place_key(NULL, "wrenches");
    for (size_t i = 0; i < api_node_size(list); i++) {
        const api_place entry = api_place_index(&place, i);
        api_node        wrench;
        for (size_t k = 0; api_node_item(list, i, &wrench) && k < sizeof vectors / sizeof *vectors; k++) {
            const api_node *value  = api_node_get(&wrench, vectors[k]);
            const api_place vector = api_place_key(&entry, vectors[k]);
            if (value && api_is_batch(value, 1))
                return api_fail_at(q->problem, &vector, API_NOT_SUPPORTED,
                                   "feed-forward with times takes no wrench that differs from row to row: give one "
                                   "value for all rows, or the motors' positions in place of times");
        }
    }
    return true;
}

/* Checks that the request has all derivatives of q on which the efforts tau_s of integrated joints (motor_orders.h)
 * depend. */
static bool check_derivatives(const api_query *q)
{
    static const api_field needed[] = {API_QD, API_QDD, API_QDDD, API_QDDDD};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        const api_place place = api_place_key(NULL, api_field_names[needed[i]]);
        if (!q->field[needed[i]])
            return api_fail_at(q->problem, &place, API_MISSING_FIELD,
                               "missing; the motors of elastic joints with damping are integrated along a motion with "
                               "its derivatives up to qdddd");
    }
    return true;
}

static bool check_motion_rows(const api_query *q, const api_damped_joints *d)
{
    const api_row_scenes *scenes = q->row_scenes;
    const api_place       place = api_place_key(NULL, "times"), on_error = api_place_key(NULL, "on_error");
    if (api_answered_rows(q) != d->n_times)
        return api_fail_at(q->problem, &place, API_WRONG_SHAPE, "%zu times given, one for each of %zu rows expected",
                           d->n_times, api_answered_rows(q));
    if (scenes) return api_fail_row_scenes(q, scenes->gravity ? "gravity" : scenes->bodies, "feed-forward with times");
    return !api_failed_rows_requested(q) ||
           api_fail_at(q->problem, &on_error, API_NOT_SUPPORTED,
                       "rows of one motion cannot fail alone: leave out on_error, or times");
}

bool api_damped_joints_open(const api_query *q, api_damped_joints *d, api_motor_motion *m)
{
    const dyn_model *model = q->model->dyn;
    if (d->times && !d->integrated && api_answered_rows(q) != d->n_times) return check_motion_rows(q, d);
    if (!d->integrated) return true;
    if (!check_motion_rows(q, d) || !check_wrenches(q) || !check_derivatives(q)) return false;
    d->row_errors     = api_take(q->pool, d->n_times * sizeof *d->row_errors);
    m->series         = api_take(q->pool, model->n_couplings * sizeof *m->series);
    m->all_integrated = true;
    for (size_t i = 0; d->row_errors && m->series && i < model->n_couplings; i++) {
        m->series[i] = NULL;
        if (model->coupling[i].spring.damping == 0)
            m->all_integrated = false;
        else if (!(m->series[i] = api_take(q->pool, q->rows * (m->orders.joint[i].motion + 1) * sizeof *m->series[i])))
            return false;
    }
    return d->row_errors && m->series;
}

/* --- integration -------------------------------------------------------------------------------------------------- */

size_t api_damped_level(const api_query *q, const api_motor_orders *orders, size_t level)
{
    const dyn_model *m    = q->model->dyn;
    size_t           next = orders->levels + 1;
    for (size_t i = 0; i < m->n_couplings; i++) {
        const size_t joint_level = orders->joint[i].level;
        if (m->coupling[i].spring.damping != 0 && joint_level >= level && joint_level < next) next = joint_level;
    }
    return next;
}

/* Writes the errors of a motor's acceleration into the answer. */
static void write_motor_errors(const api_evaluation *e, const api_damped_joints *d, const dyn_coupling *c,
                               double *errors)
{
    for (size_t n = 0; n < d->n_times; n++)
        api_state_lane(e, errors, e->model->nv, n)[(size_t)c->v_theta * e->lanes] = d->row_errors[n];
}

/* Integrates joint i along all rows. False past the deadline. */
static bool integrate_joint(const api_evaluation *e, const api_damped_joints *d, const api_motor_motion *m, size_t i)
{
    const dyn_coupling *c      = &e->query->scene.model->coupling[i];
    const double       *q      = api_state_lane(e, e->plan->state[API_Q], e->model->nq, 0);
    const double        start  = q[(size_t)c->theta * e->lanes] - q[(size_t)c->q * e->lanes];
    const double        span   = d->times[d->n_times - 1] - d->times[0];
    dyn_damped_spring   spring = {c->spring.stiffness, c->spring.damping, m->orders.joint[i].motion, span};
    dyn_damped_motion   motion = {.n      = d->n_times,
                                  .times  = d->times,
                                  .series = m->series[i],
                                  .start  = d->positions_given ? &start : NULL,
                                  .errors = d->row_errors};
    return dyn_damped_spring_integrate(&spring, &motion, api_deadline_for_dynamics(e->query->input->deadline));
}

bool api_damped_joints_integrate(const api_evaluation *e, const api_damped_joints *d, const api_motor_motion *m,
                                 size_t level, double *errors)
{
    const dyn_model *model = e->query->scene.model;
    for (size_t i = 0; i < model->n_couplings; i++) {
        const dyn_coupling *c = &model->coupling[i];
        if (c->spring.damping == 0 || m->orders.joint[i].level != level) continue;
        if (!integrate_joint(e, d, m, i)) return api_deadline_check(e->query->input->deadline, e->problem);
        if (errors) write_motor_errors(e, d, c, errors);
    }
    return true;
}
