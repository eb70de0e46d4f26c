/* path_wrenches.c - chooses the wrenches on the held frames of a path whose timing is found (path_contacts.h). */
#include "path_contacts.h"
#include "api/requests/lanes/failed_rows.h"
#include <string.h>

/* The wrenches of a block, and memory for one state at a time. */
typedef struct path_wrenches {
    const api_path_contacts *contacts;
    dyn_held_block           held;
    dyn_held_choice          choice;      /* choice of wrenches, with the limits of efforts of one state */
    dyn_limit_row           *row;         /* [choice->n_rows + 2 n_efforts] */
    double                  *coefficient; /* [2 n_efforts][k] */
    dyn_least_norm           norm;
} path_wrenches;

static void lay_out_wrenches(const api_evaluation *e, const api_path_contacts *contacts, path_wrenches *w)
{
    const dyn_held_choice *choice  = &contacts->held->choice;
    const size_t           efforts = 2 * contacts->limits.n_efforts, k = choice->contact->k;
    double                *next = e->spare;
    *w                          = (path_wrenches){.contacts = contacts, .choice = *choice};
    w->held                     = dyn_held_lay_out(&w->choice, e->model->nv, e->lanes, next);
    next                        = api_behind(e, next, dyn_held_entries(e->model->nv, choice), 1);
    w->row                      = (dyn_limit_row *)(void *)next;
    w->coefficient              = (double *)(void *)(w->row + choice->n_rows + efforts);
    w->norm                     = (dyn_least_norm){
                            .k = k, .n_equations = choice->n_passive, .deadline = api_deadline_for_dynamics(e->query->input->deadline)};
    dyn_least_norm_lay_out(&w->norm, w->coefficient + efforts * k);
}

/* Chooses the wrenches of one state, whose efforts without contacts are tau. The result is that of api_fail_state. */
static bool choose_state(const api_evaluation *e, path_wrenches *w, const double *tau, size_t state)
{
    const dyn_polytope_place place = {.W = e->lanes, .lane = state % e->lanes, .J = w->held.rows.J};
    w->choice.n_rows = dyn_polytope_half_spaces(&w->contacts->limits, &place, tau, w->row, w->coefficient);
    w->choice.row    = w->row;
    if (w->choice.n_rows + w->choice.n_cones == 0) return true;
    switch (dyn_held_limit(&w->held, place.lane, &w->norm)) {
    case DYN_LEAST_NORM_DONE: return true;
    case DYN_LEAST_NORM_LATE: return api_deadline_check(e->query->input->deadline, e->problem);
    case DYN_LEAST_NORM_INFEASIBLE:
    case DYN_LEAST_NORM_UNDECIDED: break;
    }
    return api_fail_state(
        e, API_NO_TIMING, API_CONTROL_POINTS, state,
        "at s = %.6g the search for wrenches within the limits of the contacts has not come to an end: "
        "they barely allow the fastest motion. Relax a limit, or give facets",
        (double)(state % e->query->samples) / (double)(e->query->samples - 1));
}

/* Subtracts J^T l from the efforts of a block in which l are the wrenches chosen. */
static void subtract_efforts(const path_wrenches *w, double *tau)
{
    const dyn_held_block *b = &w->held;
    const size_t          W = b->W, nv = b->nv;
    for (size_t a = 0; a < w->choice.contact->k; a++)
        for (size_t v = 0; v < nv; v++)
            for (size_t lane = 0; lane < W; lane++)
                tau[v * W + lane] -= b->rows.J[(a * nv + v) * W + lane] * w->choice.root[a] * b->x[a * W + lane];
}

static bool choose_wrenches_of_block(const api_evaluation *e, path_wrenches *w, size_t block, double *tau,
                                     double *wrenches)
{
    const size_t             first = block * e->lanes, states = api_states(e->query);
    const dyn_contact_states still = {.kernels   = e->kernels,
                                      .scene     = &e->query->scene,
                                      .workspace = e->workspace,
                                      .q         = api_state_block(e, API_Q, block)};
    dyn_held_solve(&w->held, &still, NULL, tau);
    if (!api_deadline_check(e->query->input->deadline, e->problem)) return false; /* x is not complete */
    for (size_t lane = 0; lane < e->lanes && first + lane < states; lane++)
        if (!api_failed_rows_has(e->plan->failed_rows, first + lane) && !choose_state(e, w, tau, first + lane))
            return false;
    subtract_efforts(w, tau);
    api_held_efforts_clear(e, w->contacts->held, tau);
    if (wrenches) dyn_held_put_wrenches(&w->held, wrenches);
    return api_deadline_check(e->query->input->deadline, e->problem);
}

bool api_path_contacts_choose(const api_evaluation *e, const api_path_contacts *contacts, double *tau, double *wrenches)
{
    const size_t  entries = API_FRAME_AXES * contacts->held->choice.contact->n;
    path_wrenches w;
    lay_out_wrenches(e, contacts, &w);
    for (size_t block = 0; block < e->plan->blocks; block++)
        if (!choose_wrenches_of_block(e, &w, block, api_block(e, tau, e->model->nv, block),
                                      api_block(e, wrenches, entries, block)))
            return false;
    return true;
}
