/* loop_choice.c - choose which joints of the loops are actuated in the model: those that drive them.
 *
 * The joints between the bodies of a loop are passive unless an actuator drives them. This choice suffices if the loops
 * determine the passive joints: their columns of the Jacobian of the loops at the reference position are independent,
 * and as many as its rank. Else, as in legs with springs and grippers with several drives, passive joints are chosen
 * anew by a pivoted Gram-Schmidt process: first joints without actuator and spring, then those with a spring, last
 * driven ones. The joints that are left are the coordinates of the mechanism. A loop holds points and turns in units of
 * different size, so columns are compared with their own lengths alone. */
#include "loop_jacobian.h"
#include <math.h>

/* Displacement of joints beside the reference position, rad or m. The loops are then open by its square, so that a
 * column counts as independent only if the others leave it more. */
#define STEP 1e-3
static const double independent_beside = 1e-5;

/* Kinds of joints, in the order in which they are made passive. */
typedef enum tier { SEVERAL, PLAIN, SPRING, DRIVEN, TIERS } tier;

static tier tier_of(const api_mjcf *m, const api_mjcf_joint *joint)
{
    if (joint->driven) return DRIVEN;
    if (api_mjcf_has_several(joint)) return SEVERAL;
    return api_mjcf_has(m, &joint->item, "stiffness") || joint->has_springdamper ? SPRING : PLAIN;
}

/* Adds all columns of a ball or free joint to the basis. False: they are dependent. */
static bool extend_by_several(api_mjcf_jacobian *J, api_mjcf_column *c)
{
    bool all = true;
    for (size_t k = 0; k < c->n; k++)
        all &= api_mjcf_column_extend(J, c->v + k * J->rows, api_mjcf_column_length(c->v + k * J->rows, J->rows));
    return all;
}

/* Returns the part of a column's length that the basis leaves, and makes the column that rest; 0 if it is no candidate.
 */
static double share_left(const api_mjcf_jacobian *J, api_mjcf_column *c, tier which)
{
    return c->chosen || c->tier != (int)which || c->n > 1 || c->norm == 0 ? 0
                                                                          : api_mjcf_column_reduce(J, c->v) / c->norm;
}

/* Chooses columns of one tier: each time the last one of the file among those of which the basis leaves at least half
 * of the most, so that the first joints stay coordinates and the others follow from them well. */
static void choose_tier(api_mjcf_jacobian *J, tier which)
{
    for (;;) {
        api_mjcf_column *best = NULL;
        double           most = 0;
        for (size_t i = 0; i < J->n; i++)
            most = fmax(most, share_left(J, &J->column[i], which));
        for (size_t i = J->n; most > J->tolerance && !best && i-- > 0;)
            if (share_left(J, &J->column[i], which) > most / 2) best = &J->column[i];
        if (!best || !api_mjcf_column_extend(J, best->v, best->norm)) return;
        best->chosen          = true;
        J->order[J->rank - 1] = (size_t)(best - J->column);
    }
}

/* --- a position beside the reference ------------------------------------------------------------------------------ */

/* Moves all bodies by the displacements `step` of the joints, rad or m. */
static void displace_bodies(api_mjcf *m, const double *step)
{
    for (size_t b = 0; b < m->n_bodies; b++) {
        api_mjcf_body *body = &m->bodies[b];
        dyn_pose       X = body->parent < 0 ? body->X_pb : dyn_pose_compose(&m->bodies[body->parent].X_wb, &body->X_pb);
        for (size_t i = body->first_joint; i < body->first_joint + body->n_joints; i++) {
            const api_mjcf_joint *joint = &m->joints[i];
            const double         *p = joint->pos, *a = joint->axis;
            const dyn_pose        forth = dyn_pose_translation(p[0], p[1], p[2]),
                           back         = dyn_pose_translation(-p[0], -p[1], -p[2]);
            const dyn_pose turn         = dyn_pose_about(a, step[i]),
                           slide        = dyn_pose_translation(step[i] * a[0], step[i] * a[1], step[i] * a[2]);
            X                           = dyn_pose_compose(&X, &forth);
            X                           = dyn_pose_compose(&X, joint->type == API_MJCF_SLIDE ? &slide : &turn);
            X                           = dyn_pose_compose(&X, &back);
        }
        body->X_wb = X;
    }
}

/* Sets the displacements of the chosen columns so that, to first order, the loops stay closed while the others are
 * displaced by `step`. `K` has the original columns of J, whose basis is made of the chosen ones in their order. */
static void keep_closed(const api_mjcf_jacobian *J, const api_mjcf_jacobian *K, double *step)
{
    for (size_t k = J->rank; k-- > 0;) {
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
static void spread_displacements(const api_mjcf_jacobian *J, const double *column_step, double *step)
{
    for (size_t i = 0; i < J->m->n_joints; i++) {
        double                factor;
        const api_mjcf_joint *joint = api_mjcf_leader_of(J->m, &J->m->joints[i], &factor);
        for (size_t c = 0; joint && c < J->n; c++)
            if (J->column[c].joint == joint) step[i] = factor * column_step[c];
    }
}

/* Returns the rank of the loops beside the reference position. */
static bool find_rank_beside(const api_mjcf_jacobian *J, const double *step, size_t *rank)
{
    api_mjcf         *m     = J->m;
    dyn_pose         *poses = api_arena_take(m->xml.base.arena, m->n_bodies, sizeof *poses);
    api_mjcf_jacobian K;
    if (!poses) return api_reader_no_memory(&m->xml.base);
    for (size_t b = 0; b < m->n_bodies; b++)
        poses[b] = m->bodies[b].X_wb;
    displace_bodies(m, step);
    const bool ok = api_mjcf_jacobian_open(m, &K);
    for (size_t b = 0; b < m->n_bodies; b++)
        m->bodies[b].X_wb = poses[b];
    if (!ok) return false;
    K.tolerance = independent_beside;
    for (size_t i = 0; i < K.n; i++)
        api_mjcf_column_extend(&K, K.column[i].v, K.column[i].norm);
    *rank = K.rank;
    return true;
}

/* Sets *regular to whether the rank is the same beside the reference position. A linkage that is drawn stretched has a
 * smaller one there: a choice that counts on it would be wrong at all other positions. */
static bool check_regular(const api_mjcf_jacobian *J, bool *regular)
{
    api_arena *arena       = J->m->xml.base.arena;
    double    *column_step = api_arena_take(arena, J->n, sizeof *column_step),
           *step           = api_arena_take(arena, J->m->n_joints, sizeof *step);
    api_mjcf_jacobian K;
    size_t            rank = J->rank;
    *regular               = true;
    if (J->several) return true;
    if (!column_step || !step) return api_reader_no_memory(&J->m->xml.base);
    for (size_t i = 0; i < J->n; i++)
        column_step[i] = J->column[i].chosen ? 0 : STEP * (1 + (double)(i % 7) / 7);
    if (!api_mjcf_jacobian_open(J->m, &K)) return false;
    keep_closed(J, &K, column_step);
    spread_displacements(J, column_step, step);
    if (!find_rank_beside(J, step, &rank)) return false;
    *regular = rank <= J->rank;
    return true;
}

/* --- choice ------------------------------------------------------------------------------------------------------- */

static bool report_choice(api_mjcf *m, const api_mjcf_joint *joint, const char *severity, const char *code,
                          const char *text)
{
    return api_xml_report(&m->xml, joint->element, severity, code, "joint \"%.*s\" of the loops %s",
                          api_text_shown(joint->name), joint->name, text);
}

/* Makes the joints of the chosen columns passive and the others independent coordinates. */
static bool apply_choice(const api_mjcf_jacobian *J)
{
    bool ok = true;
    for (size_t i = 0; ok && i < J->n; i++) {
        api_mjcf_joint *joint = J->column[i].joint;
        if (J->column[i].chosen && joint->driven)
            ok = report_choice(J->m, joint, "warning", "not-held",
                               "has an actuator, but follows from the others: the model has no effort there");
        else if (!J->column[i].chosen && !joint->driven)
            ok = report_choice(
                J->m, joint, "info", "assumed",
                "has no actuator and does not follow from the others: it is a coordinate of its own, whose effort "
                "is 0 in MuJoCo");
        joint->passive = joint->driven = false;
        if (J->column[i].chosen)
            joint->passive = true;
        else
            joint->driven = true;
    }
    return ok;
}

/* True if the passive joints follow from the driven ones: their columns are independent, and no driven joint adds to
 * the rank. */
static bool is_determined(api_mjcf_jacobian *J)
{
    bool determined = true;
    for (size_t i = 0; i < J->n; i++)
        if (!J->column[i].joint->driven) determined &= extend_by_several(J, &J->column[i]);
    const size_t rank = J->rank;
    for (size_t i = 0; i < J->n; i++)
        if (J->column[i].joint->driven) extend_by_several(J, &J->column[i]);
    return determined && J->rank == rank;
}

/* If no actuator drives a joint of the loops, the first of these is the driven one. */
static bool drive_first(api_mjcf *m)
{
    api_mjcf_joint *first = NULL;
    for (size_t i = 0; i < m->n_joints; i++) {
        api_mjcf_joint *joint = &m->joints[i];
        bool            moves = joint->passive && joint->leader < 0 && !joint->locked;
        if (moves && joint->driven) return true;
        if (moves && !first) first = joint;
    }
    if (!first) return true;
    first->driven = true;
    return api_xml_report(&m->xml, first->element, "info", "assumed",
                          "no actuator drives a joint of the loops: joint \"%.*s\" is taken as the driven one",
                          api_text_shown(first->name), first->name);
}

bool api_mjcf_choose_driven(api_mjcf *m)
{
    api_mjcf_jacobian J;
    bool              regular;
    if (m->n_loops == 0) return true;
    if (!drive_first(m) || !api_mjcf_jacobian_open(m, &J)) return false;
    if (J.n == 0 || is_determined(&J)) return true;
    if (!api_mjcf_jacobian_open(m, &J)) return false;
    for (size_t i = 0; i < J.n; i++)
        J.column[i].tier = tier_of(m, J.column[i].joint);
    for (size_t i = 0; i < J.n; i++)
        if (J.column[i].tier == SEVERAL) {
            extend_by_several(&J, &J.column[i]);
            J.column[i].chosen = true; /* if the loops leave it a freedom, the model is refused by its name */
        }
    for (tier which = PLAIN; which < TIERS; which++)
        choose_tier(&J, which);
    return check_regular(&J, &regular) && (!regular || apply_choice(&J));
}
