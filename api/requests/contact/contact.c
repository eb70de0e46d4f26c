/* contact.c - reads "held" and solves for the wrenches on held frames (contact.h). */
#include "contact.h"
#include "api/requests/lanes/evaluation.h"
#include "api/requests/fields/frame_fields.h"
#include "api/codec/number.h"
#include "dynamics/held_directions.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

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
    held->name  = q->model->frames[i].name;
    return api_read_axes(q, api_node_get(given, "axes"), &axes_at, held->axis, &held->n) &&
           api_read_reference(q, api_node_get(given, "reference"), &reference_at, &held->frame_axes);
}

static bool check_list(const api_query *q, const api_node *list, const api_place *at)
{
    size_t n = api_node_size(list);
    if (!api_node_is(list, API_ARRAY))
        return api_fail_at(q->problem, at, API_WRONG_TYPE, "%s given, an array of held frames expected",
                           api_node_kind_text(list));
    return n <= API_MAX_HELD ||
           api_fail_at(q->problem, at, API_WRONG_SHAPE, "%zu frames given, at most %d expected", n, API_MAX_HELD);
}

bool api_contact_is_given(const api_node *options)
{
    const api_node *list = api_node_get(options, "held");
    return list && !(api_node_is(list, API_ARRAY) && api_node_size(list) == 0);
}

bool api_contact_read(api_query *q, const api_node *options, const api_place *up, const api_contact **found)
{
    const api_node *list = api_node_get(options, "held");
    api_place       at   = api_place_key(up, "held");
    if (!api_contact_is_given(options)) return true;
    if (!check_list(q, list, &at)) return false;
    api_contact *contact = api_take(q->pool, sizeof *contact);
    if (!contact) return false;
    *contact       = (api_contact){.n = api_node_size(list), .deadline = q->scene.deadline};
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

bool api_contact_read_damping(api_query *q, const api_node *options, const api_place *up, bool held, double *damping)
{
    const api_node *given = api_node_get(options, "contact_damping");
    api_place       at    = api_place_key(up, "contact_damping");
    *damping              = 0;
    if (!given) return true;
    if (!api_read_number(q, given, &at, damping)) return false;
    if (!(*damping > 0))
        return api_fail_at(q->problem, &at, API_BAD_VALUE,
                           "%s given, a number greater than 0 expected, in 1/kg and 1/(kg m^2)",
                           API_NUMBER_TEXT(*damping));
    return held ||
           api_fail_at(q->problem, &at, API_BAD_VALUE, "given without held, the frames whose contacts it damps");
}

bool api_contact_select_residual(api_query *q, api_selection *selected, size_t output, double damping,
                                 const api_node *options, const api_place *up)
{
    if (damping > 0 && !api_node_get(options, "outputs")) selected->outputs |= API_BIT(output);
    return damping > 0 || !(selected->outputs & API_BIT(output)) ||
           api_fail_output(q, selected, output, options, up,
                           "contact_residual is what contact_damping leaves: give it, or leave out this output");
}

/* --- a block of states ------------------------------------------------------------------------------------------ */

size_t api_contact_entries(size_t nv, const api_contact *contact)
{
    size_t k = contact->k; /* `task` needs memory for one state only, but is counted for every lane */
    return k * nv + 3 * k + nv * nv + 12 * nv + dyn_task_entries(nv, k);
}

api_contact_block api_contact_lay_out(const api_contact *contact, size_t nv, size_t W, double *lanes)
{
    size_t            k = contact->k;
    api_contact_block b = {.contact   = contact,
                           .nv        = nv,
                           .W         = W,
                           .J         = lanes,
                           .unsettled = 1,
                           .task      = {.nv = nv, .k = k, .redundant = true}};
    b.row_scale         = b.J + k * nv * W;
    b.jdot_qd           = b.row_scale + k * W;
    b.sizes             = b.jdot_qd + k * W;
    b.M                 = b.sizes + k * W;
    b.frame_J           = b.M + nv * nv * W;
    b.frame_J_dot       = b.frame_J + 6 * nv * W;
    dyn_task_lay_out(&b.task, b.frame_J_dot + 6 * nv * W);
    return b;
}

/* The acceleration by which velocities of rounding size are judged, m/s^2. */
static double gravity_of(const dyn_scene *scene)
{
    const double *g = scene->gravity;
    return fmax(sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]), DYN_STANDARD_GRAVITY);
}

/* Sets A + V of the rows of one held frame in one lane (dynamics/held_directions.h), from row `first` on. */
static void set_sizes(const api_contact_block *b, const api_held_frame *held, const api_contact_states *states,
                      double reach, size_t first, size_t lane)
{
    size_t nv = b->nv, W = b->W;
    double u = 0, w = 0, gravity = gravity_of(states->scene);
    for (size_t v = 0; states->qd && v < nv; v++) {
        double linear = 0, angular = 0;
        for (size_t a = 0; a < 3; a++) {
            linear  = fmax(linear, fabs(b->frame_J[(a * nv + v) * W + lane]));
            angular = fmax(angular, fabs(b->frame_J[((3 + a) * nv + v) * W + lane]));
        }
        u += linear * fabs(states->qd[v * W + lane]);
        w += angular * fabs(states->qd[v * W + lane]);
    }
    for (size_t i = 0; i < held->n; i++)
        b->sizes[(first + i) * W + lane] = held->axis[i] < 3 ? gravity + b->unsettled * w * (reach * w + 2 * u)
                                                             : gravity / reach + b->unsettled * w * w;
}

/* Fills the rows of one held frame in J, jdot_qd, row_scale and sizes, from row `first` on. */
static void fill_frame(const api_contact_block *b, const api_held_frame *held, const api_contact_states *states,
                       size_t first)
{
    size_t           nv = b->nv, W = b->W;
    const dyn_frame *frame = &held->frame;
    const double    *qd = states->qd, reach = dyn_point_reach(states->scene->model, frame->body, frame->X_bf.p);
    dyn_kinematics   io = {.q            = states->q,
                           .qd           = qd,
                           .frame        = frame,
                           .frame_axes   = held->frame_axes,
                           .jacobian     = b->frame_J,
                           .jacobian_dot = b->frame_J_dot};
    states->kernels->kinematics(states->scene, states->workspace, &io, 1);
    for (size_t lane = 0; lane < W; lane++)
        set_sizes(b, held, states, reach, first, lane);
    for (size_t i = 0; i < held->n; i++) {
        const double *J_dot   = b->frame_J_dot + (size_t)held->axis[i] * nv * W;
        double       *jdot_qd = b->jdot_qd + (first + i) * W, *row_scale = b->row_scale + (first + i) * W;
        memcpy(b->J + (first + i) * nv * W, b->frame_J + (size_t)held->axis[i] * nv * W, nv * W * sizeof *b->J);
        for (size_t l = 0; l < W; l++)
            row_scale[l] = dyn_task_row_scale(b->frame_J + l, nv, W, (size_t)held->axis[i], reach);
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

enum { NAMES = 4 /* frames that a message lists */, NAMES_ROOM = 256 };

/* Lists the names of the frames up to frame `last`. */
static void list_names(const api_contact *contact, size_t last, char text[NAMES_ROOM])
{
    size_t used = 0;
    for (size_t i = 0; i <= last && i < NAMES; i++)
        used += (size_t)snprintf(text + used, NAMES_ROOM - used, "%s%.48s",
                                 i == 0      ? ""
                                 : i == last ? " and "
                                             : ", ",
                                 contact->frame[i].name);
    if (last >= NAMES) snprintf(text + used, NAMES_ROOM - used, " and %zu more", last + 1 - NAMES);
}

bool api_contact_describe(const api_contact *contact, size_t row, double damping, api_problem *problem)
{
    char   names[NAMES_ROOM];
    size_t i = 0, a = row - 1;
    if (!contact || row > contact->k)
        return api_fail(problem, API_CONTRADICTORY_CONTACTS, NULL,
                        "no accelerations keep the velocities along all held axes and stop all joints that stick");
    for (; i + 1 < contact->n && a >= contact->frame[i].n; i++)
        a -= contact->frame[i].n;
    const api_held_frame *frame = &contact->frame[i];
    const char           *axis  = api_axis_name(frame->axis[a]);
    list_names(contact, i, names);
    if (damping > 0)
        return api_fail(problem, API_CONTRADICTORY_CONTACTS, NULL,
                        "no accelerations keep the velocities along the held axes of %s: contact_damping %s is "
                        "negligible for %.48s along %s. Give a larger one",
                        names, API_NUMBER_TEXT(damping), frame->name, axis);
    return api_fail(problem, API_CONTRADICTORY_CONTACTS, NULL,
                    "no accelerations keep the velocities along the held axes of %s: that of %.48s along %s depends on "
                    "the axes before it, and changes. Hold fewer axes, correct qd, or give contact_damping",
                    names, frame->name, axis);
}

/* Removes the driven coordinates from the system: rows and columns of M become those of the identity, columns of J
 * zero. */
static void decouple_driven(const api_contact_block *b)
{
    const dyn_task *t  = &b->task;
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
    dyn_task *t  = &b->task;
    size_t    nv = b->nv, W = b->W;
    if (!dyn_may_continue(b->contact->deadline)) return false;
    for (size_t i = 0; i < nv * nv; i++)
        t->M[i] = b->M[i * W + lane];
    for (size_t a = 0; a < t->k; a++)
        dyn_task_set_row(t, a, b->J + a * nv * W + lane, W, b->row_scale[a * W + lane]);
    decouple_driven(b);
    return dyn_task_solve(t) == DYN_TASK_DONE;
}

size_t api_contact_find_contradiction(const api_contact_block *b, const double *along, const double *qdd, size_t lane)
{
    double sizes[API_MAX_HELD * API_FRAME_AXES] = {0};
    size_t k = b->task.k, nv = b->nv, W = b->W;
    for (size_t a = 0; a < k; a++) {
        sizes[a] = b->sizes[a * W + lane];
        for (size_t v = 0; v < nv; v++)
            sizes[a] += fabs(b->J[(a * nv + v) * W + lane] * qdd[v * W + lane]);
    }
    size_t row = dyn_task_contradiction(&b->task, along, sizes);
    return row < k ? 1 + row : 0;
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
    const dyn_task *t = &b->task;
    for (size_t v = 0; v < t->nv; v++) {
        double sum = 0;
        for (size_t c = 0; c < t->k; c++)
            sum += t->X[v + t->nv * c] * right_side[c];
        x[v * b->W + lane] -= sum;
    }
}

void api_contact_put_wrenches(const api_contact_block *b, const double *right_side, size_t lane, double *wrenches)
{
    const dyn_task       *t     = &b->task;
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

void api_contact_put_residual(const api_contact_block *b, double damping, const double *wrenches, size_t lane,
                              double *residual)
{
    for (size_t i = 0; i < b->contact->n * API_FRAME_AXES; i++)
        residual[i * b->W + lane] = -damping * wrenches[i * b->W + lane];
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
