/* path_polygons.c - finds the polygons of a path with held frames, and writes their edges as rows (path_contacts.h). */
#include "path_contacts.h"
#include "api/requests/held/held_fields.h"
#include "path_limits.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- scratch lanes ------------------------------------------------------------------------------------------------ */

enum { PARTS = 3 /* the coefficients a, b and c */ };

/* The arrays of a block. */
typedef struct block_arrays {
    dyn_held_block held;
    double        *e[PARTS];       /* n_passive in lanes: e of each part */
    double        *remains[PARTS]; /* n_passive in lanes: efforts that no wrenches bear, of each part */
    void          *polytope;
} block_arrays;

static size_t per_lane(const api_path_contacts *contacts, size_t bytes)
{
    return bytes / sizeof(double) / contacts->W + 1;
}

/* The larger of a polytope and the arrays of the choice of wrenches. */
static size_t single_state_bytes(const api_path_contacts *contacts)
{
    const dyn_held_choice *choice = &contacts->held->choice;
    const size_t           k = choice->contact->k, efforts = 2 * contacts->limits.n_efforts;
    const size_t           polytope = dyn_polytope_bytes(&contacts->limits);
    const size_t           norm     = dyn_least_norm_bytes(k, choice->n_passive) + efforts * k * sizeof(double) +
                        (choice->n_rows + efforts) * sizeof(dyn_limit_row);
    return (polytope > norm ? polytope : norm) + sizeof(double);
}

size_t api_path_contacts_entries(const api_model *model, const api_path_contacts *contacts)
{
    const dyn_held_choice *choice = &contacts->held->choice;
    return dyn_held_entries(model->nv, choice) + 2 * PARTS * (choice->n_passive + 1) +
           per_lane(contacts, single_state_bytes(contacts));
}

static block_arrays lay_out_polygon_block(const api_evaluation *e, const api_path_contacts *contacts)
{
    const dyn_held_choice *choice = &contacts->held->choice;
    const size_t           nv = e->model->nv, W = e->lanes;
    double                *next   = e->spare;
    block_arrays           arrays = {.held = dyn_held_lay_out(choice, nv, W, next)};
    next                          = api_behind(e, next, dyn_held_entries(nv, choice), 1);
    for (size_t part = 0; part < PARTS; part++, next = api_behind(e, next, 2 * (choice->n_passive + 1), 1)) {
        arrays.e[part]       = next;
        arrays.remains[part] = api_behind(e, next, choice->n_passive + 1, 1);
    }
    arrays.polytope = next;
    return arrays;
}

/* Finds the equations of the wrenches for the efforts `tau` of one part, along the motion of `states` and qdd. */
static void solve_part(block_arrays *arrays, const dyn_contact_states *states, const double *qdd, const double *tau,
                       size_t part)
{
    const dyn_held_block *b     = &arrays->held;
    const size_t          bytes = b->choice->n_passive * b->W * sizeof(double);
    dyn_held_solve(b, states, qdd, tau);
    memcpy(arrays->e[part], b->e, bytes);
    memcpy(arrays->remains[part], b->remains, bytes);
}

/* --- failures ----------------------------------------------------------------------------------------------------- */

static double path_place_of(const api_evaluation *e, size_t state)
{
    const size_t n = e->query->samples;
    return (double)(state % n) / (double)(n - 1);
}

/* Returns the held frame of direction `row`, and sets *direction to the number of the direction in the frame. */
static size_t frame_of_direction(const dyn_held_set *contact, size_t row, size_t *direction)
{
    size_t i = 0;
    for (; row >= contact->frame[i].n; i++)
        row -= contact->frame[i].n;
    *direction = row;
    return i;
}

static bool fail_moving(const api_evaluation *e, const api_path_contacts *contacts, const api_held_residual *residual,
                        size_t state)
{
    const dyn_held_set   *contact = contacts->held->choice.contact;
    size_t                direction;
    const size_t          i     = frame_of_direction(contact, residual->row, &direction);
    const dyn_held_frame *frame = &contact->frame[i];
    const char           *unit  = frame->axis[direction] < 3 ? "m" : "rad";
    return api_fail_state(
        e, API_HELD_FRAME_ACCELERATES, API_CONTROL_POINTS, state,
        "at s = %.6g the path moves held frame %.64s: its %s derivative with respect to s along %s is "
        "%.4g %s; at most %.4g counts as none. Give a path along which held frames rest, or hold fewer "
        "axes",
        path_place_of(e, state), contact->names[i], residual->jerks ? "second" : "first",
        api_contact_axis_name(frame, direction), residual->left, unit, residual->most);
}

/* Checks that the held frames rest: J q' = 0, relative to |q'| and a length, and J q'' + J' q' = 0, which the last part
 * has found. The result is that of api_fail_state. */
static bool check_rest(const api_evaluation *e, const api_path_contacts *contacts, const dyn_held_block *b,
                       const double *dq, size_t state, bool *rests)
{
    const size_t W = b->W, lane = state % W, nv = b->nv, second = dyn_held_find_moving(b, lane);
    double       all = 0;
    *rests           = true;
    for (size_t v = 0; v < nv; v++)
        all += fabs(dq[v * W + lane]) * (1 + contacts->limits.lever);
    for (size_t a = 0; a < b->choice->contact->k; a++) {
        double sum = 0, size = all;
        for (size_t v = 0; v < nv; v++) {
            const double part = b->rows.J[(a * nv + v) * W + lane] * dq[v * W + lane];
            sum += part;
            size += fabs(part);
        }
        if (fabs(sum) <= DYN_HELD_MOTION * size) continue;
        *rests = false;
        return fail_moving(e, contacts, &(api_held_residual){.row = a, .left = sum, .most = DYN_HELD_MOTION * size},
                           state);
    }
    if (second == 0) return true;
    const size_t entry = (second - 1) * W + lane;
    *rests             = false;
    return fail_moving(
        e, contacts,
        &(api_held_residual){
            .row = second - 1, .left = b->moves[entry], .most = DYN_HELD_MOTION * b->moves_scale[entry], .jerks = true},
        state);
}

/* Checks that wrenches bear all motions along the path. The result is that of api_fail_state. */
static bool check_balance(const api_evaluation *e, const api_path_contacts *contacts, const block_arrays *arrays,
                          const dyn_polytope_place *place, size_t state, bool *balanced)
{
    const dyn_held_choice *choice = &contacts->held->choice;
    const double           scale  = dyn_polytope_scale(&contacts->limits, place);
    *balanced                     = true;
    for (size_t u = 0; u < choice->n_passive; u++)
        for (size_t part = 0; part < PARTS; part++) {
            const size_t entry = u * place->W + place->lane;
            const double left  = arrays->remains[part][entry] * (part < 2 ? scale : 1);
            if (fabs(left) <= DYN_HELD_MOTION * arrays->held.remains_scale[entry]) continue;
            *balanced = false;
            return api_fail_state(
                e, API_INFEASIBLE_CONTACTS, API_CONTROL_POINTS, state,
                "at s = %.6g no wrenches along the held axes bear motions along this path: %.4g N or N "
                "m remain at %.64s, which no actuator moves. Hold more axes or frames",
                path_place_of(e, state), left, e->model->velocity_names[choice->passive[u]]);
        }
    return true;
}

enum { TEXT = 400, NAMED = 4 /* limits that a message names */ };

/* Fails a state whose limits contradict each other for all derivatives of s. */
static bool fail_polytope(const api_evaluation *e, const api_path_contacts *contacts, const api_path_limits *limits,
                          const dyn_polytope *p, size_t state)
{
    char   text[TEXT] = "";
    size_t used = 0, n = 0, named[NAMED];
    for (size_t row = 0; row < p->rows && n < NAMED; row++) {
        if (!(dyn_simplex_multiplier(&p->s, row) > 0)) continue;
        const size_t number = contacts->number[dyn_polytope_limit(&contacts->limits, row)];
        size_t       known  = 0;
        while (known < n && named[known] != number)
            known++;
        if (known < n) continue;
        used += (size_t)snprintf(text + used, TEXT - used, "%s%s of %.48s", n > 0 ? ", " : "",
                                 api_path_limit_kind(limits, number), api_path_limit_owner(limits, number));
        named[n++] = number;
    }
    return api_fail_state(
        e, API_NO_TIMING, API_CONTROL_POINTS, state,
        "at s = %.6g no speed and acceleration is within the limits of the contacts and efforts: these "
        "contradict each other: %s",
        path_place_of(e, state), text);
}

static bool fail_simplex(const api_evaluation *e, const api_path_contacts *contacts, const api_path_limits *limits,
                         const dyn_polytope *p, dyn_simplex_status status, size_t state)
{
    switch (status) {
    case DYN_SIMPLEX_INFEASIBLE: return fail_polytope(e, contacts, limits, p, state);
    case DYN_SIMPLEX_LATE: return api_deadline_check(e->query->input->deadline, e->problem);
    case DYN_SIMPLEX_UNDECIDED:
        return api_fail_state(e, API_NO_TIMING, API_CONTROL_POINTS, state,
                              "at s = %.6g the search for the speeds that the contacts allow has not come to an end: "
                              "they barely allow any. Relax a limit, or give facets",
                              path_place_of(e, state));
    case DYN_SIMPLEX_DONE: break;
    }
    return true;
}

/* --- rows --------------------------------------------------------------------------------------------------------- */

/* Writes the edges of a polygon as rows, and their limits; rows without an edge are 0 <= 1. */
static void write_edges(const api_path_contacts *contacts, const dyn_polygon *polygon, size_t state,
                        dyn_timing_row *rows)
{
    const double scale = contacts->scale[state];
    size_t      *owner = contacts->owner + state * DYN_POLYGON_EDGES;
    for (size_t i = 0; i < DYN_POLYGON_EDGES; i++) {
        const dyn_polygon_edge *edge = &polygon->edge[i];
        owner[i]                     = 0;
        rows[i]                      = (dyn_timing_row){.r = 1};
        if (i >= polygon->n) continue;
        rows[i]  = (dyn_timing_row){.a = edge->d[0] / scale, .b = edge->d[1] / scale, .r = edge->r};
        owner[i] = contacts->number[dyn_polytope_limit(&contacts->limits, edge->row)];
    }
}

static bool write_polygon(const api_evaluation *e, const api_path_limits *limits, const block_arrays *arrays,
                          const api_path_forces *forces, size_t state, dyn_timing_row *rows)
{
    const api_path_contacts *contacts = limits->contacts;
    const dyn_held_block    *b        = &arrays->held;
    dyn_polygon              polygon  = {.n = 0};
    dyn_polytope             p        = {.s = {.deadline = api_deadline_for_dynamics(e->query->input->deadline)}};
    bool                     rests, balanced;
    const dyn_polytope_place place = {.W    = b->W,
                                      .lane = state % b->W,
                                      .a    = forces->a,
                                      .b    = forces->b,
                                      .c    = forces->c,
                                      .J    = b->rows.J,
                                      .E    = b->E,
                                      .e    = {arrays->e[0], arrays->e[1], arrays->e[2]}};
    contacts->scale[state]         = dyn_polytope_scale(&contacts->limits, &place);
    write_edges(contacts, &polygon, state, rows);
    if (!dyn_held_is_finite(b, place.lane))
        return api_fail_state(e, API_RESULT_NOT_FINITE, -1, state, "%s",
                              api_contact_not_finite(contacts->held->choice.contact));
    if (!check_rest(e, contacts, b, forces->dq, state, &rests)) return false;
    if (!rests) return true;
    if (!check_balance(e, contacts, arrays, &place, state, &balanced)) return false;
    if (!balanced) return true;
    dyn_polytope_write(&p, &contacts->limits, &place, arrays->polytope);
    const dyn_simplex_status status = dyn_polygon_find(&p.s, &polygon);
    if (status != DYN_SIMPLEX_DONE) return fail_simplex(e, contacts, limits, &p, status, state);
    write_edges(contacts, &polygon, state, rows);
    return true;
}

bool api_path_contacts_rows(const api_evaluation *e, const api_path_limits *limits, size_t block,
                            const api_path_forces *forces, dyn_timing_row *rows, size_t stride)
{
    block_arrays             arrays = lay_out_polygon_block(e, limits->contacts);
    const dyn_contact_states still  = {
         .kernels = e->kernels, .scene = &e->query->scene, .workspace = e->workspace, .q = forces->q};
    dyn_contact_states moving = still;
    const size_t       first = block * e->lanes, states = api_states(e->query);
    moving.qd = forces->dq;
    solve_part(&arrays, &still, NULL, forces->a, 0);
    solve_part(&arrays, &still, NULL, forces->c, 2);
    solve_part(&arrays, &moving, forces->d2q, forces->b, 1);
    /* Past the deadline the arrays are not complete. */
    if (!api_deadline_check(e->query->input->deadline, e->problem)) return false;
    for (size_t lane = 0; lane < e->lanes && first + lane < states; lane++)
        if (!write_polygon(e, limits, &arrays, forces, first + lane, rows + (first + lane) * stride)) return false;
    return api_deadline_check(e->query->input->deadline, e->problem);
}
