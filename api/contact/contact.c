/* contact.c - reads "held" and solves for the wrenches on held frames (contact.h). */
#include "contact.h"
#include "api/lanes/evaluation.h"
#include "api/request/frame_fields.h"
#include <math.h>
#include <string.h>

#define GRAVITY 9.80665 /* m/s^2 */

/* --- request ------------------------------------------------------------------------------------------------------ */

static bool read_frame(api_query *q, const api_node *given, const api_place *up, api_held_frame *held)
{
    static const char *const fields[] = {"frame", "axes", "reference", NULL};
    api_place                frame_at = api_place_key(up, "frame"), axes_at = api_place_key(up, "axes");
    api_place                reference_at = api_place_key(up, "reference");
    if (!api_check_keys(q, given, up, fields, "an entry of held")) return false;
    if (!api_node_get(given, "frame"))
        return api_fail_at(q->problem, &frame_at, API_MISSING_FIELD, "an entry of held needs its frame");
    int i = api_read_frame(q, api_node_get(given, "frame"), &frame_at);
    if (i < 0) return false;
    held->frame = q->model->frames[i].frame;
    return api_read_axes(q, api_node_get(given, "axes"), &axes_at, held->axis, &held->n) &&
           api_read_reference(q, api_node_get(given, "reference"), &reference_at, &held->frame_axes);
}

static bool check_list(const api_query *q, const api_node *list, const api_place *at)
{
    size_t n = api_node_size(list);
    if (!api_node_is(list, API_ARRAY))
        return api_fail_at(q->problem, at, API_WRONG_TYPE, "%s given, an array of held frames expected",
                           api_node_kind_text(list));
    return (n > 0 && n <= API_MAX_HELD) ||
           api_fail_at(q->problem, at, API_WRONG_SHAPE, "%zu frames given, 1 to %d expected", n, API_MAX_HELD);
}

bool api_contact_read(api_query *q, const api_node *options, const api_place *up, const api_contact **found)
{
    const api_node *list = api_node_get(options, "held");
    api_place       at   = api_place_key(up, "held");
    if (!list) return true;
    if (!check_list(q, list, &at)) return false;
    api_contact *contact = api_take(q->pool, sizeof *contact);
    if (!contact) return false;
    *contact       = (api_contact){.n = api_node_size(list)};
    contact->frame = api_take(q->pool, contact->n * sizeof *contact->frame);
    if (!contact->frame) return false;
    for (size_t i = 0; i < contact->n; i++) {
        api_node  given;
        api_place entry = api_place_index(&at, i);
        if (!api_node_item(list, i, &given) || !read_frame(q, &given, &entry, &contact->frame[i])) return false;
        contact->k += contact->frame[i].n;
    }
    *found = contact;
    return true;
}

/* --- a block of states ------------------------------------------------------------------------------------------ */

size_t api_contact_entries(size_t nv, const api_contact *contact)
{
    size_t k = contact->k; /* `task` needs memory for one state only, but is counted for every lane */
    return k * nv + 2 * k + nv * nv + 12 * nv + api_task_entries(nv, k);
}

api_contact_block api_contact_lay_out(const api_contact *contact, size_t nv, size_t W, double *lanes)
{
    size_t            k = contact->k;
    api_contact_block b = {
        .contact = contact, .nv = nv, .W = W, .J = lanes, .task = {.nv = nv, .k = k, .redundant = true}};
    b.row_scale   = b.J + k * nv * W;
    b.jdot_qd     = b.row_scale + k * W;
    b.M           = b.jdot_qd + k * W;
    b.frame_J     = b.M + nv * nv * W;
    b.frame_J_dot = b.frame_J + 6 * nv * W;
    api_task_lay_out(&b.task, b.frame_J_dot + 6 * nv * W);
    return b;
}

/* Fills the rows of one held frame in J, jdot_qd and row_scale, from row `first` on. */
static void fill_frame(const api_contact_block *b, const api_held_frame *held, const api_contact_states *states,
                       size_t first)
{
    size_t         nv = b->nv, W = b->W;
    const double  *qd = states->qd, reach = api_frame_reach(states->scene->model, &held->frame);
    dyn_kinematics io = {.q            = states->q,
                         .qd           = qd,
                         .frame        = &held->frame,
                         .frame_axes   = held->frame_axes,
                         .jacobian     = b->frame_J,
                         .jacobian_dot = b->frame_J_dot};
    states->kernels->kinematics(states->scene, states->workspace, &io, 1);
    for (size_t i = 0; i < held->n; i++) {
        const double *J_dot   = b->frame_J_dot + (size_t)held->axis[i] * nv * W;
        double       *jdot_qd = b->jdot_qd + (first + i) * W, *row_scale = b->row_scale + (first + i) * W;
        memcpy(b->J + (first + i) * nv * W, b->frame_J + (size_t)held->axis[i] * nv * W, nv * W * sizeof *b->J);
        for (size_t l = 0; l < W; l++)
            row_scale[l] = api_task_row_scale(b->frame_J + l, nv, W, (size_t)held->axis[i], reach);
        memset(jdot_qd, 0, W * sizeof *jdot_qd);
        for (size_t v = 0; qd && v < nv; v++)
            for (size_t l = 0; l < W; l++)
                jdot_qd[l] += J_dot[v * W + l] * qd[v * W + l];
    }
}

void api_contact_evaluate(const api_contact_block *b, const api_contact_states *states)
{
    const api_contact *contact = b->contact;
    dyn_mass_matrix    io      = {.q = states->q, .mass_matrix = b->M, .inverse = b->inverse, .singular = b->singular};
    states->kernels->mass_matrix(states->scene, states->workspace, &io, 1);
    for (size_t i = 0, first = 0; i < contact->n; first += contact->frame[i++].n)
        fill_frame(b, &contact->frame[i], states, first);
}

/* --- one state -------------------------------------------------------------------------------------------------- */

bool api_contact_fail(const api_evaluation *e, api_code code, size_t state)
{
    if (code == API_CONTRADICTORY_CONTACTS) return api_fail_state(e, code, API_QD, state, API_CONTRADICTORY_TEXT);
    return api_fail_state(e, code, -1, state, "the numbers of this state are too large");
}

/* Removes the driven coordinates from the system: rows and columns of M become those of the identity, columns of J
 * zero. */
static void decouple_driven(const api_contact_block *b)
{
    const api_task *t  = &b->task;
    size_t          nv = b->nv;
    for (size_t v = 0; b->driven && v < nv; v++) {
        if (!b->driven[v]) continue;
        for (size_t i = 0; i < nv; i++)
            t->M[v + nv * i] = t->M[i + nv * v] = i == v;
        for (size_t a = 0; a < t->k; a++)
            t->X[v + nv * a] = 0;
    }
}

bool api_contact_solve(api_contact_block *b, size_t lane)
{
    api_task *t  = &b->task;
    size_t    nv = b->nv, W = b->W;
    for (size_t i = 0; i < nv * nv; i++)
        t->M[i] = b->M[i * W + lane];
    for (size_t a = 0; a < t->k; a++)
        api_task_set_row(t, a, b->J + a * nv * W + lane, W, b->row_scale[a * W + lane]);
    decouple_driven(b);
    return api_task_solve(t) == API_TASK_DONE;
}

/* An upper bound of the entries of Jdot qd + J qdd_driven, with a floor for velocities of rounding size: the
 * acceleration of gravity, plus the largest row scale times (sum |qd_v|)^2 + sum |qdd_v|. */
static double largest_jdot_qd(const api_contact_block *b, const double *qd, const double *driven_qdd, size_t lane)
{
    double most = 0, speed = 0, acceleration = 0;
    for (size_t a = 0; a < b->task.k; a++)
        most = fmax(most, b->row_scale[a * b->W + lane]);
    for (size_t v = 0; qd && v < b->nv; v++)
        speed += fabs(qd[v * b->W + lane]);
    for (size_t v = 0; driven_qdd && v < b->nv; v++)
        acceleration += fabs(driven_qdd[v * b->W + lane]);
    return GRAVITY + most * (speed * speed + acceleration);
}

/* Entry a of Jdot qd + J qdd, with the accelerations of driven coordinates as qdd. */
static double constraint_acceleration(const api_contact_block *b, const double *driven_qdd, size_t lane, size_t a)
{
    double sum = b->jdot_qd[a * b->W + lane];
    for (size_t v = 0; driven_qdd && v < b->nv; v++)
        sum += b->J[(a * b->nv + v) * b->W + lane] * driven_qdd[v * b->W + lane];
    return sum;
}

/* Tests the components of Jdot qd that no acceleration can change: those along the columns of V beyond the rank of J
 * (task_inertia.h). */
bool api_contact_is_consistent(const api_contact_block *b, const double *qd, const double *driven_qdd, size_t lane,
                               double part)
{
    const api_task *t    = &b->task;
    size_t          rank = api_task_rank(t);
    double          most = rank < t->k ? part * largest_jdot_qd(b, qd, driven_qdd, lane) : 0;
    for (size_t i = rank; (qd || driven_qdd) && i < t->k; i++) {
        double across = 0;
        for (size_t a = 0; a < t->k; a++)
            across += t->Vt[i + t->k * a] * constraint_acceleration(b, driven_qdd, lane, a);
        if (!(fabs(across) <= most)) return false;
    }
    return true;
}

void api_contact_add_jacobian_product(const api_contact_block *b, const double *x, size_t lane, double *to)
{
    size_t nv = b->nv, W = b->W;
    for (size_t a = 0; x && a < b->task.k; a++)
        for (size_t v = 0; v < nv; v++)
            to[a] += b->J[(a * nv + v) * W + lane] * x[v * W + lane];
}

void api_contact_apply_correction(const api_contact_block *b, const double *right_side, size_t lane, double *x)
{
    const api_task *t = &b->task;
    for (size_t v = 0; v < t->nv; v++) {
        double sum = 0;
        for (size_t c = 0; c < t->k; c++)
            sum += t->X[v + t->nv * c] * right_side[c];
        x[v * b->W + lane] -= sum;
    }
}

void api_contact_put_wrenches(const api_contact_block *b, const double *right_side, size_t lane, double *wrenches)
{
    const api_task       *t     = &b->task;
    const api_held_frame *frame = b->contact->frame;
    size_t                W = b->W, a = 0;
    for (size_t i = 0; i < b->contact->n * API_FRAME_AXES; i++)
        wrenches[i * W + lane] = 0;
    for (size_t i = 0; i < b->contact->n; i++)
        for (size_t j = 0; j < frame[i].n; j++, a++) {
            double sum = 0;
            for (size_t c = 0; c < t->k; c++)
                sum -= t->Lambda[a + t->k * c] * right_side[c];
            wrenches[(i * API_FRAME_AXES + (size_t)frame[i].axis[j]) * W + lane] = sum;
        }
}

void api_contact_subtract_efforts(const api_contact_block *b, const double *wrenches, size_t lane, double *tau)
{
    const api_held_frame *frame = b->contact->frame;
    size_t                W = b->W, a = 0;
    for (size_t i = 0; i < b->contact->n; i++)
        for (size_t j = 0; j < frame[i].n; j++, a++) {
            double along = wrenches[(i * API_FRAME_AXES + (size_t)frame[i].axis[j]) * W + lane];
            for (size_t v = 0; v < b->nv; v++)
                tau[v * W + lane] -= b->J[(a * b->nv + v) * W + lane] * along;
        }
}

void api_contact_pad(const api_contact_block *b, size_t live, size_t entries, double *values)
{
    for (size_t i = 0; i < entries; i++)
        for (size_t l = live; l < b->W; l++)
            values[i * b->W + l] = values[i * b->W + live - 1];
}
