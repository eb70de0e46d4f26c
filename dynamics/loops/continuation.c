/* continuation.c - follows paths of closure equations by predictor and corrector steps (continuation.h). */
#include "continuation.h"
#include "dynamics/model/coordinates.h"
#include <math.h>
#include <string.h>

enum { MAX_CORRECTIONS = 8 };
#define MAX_STEP        0.5   /* longest step, in units of the path's length */
#define MAX_CORRECTION  0.5   /* largest first correction of a step, in units of step_limit */
#define MAX_CONTRACTION 0.25  /* largest ratio of a correction to the one before */
#define MAX_CHANGE      0.5   /* largest relative change of the Jacobian in a step, |M^4|^(1/4) of continuation.h */
#define CONVERGED       0.01  /* a step ends once a correction is this part of the first one */
#define MIN_STEP        1e-9  /* shortest step, in units of the path's length */
#define NO_PROGRESS     1e-6  /* the path ends if a shortest step moves the unknowns by less than this */
#define ROUNDING        1e-12 /* corrections below this are rounding errors, whose ratio is no contraction */
#define MIN_PIVOT       1e-7  /* smallest pivot of J_u, for columns of length one */

/* State of the continuation in one lane. */
typedef struct lane_progress {
    double s, step;     /* fraction of the path at the last accepted point; length of the trial step from it */
    double last_step;   /* the accepted step that ended at s */
    double next;        /* planned length of the next step */
    double first, last; /* sizes of the first and the latest correction of the present step */
    double contraction; /* the largest ratio of successive corrections in the present step */
    int    corrections;
    bool   started, running;
    bool   converged; /* the corrections of the present step have converged */
    bool   accepted;  /* true: the point is accepted; the next step waits for the pseudoinverse at it */
} lane_progress;

/* Returns the largest entry of the correction K (r - remaining) of a lane, in units of step_limit: r is the loop error
 * and K the pseudoinverse of its Jacobian at the last accepted point. */
static double measure_correction(const dyn_closure_solver *c, size_t lane)
{
    double largest = 0;
    for (size_t i = 0; i < c->equations.unknowns; i++) {
        const double part = fabs(c->correction[(size_t)c->equations.unknown[i] * c->W + lane]) / c->step_limit[i];
        largest           = part > largest || isnan(part) ? part : largest;
    }
    return isfinite(largest) ? largest : INFINITY;
}

/* Subtracts the correction from the lane's coordinates; the entries of known coordinates are zero. */
static void correct(dyn_closure_solver *c, size_t lane)
{
    const dyn_model *m = c->equations.mechanism.tree;
    c->evaluated       = false;
    for (size_t i = 0; i < m->n_bodies; i++)
        if (!m->body[i].joint.mimic)
            dyn_coordinates_move(&m->body[i], c->q + (size_t)m->body[i].joint.q * c->W + lane, c->W,
                                 c->correction + (size_t)m->body[i].joint.v * c->W + lane, -1);
}

static void copy_lane(const dyn_closure_solver *c, const double *from, size_t lane, double *to)
{
    for (size_t i = 0; i < c->loops->nq; i++)
        to[i * c->W + lane] = from[i * c->W + lane];
}

/* Ends the path of a lane before a singular position. Steps towards that position shrink like a geometric series, whose
 * sum estimates its distance. */
static void stop(dyn_closure_solver *c, size_t lane, lane_progress *f)
{
    double ratio = f->last_step > 0 ? fmin(f->step / f->last_step, 0.98) : 0;
    c->evaluated = false;
    copy_lane(c, c->accepted_q, lane, c->q);
    c->reached[lane] = fmin(f->s + f->step / (1 - ratio), nextafter(1, 0));
    f->running       = false;
}

/* Sets the trial point: known coordinates at s + step, unknowns of the last accepted point. */
static void set_trial_point(dyn_closure_solver *c, const dyn_continuation_path *path, size_t lane, lane_progress *f)
{
    c->evaluated = false;
    copy_lane(c, c->accepted_q, lane, c->q);
    if (f->s + f->step >= 1) f->step = 1 - f->s;
    if (!(f->s + f->step > f->s)) { /* step is below the resolution of s */
        stop(c, lane, f);
        return;
    }
    path->set_point(path->arg, c, lane, f->s + f->step);
    f->corrections = 0;
    f->contraction = 0;
}

/* True if the path ends because its trial step is too short. If a singular position lies on the path, short steps move
 * the unknowns less and less. If it only lies near the path, short steps still move the unknowns far, and the path goes
 * on. */
static bool is_too_short(const dyn_continuation_path *path, size_t lane, double step, const lane_progress *f)
{
    double length = step * path->length[lane];
    return path->shortest > 0 ? length < path->shortest : length < MIN_STEP && f->first < NO_PROGRESS;
}

/* Starts a trial step of length `step`, or ends the path if that is too short. */
static void try_step(dyn_closure_solver *c, const dyn_continuation_path *path, size_t lane, double step,
                     lane_progress *f)
{
    f->step = step;
    if (is_too_short(path, lane, step, f))
        stop(c, lane, f);
    else
        set_trial_point(c, path, lane, f);
}

/* Returns the length of the next step: 0.6 times the step at which the change of the Jacobian, or the contraction,
 * would reach its limit if it grew linearly with the step. */
static double next_step(const dyn_continuation_path *path, size_t lane, const lane_progress *f, double change)
{
    double factor = fmin(0.6 * MAX_CHANGE / fmax(change, 1e-3), 0.6 * MAX_CONTRACTION / fmax(f->contraction, 1e-3));
    return fmin(f->step * fmin(fmax(factor, 0.5), 2), MAX_STEP / path->length[lane]);
}

/* Applies a Newton correction to the trial point of a lane. If the corrections converge too slowly, halves the step
 * instead. */
static void correct_lane(dyn_closure_solver *c, const dyn_continuation_path *path, size_t lane, lane_progress *f)
{
    const double size = measure_correction(c, lane);
    if (f->corrections == 0)
        f->first = size;
    else if (f->last > ROUNDING)
        f->contraction = fmax(f->contraction, size / f->last);
    f->last = size;
    f->corrections++;
    if (size > MAX_CORRECTION || f->contraction > MAX_CONTRACTION || f->corrections > MAX_CORRECTIONS) {
        try_step(c, path, lane, 0.5 * f->step, f);
        return;
    }
    correct(c, lane);
    f->converged = size <= fmax(CONVERGED * f->first, ROUNDING) && f->corrections > 1;
}

/* Accepts the trial point if the Jacobian has changed little enough. Otherwise halves the step. */
static void accept_point(dyn_closure_solver *c, const dyn_continuation_path *path, size_t lane, double change,
                         lane_progress *f)
{
    f->converged = false;
    if (!(change <= MAX_CHANGE)) {
        try_step(c, path, lane, 0.5 * f->step, f);
        return;
    }
    if (f->step >= 1 - f->s) {
        c->reached[lane] = 1;
        f->running       = false;
        return;
    }
    f->next = next_step(path, lane, f, change);
    copy_lane(c, c->q, lane, c->accepted_q);
    f->s += f->step;
    f->last_step = f->step;
    f->accepted  = true;
}

/* Starts the next step of a lane at its accepted position, or ends its path if the Jacobian there (`factored` false)
 * has lost rank. */
static void continue_path(dyn_closure_solver *c, const dyn_continuation_path *path, size_t lane, bool factored,
                          lane_progress *f)
{
    f->accepted = false;
    if (factored && f->started) {
        try_step(c, path, lane, f->next, f);
    } else if (factored) {
        f->step = f->next;
        set_trial_point(c, path, lane, f);
    } else {
        stop(c, lane, f);
    }
    f->started = true;
}

/* Computes the pseudoinverse at the newly accepted points, and starts the next step of these lanes. */
static void start_steps(dyn_closure_solver *c, const dyn_continuation_path *path, lane_progress *f)
{
    bool wanted[DYN_MAX_LANES], any = false;
    for (size_t lane = 0; lane < c->live; lane++) {
        wanted[lane] = f[lane].accepted;
        any          = any || wanted[lane];
    }
    if (any) dyn_closure_refactorize(c, wanted);
    for (size_t lane = 0; lane < c->live; lane++)
        if (wanted[lane]) continue_path(c, path, lane, dyn_closure_is_factored(c, lane, MIN_PIVOT), &f[lane]);
}

/* --- start at the reference -------------------------------------------------------------------------------------- */

/* Computes the pseudoinverse at the model's reference, where all lanes are, unless it is known from an earlier call. */
static void find_reference(dyn_closure_solver *c, const dyn_scene *scene)
{
    const size_t bytes = c->loops->nq * sizeof *c->reference_q;
    if (c->has_reference && memcmp(c->reference_q, c->loops->reference, bytes) == 0) return;
    dyn_closure_evaluate(c, scene);
    dyn_closure_factorize(c, c->reference_inverse, c->reference_scale);
    memcpy(c->reference_q, c->loops->reference, bytes);
    c->reference_factored = dyn_closure_is_factored(c, 0, MIN_PIVOT);
    c->has_reference      = dyn_may_continue(c->deadline);
}

/* Starts the first step of all lanes with the pseudoinverse at the reference. */
static void start_at_reference(dyn_closure_solver *c, const dyn_continuation_path *path, lane_progress *f)
{
    memcpy(c->inverse, c->reference_inverse, c->layout.inverse_entries * c->W * sizeof *c->inverse);
    memcpy(c->scale, c->reference_scale, c->equations.unknowns * c->W * sizeof *c->scale);
    for (size_t lane = 0; lane < c->live; lane++)
        if (f[lane].running) continue_path(c, path, lane, c->reference_factored, &f[lane]);
    dyn_closure_pad(c, c->loops->nq, c->q);
    dyn_closure_pad(c, 12, c->goal);
}

/* --- the path ---------------------------------------------------------------------------------------------------- */

/* True if the lane is in the middle of a step, whose corrections have not converged. */
static bool is_correcting(const lane_progress *f)
{
    return f->running && !f->converged && !f->accepted;
}

/* Applies one correction to every lane in the middle of a step. */
static void correct_all(dyn_closure_solver *c, const dyn_continuation_path *path, lane_progress *f)
{
    for (size_t lane = 0; lane < c->live; lane++)
        if (is_correcting(&f[lane])) dyn_closure_find_error(c, lane);
    dyn_closure_apply(c, 1, c->error, 0, c->correction);
    for (size_t lane = 0; lane < c->live; lane++)
        if (is_correcting(&f[lane]) && dyn_may_continue(c->deadline)) correct_lane(c, path, lane, &f[lane]);
}

/* True if the corrections of a lane have converged at the end of its path. */
static bool is_at_end(const lane_progress *f)
{
    return f->converged && f->step >= 1 - f->s;
}

/* Ends the lanes whose corrections have converged at the end of their path, if the first bound |M| shows that the
 * Jacobian has changed little. Returns true if other lanes have converged points that are not yet judged. */
static bool arrive(dyn_closure_solver *c, const dyn_closure_changes *change, lane_progress *f)
{
    bool left = false;
    for (size_t lane = 0; lane < c->live; lane++) {
        if (is_at_end(&f[lane]) && change->first[lane] <= MAX_CHANGE) {
            c->reached[lane] = 1;
            f[lane].running = f[lane].converged = false;
        }
        left = left || f[lane].converged;
    }
    return left;
}

/* Accepts the trial points of all lanes whose corrections have converged, and starts their next steps. */
static void accept_all(dyn_closure_solver *c, const dyn_continuation_path *path, lane_progress *f)
{
    dyn_closure_changes change;
    bool                any = false, fourth = false;
    for (size_t lane = 0; lane < c->live; lane++) {
        any    = any || f[lane].converged;
        fourth = fourth || (f[lane].converged && !is_at_end(&f[lane]));
    }
    if (any) dyn_closure_find_change(c, fourth, &change);
    if (any && arrive(c, &change, f)) {
        if (!fourth) dyn_closure_find_change(c, true, &change);
        for (size_t lane = 0; lane < c->live; lane++)
            if (f[lane].converged) accept_point(c, path, lane, change.fourth[lane], &f[lane]);
    }
    start_steps(c, path, f);
}

/* Applies one correction to the lanes in the middle of a step. If there are none, all running lanes have converged, and
 * their points are accepted together. Returns false if all lanes are finished. */
static bool advance_paths(dyn_closure_solver *c, const dyn_scene *scene, const dyn_continuation_path *path,
                          lane_progress *f)
{
    bool running = false, correcting = false;
    for (size_t lane = 0; lane < c->live; lane++)
        correcting = correcting || is_correcting(&f[lane]);
    if (correcting) {
        dyn_closure_find_poses(c, scene);
        correct_all(c, path, f);
    } else {
        dyn_closure_evaluate(c, scene);
        accept_all(c, path, f);
    }
    for (size_t lane = 0; lane < c->live; lane++)
        running = running || f[lane].running;
    dyn_closure_pad(c, c->loops->nq, c->q);
    dyn_closure_pad(c, 12, c->goal);
    dyn_closure_pad(c, c->equations.rows, c->remaining);
    return running;
}

/* Begins the paths of all lanes. Returns true if any path has a length greater than zero. */
static bool begin_paths(dyn_closure_solver *c, const dyn_continuation_path *path, lane_progress *f)
{
    bool running = false;
    c->evaluated = false;
    memset(c->correction, 0, c->nv * c->W * sizeof *c->correction);
    for (size_t lane = 0; lane < c->live; lane++) {
        const bool moves = path->length[lane] > 0;
        f[lane]          = (lane_progress){.running = moves, .accepted = moves};
        f[lane].next     = fmin(1, MAX_STEP / path->length[lane]);
        running          = running || moves;
        copy_lane(c, c->q, lane, c->accepted_q);
        if (!moves) path->set_point(path->arg, c, lane, 1);
        c->reached[lane] = moves ? 0 : 1;
    }
    dyn_closure_pad(c, c->loops->nq, c->q);
    return running;
}

bool dyn_continuation_follow(dyn_closure_solver *c, const dyn_scene *scene, const dyn_continuation_path *path)
{
    lane_progress f[DYN_MAX_LANES];
    bool          arrived = true, awaited = true;
    if (path->at_reference) find_reference(c, scene);
    bool running = begin_paths(c, path, f);
    if (running && path->at_reference) start_at_reference(c, path, f);
    for (size_t k = 0; running && awaited && (path->most_evaluations == 0 || k < path->most_evaluations); k++) {
        running = advance_paths(c, scene, path, f);
        awaited = dyn_may_continue(c->deadline);
    }
    for (size_t lane = 0; lane < c->live; lane++) {
        c->stopped[lane] = f[lane].running && !awaited;
        if (f[lane].running) stop(c, lane, &f[lane]);
        arrived = arrived && c->reached[lane] == 1;
    }
    dyn_closure_pad(c, c->loops->nq, c->q);
    return arrived;
}

/* --- path of a guess ---------------------------------------------------------------------------------------------- */

/* Sets c->remaining to (1 - s) times the loop error at the start of the path. */
static void shrink_error(const void *arg, dyn_closure_solver *c, size_t lane, double s)
{
    const double *error = arg;
    for (size_t r = 0; r < c->equations.rows; r++)
        c->remaining[r * c->W + lane] = (1 - s) * error[r * c->W + lane];
}

dyn_continuation_path dyn_continuation_guess_path(dyn_closure_solver *c, const dyn_scene *scene)
{
    dyn_continuation_path path = {.set_point = shrink_error, .arg = c->guess_error};
    memset(c->remaining, 0, c->equations.rows * c->W * sizeof *c->remaining);
    dyn_closure_evaluate(c, scene);
    for (size_t lane = 0; lane < c->live; lane++) {
        path.length[lane] = dyn_closure_find_error(c, lane);
        for (size_t r = 0; r < c->equations.rows; r++)
            c->guess_error[r * c->W + lane] = c->remaining[r * c->W + lane] = c->error[r * c->W + lane];
    }
    return path;
}
