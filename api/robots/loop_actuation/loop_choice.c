/* loop_choice.c - choose which joints of the loops are coordinates of the mechanism (loop_choice.h).
 *
 * The joints between the bodies of a loop are passive unless an actuator drives them. This choice suffices if the loops
 * determine the passive joints: their columns of the Jacobian of the loops at the reference position are independent,
 * and as many as its rank. Else, as in legs with springs and grippers with several drives, passive joints are chosen
 * anew by a pivoted Gram-Schmidt process: first joints without actuator and spring, then those with a spring, last
 * driven ones. The joints that are left are the coordinates of the mechanism. A loop holds points and turns in units of
 * different size, so columns are compared with their own lengths alone. */
#include "loop_choice.h"
#include "loop_jacobian.h"
#include <math.h>

/* Displacement of joints from the reference position, rad or m, at which the rank is computed again. The loops are then
 * open by about STEP^2, so the threshold for independent columns is higher there. */
#define STEP 1e-3
static const double independent_beside = 1e-5;

/* Kinds of joints, in the order in which they are made passive. */
typedef enum tier { SEVERAL, PLAIN, SPRING, DRIVEN, TIERS } tier;

static tier tier_of(const api_loop_tree *t, const api_loop_joint *joint)
{
    if (joint->driven && !t->guesses) return DRIVEN;
    if (joint->motion == API_LOOP_BALL || joint->motion == API_LOOP_FREE) return SEVERAL;
    return joint->has_spring ? SPRING : PLAIN;
}

/* Adds all columns of a ball or free joint to the basis. False: they are dependent. */
static bool extend_by_several(api_loop_jacobian *J, api_loop_column *c)
{
    bool all = true;
    for (size_t k = 0; k < c->n; k++)
        all &= api_loop_column_extend(J, c->v + k * J->rows, api_loop_column_norm(J, c->v + k * J->rows));
    return all;
}

/* Projects a column onto the complement of the basis, in place. Returns the part of its length that is left, or 0 if
 * the column is no candidate of the tier. */
static double share_left(const api_loop_jacobian *J, api_loop_column *c, tier which)
{
    return c->chosen || c->tier != (int)which || c->n > 1 || c->norm == 0 ? 0
                                                                          : api_loop_column_reduce(J, c->v) / c->norm;
}

/* Chooses columns of one tier until none is independent of the basis. Among the columns that keep at least half of the
 * largest remaining share, the last one is chosen: the first joints of the file stay coordinates, and the others follow
 * from them with a good condition. */
static void choose_tier(api_loop_jacobian *J, tier which)
{
    for (;;) {
        api_loop_column *best = NULL;
        double           most = 0;
        for (size_t i = 0; i < J->n; i++)
            most = fmax(most, share_left(J, &J->column[i], which));
        for (size_t i = J->n; most > J->tolerance && !best && i-- > 0;)
            if (share_left(J, &J->column[i], which) > most / 2) best = &J->column[i];
        if (!best || !api_loop_column_extend(J, best->v, best->norm)) return;
        best->chosen          = true;
        J->order[J->rank - 1] = (size_t)(best - J->column);
    }
}

/* --- a position beside the reference ------------------------------------------------------------------------------ */

/* Displacement of a joint, in the frame of the body that it moves. */
static dyn_pose displacement(const api_loop_joint *joint, double step)
{
    const double  *p = joint->pos, *a = joint->axis;
    const double   slid  = joint->motion == API_LOOP_SLIDES   ? step
                           : joint->motion == API_LOOP_SCREWS ? step * joint->pitch
                                                              : 0;
    const dyn_pose forth = dyn_pose_translation(p[0] + slid * a[0], p[1] + slid * a[1], p[2] + slid * a[2]),
                   turn  = dyn_pose_about(a, joint->motion == API_LOOP_SLIDES ? 0 : step),
                   back  = dyn_pose_translation(-p[0], -p[1], -p[2]);
    const dyn_pose X     = dyn_pose_compose(&forth, &turn);
    return dyn_pose_compose(&X, &back);
}

/* Moves all bodies by the displacements `step` of the joints, rad or m. */
static void displace_bodies(api_loop_tree *t, const double *step)
{
    for (size_t b = 0; b < t->n_bodies; b++) {
        api_loop_body *body = &t->bodies[b];
        dyn_pose       X = body->parent < 0 ? body->X_pb : dyn_pose_compose(&t->bodies[body->parent].X_wb, &body->X_pb);
        for (size_t i = body->first_joint; i < body->first_joint + body->n_joints; i++) {
            const dyn_pose moved = displacement(&t->joints[i], step[i]);
            X                    = dyn_pose_compose(&X, &moved);
        }
        body->X_wb = X;
    }
}

/* Sets the displacements of the chosen columns so that, to first order, the loops stay closed while the others are
 * displaced by `step`. `K` has the original columns of J, whose basis is made of the chosen ones in their order. */
static void keep_closed(const api_loop_jacobian *J, const api_loop_jacobian *K, double *step)
{
    for (size_t k = J->rank; k-- > J->n_free;) {
        const double *q   = J->basis + k * J->rows;
        double        sum = 0, pivot = 0;
        for (size_t i = 0; i < K->n; i++) {
            double dot = 0;
            for (size_t r = 0; r < J->rows; r++)
                dot += q[r] * K->column[i].v[r];
            if (i == J->order[k]) pivot = dot;
            sum += dot * step[i]; /* step is 0 for the chosen columns up to k */
        }
        step[J->order[k]] = -sum / pivot;
    }
}

/* Sets the displacements of all joints from those of the columns. */
static void spread_displacements(const api_loop_jacobian *J, const double *column_step, double *step)
{
    for (size_t i = 0; i < J->t->n_joints; i++) {
        double                factor;
        const api_loop_joint *joint = api_loop_leader_of(J->t, &J->t->joints[i], &factor);
        for (size_t c = 0; joint && c < J->n; c++)
            if (J->column[c].joint == joint) step[i] = factor * column_step[c];
    }
}

/* Sets *rank to the rank of the loop Jacobian at the displaced position. False with a problem. */
static bool find_rank_beside(const api_loop_jacobian *J, const double *step, size_t *rank)
{
    api_loop_tree    *t     = J->t;
    dyn_pose         *poses = api_arena_take(t->xml->base.arena, t->n_bodies, sizeof *poses);
    api_loop_jacobian K;
    if (!poses) return api_reader_no_memory(&t->xml->base);
    for (size_t b = 0; b < t->n_bodies; b++)
        poses[b] = t->bodies[b].X_wb;
    displace_bodies(t, step);
    const bool ok = api_loop_jacobian_open(t, &K);
    for (size_t b = 0; b < t->n_bodies; b++)
        t->bodies[b].X_wb = poses[b];
    if (!ok) return false;
    K.tolerance = independent_beside;
    for (size_t i = 0; i < K.n; i++)
        api_loop_column_extend(&K, K.column[i].v, K.column[i].norm);
    *rank = K.rank;
    return true;
}

/* Sets *regular to true if the loop Jacobian has the same rank at a displaced position. At a singular reference
 * position, such as a stretched linkage, the rank is smaller, and joints chosen there would be wrong at all other
 * positions. */
static bool check_regular(const api_loop_jacobian *J, bool *regular)
{
    api_arena *arena       = J->t->xml->base.arena;
    double    *column_step = api_arena_take(arena, J->n, sizeof *column_step),
           *step           = api_arena_take(arena, J->t->n_joints, sizeof *step);
    api_loop_jacobian K;
    size_t            rank = J->rank;
    *regular               = true;
    if (J->several) return true;
    if (!column_step || !step) return api_reader_no_memory(&J->t->xml->base);
    for (size_t i = 0; i < J->n; i++)
        column_step[i] = J->column[i].chosen ? 0 : STEP * (1 + (double)(i % 7) / 7);
    if (!api_loop_jacobian_open(J->t, &K)) return false;
    keep_closed(J, &K, column_step);
    spread_displacements(J, column_step, step);
    if (!find_rank_beside(J, step, &rank)) return false;
    *regular = rank <= J->rank;
    return true;
}

/* --- choice ------------------------------------------------------------------------------------------------------- */

static bool report_choice(api_loop_tree *t, const api_loop_joint *joint, const char *severity, const char *code,
                          const char *text)
{
    return api_xml_report(t->xml, joint->element, severity, code, "joint \"%.*s\" of the loops %s",
                          api_text_shown(joint->name), joint->name, text);
}

/* Makes the joints of the chosen columns passive and the others independent coordinates. */
static bool apply_choice(const api_loop_jacobian *J)
{
    bool ok = true;
    for (size_t i = 0; ok && i < J->n; i++) {
        api_loop_joint *joint  = J->column[i].joint;
        bool            chosen = J->column[i].chosen;
        if (J->t->words && chosen && joint->driven)
            ok = report_choice(J->t, joint, "warning", "not-held", J->t->words->follows);
        else if (J->t->words && !chosen && !joint->driven)
            ok = report_choice(J->t, joint, "info", "assumed", J->t->words->free);
        joint->in_loop = true;
        joint->driven  = !chosen;
    }
    return ok;
}

/* True if the passive joints follow from the driven ones: their columns are independent, and no driven joint adds to
 * the rank. */
static bool is_determined(api_loop_jacobian *J)
{
    bool determined = true;
    for (size_t i = 0; i < J->n; i++)
        if (!J->column[i].joint->driven) determined &= extend_by_several(J, &J->column[i]);
    const size_t rank = J->rank;
    for (size_t i = 0; i < J->n; i++)
        if (J->column[i].joint->driven) extend_by_several(J, &J->column[i]);
    return determined && J->rank == rank;
}

/* Sets the group number of all loops that a joint moves to the smallest of their numbers. True if one has changed. */
static bool join_groups(const bool *moves, size_t n_loops, size_t *group)
{
    size_t least   = n_loops;
    bool   changed = false;
    for (size_t l = 0; l < n_loops; l++)
        if (moves[l] && group[l] < least) least = group[l];
    for (size_t l = 0; l < n_loops; l++) {
        if (!moves[l] || group[l] == least) continue;
        group[l] = least;
        changed  = true;
    }
    return changed;
}

/* Sets group[l] to one number for all loops that have joints in common. */
static void group_loops(const api_loop_jacobian *J, const bool *moves, size_t *group)
{
    const size_t n = J->t->n_loops;
    for (size_t l = 0; l < n; l++)
        group[l] = l;
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < J->n; i++)
            changed |= join_groups(moves + i * n, n, group);
    }
}

/* Reports the joints of loops without a driven joint: they cannot move. */
static bool report_locked(api_loop_tree *t)
{
    api_loop_jacobian J;
    const size_t      n      = t->n_loops;
    size_t           *group  = api_arena_take(t->xml->base.arena, n, sizeof *group);
    bool             *driven = api_arena_take(t->xml->base.arena, n, sizeof *driven), *moves, ok = true;
    if (!group || !driven) return api_reader_no_memory(&t->xml->base);
    if (!api_loop_jacobian_open(t, &J)) return false;
    if (J.n == 0) return true;
    moves = api_loop_find_moves(&J);
    if (!moves) return api_reader_no_memory(&t->xml->base);
    group_loops(&J, moves, group);
    for (size_t i = 0; i < J.n; i++)
        for (size_t l = 0; J.column[i].joint->driven && l < n; l++)
            driven[group[l]] |= moves[i * n + l];
    for (size_t i = 0; ok && i < J.n; i++) {
        size_t l = 0;
        while (l < n && !moves[i * n + l])
            l++;
        if (l < n && !driven[group[l]])
            ok = report_choice(t, J.column[i].joint, "warning", "suspicious",
                               "cannot move: the loops leave it no freedom; axes that are parallel only up to rounding "
                               "may be the reason");
    }
    return ok;
}

/* Chooses the driven joints anew, unless those of the file determine the loops. */
static bool choose_drives(api_loop_tree *t)
{
    api_loop_jacobian J;
    bool              regular;
    if (!api_loop_jacobian_open(t, &J)) return false;
    if (J.n == 0 || is_determined(&J)) return true;
    if (!api_loop_jacobian_open(t, &J)) return false;
    for (size_t i = 0; i < J.n; i++)
        J.column[i].tier = (int)tier_of(t, J.column[i].joint);
    for (size_t i = 0; i < J.n; i++)
        if (J.column[i].tier == SEVERAL) {
            if (!extend_by_several(&J, &J.column[i])) t->undetermined = J.column[i].joint->name;
            J.column[i].chosen = true; /* a model in which the loops do not determine it is refused */
        }
    for (int which = PLAIN; which < TIERS; which++)
        choose_tier(&J, (tier)which);
    return check_regular(&J, &regular) && (!regular || apply_choice(&J));
}

bool api_loop_choose(api_loop_tree *t)
{
    return t->n_loops == 0 || (choose_drives(t) && report_locked(t));
}
