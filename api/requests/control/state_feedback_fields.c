/* state_feedback_fields.c - reads the gains and the reference state of the controller state_feedback
 * (state_feedback_fields.h). */
#include "state_feedback_fields.h"
#include "api/base/work/deadline.h"
#include "api/codec/number.h"
#include "api/requests/configuration/reference_positions.h"
#include "dynamics/control/state_feedback.h"
#include "gain_matrix.h"

typedef struct state_fields {
    dyn_state_feedback law; /* the first member: dynamics/ takes a pointer to state_fields as one to the law */
    const api_node    *gains;
    api_points         q, qd;
} state_fields;

void *api_state_feedback_read(api_query *q, const api_node *object, const api_place *up)
{
    const api_place gains_at = api_place_key(up, "gain_matrix"), q_at = api_place_key(up, "q"),
                    qd_at      = api_place_key(up, "qd");
    const api_points_form of_q = {.name = "positions", .width = q->model->nq}, of_qd = {.name = "velocities"};
    const api_node       *qd = api_node_get(object, "qd");
    state_fields         *f  = api_take(q->pool, sizeof *f);
    if (!f) return NULL;
    *f = (state_fields){.gains = api_node_get(object, "gain_matrix")};
    return api_gain_matrix_check(q, f->gains, &gains_at) &&
                   api_points_measure(q, api_node_get(object, "q"), &q_at, &of_q, &f->q) &&
                   (!qd || api_points_measure(q, qd, &qd_at, &of_qd, &f->qd))
               ? f
               : NULL;
}

/* Refuses gains of a torque that no actuator exerts, rather than to ignore them. */
static bool check_driven_rows(const api_query *q, const api_place *where, const bool *actuated, const double *gain)
{
    const size_t nv = q->model->nv;
    for (size_t given = 0; actuated && given < nv; given++) {
        const size_t    v      = q->order ? (size_t)q->order[given] : given;
        const api_place row_at = api_place_index(where, given);
        for (size_t i = 0; i < 2 * nv && !actuated[v]; i++)
            if (gain[v * 2 * nv + i] != 0)
                return api_fail_at(q->problem, &row_at, API_BAD_VALUE,
                                   "a gain of %s for the torque of %.64s, which no actuator of the controller exerts: "
                                   "zeros expected in its row",
                                   API_NUMBER_TEXT(gain[v * 2 * nv + i]), q->model->velocity_names[v]);
    }
    return true;
}

bool api_state_feedback_load(const api_query *q, const api_place *up, const bool *actuated, void *options)
{
    state_fields   *f        = options;
    const size_t    nv       = q->model->nv;
    const api_place gains_at = api_place_key(up, "gain_matrix"), q_at = api_place_key(up, "q");
    double         *gain      = api_take(q->pool, (nv > 0 ? 2 * nv * nv : 1) * sizeof *gain);
    const double   *positions = api_reference_positions_read(q, &f->q, &q_at);
    if (!gain || !positions || !api_deadline_check(q->input->deadline, q->problem)) return false;
    api_gain_matrix_read(q, f->gains, gain);
    f->law.gain = gain;
    f->law.q    = (dyn_points){positions, 1, q->model->nq, f->q.batch};
    if (f->qd.value && !api_points_load(q, &f->qd, &f->law.qd)) return false;
    return check_driven_rows(q, &gains_at, actuated, gain);
}
