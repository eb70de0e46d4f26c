/* ground_reaction.c - computes the reaction of the ground (ground_reaction.h). The _work functions of LAPACKE use
 * memory of the caller.
 */
#include "ground_reaction.h"
#include "dynamics/math/geometry.h"
#include <lapacke.h>
#include <math.h>
#include <string.h>

/* Smallest reciprocal condition number of the base's Jacobian; below it moments have no correct digit. */
#define NEGLIGIBLE 1e-9

/* Smallest normal force that has a zero-moment point, relative to the sum of the robot's weight and the resultant
 * force. */
#define NO_FORCE 1e-9

/* --- base --------------------------------------------------------------------------------------------------------- */

/* True if the first six bodies are a chain from the world with one coordinate each, three of them prismatic. */
static bool global_joints(const dyn_model *m)
{
    int sliding = 0;
    if (m->n_bodies < DYN_BASE_DOF) return false;
    for (int i = 0; i < DYN_BASE_DOF; i++) {
        const dyn_body *b = &m->body[i];
        if (b->tree.parent != i - 1 || b->joint.mimic) return false; /* the parent of the first body is DYN_WORLD, -1 */
        sliding += b->joint.kind == DYN_PRISMATIC;
    }
    return sliding == 3;
}

bool dyn_ground_find_base(const dyn_model *tree, dyn_frame *base)
{
    const int body = tree->floating ? 0 : DYN_BASE_DOF - 1;
    if (!tree->floating && !global_joints(tree)) return false;
    *base = (dyn_frame){.body = body, .X_bf = tree->body[body].pose.X_bl};
    return true;
}

bool dyn_ground_moves_with_base(const dyn_model *tree, int body, int base)
{
    while (body > base)
        body = tree->body[body].tree.parent;
    return body == base;
}

const dyn_loop *dyn_ground_loop_to_world(const dyn_mechanism *mechanism, int base)
{
    const dyn_loops *l = mechanism->loops;
    for (size_t k = 0; l && k < l->n; k++)
        if (!dyn_ground_moves_with_base(mechanism->tree, l->pair[k].a.body, base) ||
            !dyn_ground_moves_with_base(mechanism->tree, l->pair[k].b.body, base))
            return &l->loop[k];
    return NULL;
}

/* --- reaction ----------------------------------------------------------------------------------------------------- */

/* Adds factor * a x b to `out`. */
static void add_cross(double out[3], double factor, const double a[3], const double b[3])
{
    out[0] += factor * (a[1] * b[2] - a[2] * b[1]);
    out[1] += factor * (a[2] * b[0] - a[0] * b[2]);
    out[2] += factor * (a[0] * b[1] - a[1] * b[0]);
}

/* Writes the wrench with its moment taken about another point; `arm` leads from that point to the old one. */
static void shift(const double wrench[6], const double arm[3], double out[6])
{
    memcpy(out, wrench, 6 * sizeof *out);
    add_cross(out + 3, 1, arm, wrench);
}

static void difference(const double a[3], const double b[3], double out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = a[i] - b[i];
}

static bool finite_all(const double *a, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(a[i])) return false;
    return true;
}

/* --- reaction ----------------------------------------------------------------------------------------------------- */

/* Factors the Jacobian of the base, J_b = P L U. Returns false if J_b is singular. */
static bool factor(dyn_ground_state *s)
{
    enum { N = DYN_BASE_DOF };
    double     work[4 * N], norm, condition = 0;
    lapack_int index[N];
    norm = LAPACKE_dlange_work(LAPACK_COL_MAJOR, '1', N, N, s->jacobian, N, work);
    return LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, N, N, s->jacobian, N, s->pivot) == 0 &&
           LAPACKE_dgecon_work(LAPACK_COL_MAJOR, '1', N, s->jacobian, N, norm, &condition, work, index) == 0 &&
           condition > NEGLIGIBLE;
}

/* Finds the zero-moment point z = p + n x N_p / (n.F), with p and n of the ground plane, F the resultant force and N_p
 * its moment about p. Returns false if the normal force is zero or pulls. */
static bool find_zero_moment(dyn_ground_state *s)
{
    const dyn_ground *g      = s->ground;
    double            normal = dyn_dot(g->normal, s->resultant), at_point[6], arm[3];
    if (!(normal > NO_FORCE * (g->weight + sqrt(dyn_dot(s->resultant, s->resultant))))) return false;
    difference((double[3]){0}, g->point, arm);
    shift(s->resultant, arm, at_point);
    memcpy(s->zero_moment, g->point, sizeof s->zero_moment);
    add_cross(s->zero_moment, 1 / normal, g->normal, at_point + 3);
    return true;
}

static bool find_shares(dyn_ground_state *s)
{
    s->share[0] = 1;
    for (size_t k = 0; k < s->ground->n_contacts; k++) {
        double arm[3];
        difference(s->zero_moment, s->contact[k], arm);
        s->distance[k] = sqrt(dyn_dot(arm, arm));
    }
    if (s->ground->n_contacts == 1) return true;
    if (s->support != DYN_BOTH_FEET) { /* one foot is lifted */
        s->share[0] = s->support == DYN_FIRST_FOOT;
        s->share[1] = s->support == DYN_SECOND_FOOT;
        return true;
    }
    double sum = s->distance[0] + s->distance[1];
    if (!(sum > 0)) return false;
    s->share[0] = s->distance[1] / sum;
    s->share[1] = s->distance[0] / sum;
    return true;
}

dyn_ground_status dyn_ground_solve(dyn_ground_state *s)
{
    if (!finite_all(s->effort, DYN_BASE_DOF) || !finite_all(s->jacobian, DYN_BASE_DOF * DYN_BASE_DOF) ||
        !finite_all(s->contact[0], 3 * s->ground->n_contacts))
        return DYN_GROUND_NOT_FINITE;
    if (!factor(s)) return DYN_GROUND_BASE_SINGULAR;
    double bearing[6], arm[3];
    memcpy(bearing, s->effort, sizeof bearing);
    dyn_ground_solve_base(s, bearing, 1);
    shift(bearing, s->base, s->resultant);
    if (!finite_all(s->resultant, 6)) return DYN_GROUND_NOT_FINITE;
    if (!find_zero_moment(s)) return DYN_GROUND_NO_POINT;
    if (!find_shares(s)) return DYN_GROUND_NO_SHARES;
    for (size_t k = 0; k < s->ground->n_contacts; k++) {
        difference(s->base, s->contact[k], arm);
        shift(bearing, arm, s->about[k]);
        for (int i = 0; i < 6; i++)
            s->wrench[k][i] = s->share[k] * s->about[k][i];
    }
    return DYN_GROUND_DONE;
}

/* --- derivatives -------------------------------------------------------------------------------------------------- */

void dyn_ground_solve_base(dyn_ground_state *s, double *columns, size_t n)
{
    enum { N = DYN_BASE_DOF };
    LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, 'T', N, (lapack_int)n, s->jacobian, N, s->pivot, columns, N);
}

/* Differentiates the resultant W = [F; N]. With contact wrenches W_k = [F_k; N_k] acting on the feet, the base's
 * efforts are J_b^T (W - sum W_k) = 0, moments about b. The parenthesis is zero, so with constant F_k and N_k only its
 * own derivative counts, which is `column`. With the foot k at r_k, W_k about b changes by (dr_k - db) x F_k. About the
 * world's origin N is N_b + b x F, so that the terms with db cancel: dF = column_F and
 * dN = column_N + b x dF + sum dr_k x F_k. */
static void differentiate_resultant(const dyn_ground_state *s, const double column[6], dyn_ground_rate *rate)
{
    shift(column, s->base, rate->resultant);
    for (size_t k = 0; k < s->ground->n_contacts; k++)
        add_cross(rate->resultant + 3, 1, rate->contact[k], s->wrench[k]);
}

/* Differentiates the zero-moment point z: dz = (n x dN_p - (z - p) (n.dF)) / (n.F) */
static void differentiate_zero_moment(const dyn_ground_state *s, dyn_ground_rate *rate)
{
    const dyn_ground *g      = s->ground;
    double            normal = dyn_dot(g->normal, s->resultant), changes = dyn_dot(g->normal, rate->resultant);
    double            at_point[6], arm[3];
    difference((double[3]){0}, g->point, arm);
    shift(rate->resultant, arm, at_point);
    for (int i = 0; i < 3; i++)
        rate->zero_moment[i] = -(s->zero_moment[i] - g->point[i]) * changes / normal;
    add_cross(rate->zero_moment, 1 / normal, g->normal, at_point + 3);
}

/* Differentiates the feet's shares w_k of the resultant, with d_k the distance of the zero-moment point z from foot
 * r_k: dw_1 = (dd_2 d_1 - d_2 dd_1) / (d_1 + d_2)^2 = -dw_2, dd_k = (z - r_k).(dz - dr_k) / d_k */
static void differentiate_shares(const dyn_ground_state *s, const dyn_ground_rate *rate, double share[DYN_FEET])
{
    double changes[DYN_FEET] = {0}, sum = s->distance[0] + s->distance[1];
    share[0] = share[1] = 0;
    if (s->ground->n_contacts == 1 || s->support != DYN_BOTH_FEET) return;
    for (size_t k = 0; k < DYN_FEET; k++) {
        double arm[3], moves[3];
        difference(s->zero_moment, s->contact[k], arm);
        difference(rate->zero_moment, rate->contact[k], moves);
        changes[k] = dyn_dot(arm, moves) / s->distance[k];
    }
    share[0] = (changes[1] * s->share[1] - changes[0] * s->share[0]) / sum;
    share[1] = -share[0];
}

void dyn_ground_differentiate(const dyn_ground_state *s, const double column[6], dyn_ground_rate *rate)
{
    double share[DYN_FEET], about[6], back[3];
    differentiate_resultant(s, column, rate);
    differentiate_zero_moment(s, rate);
    differentiate_shares(s, rate, share);
    for (size_t k = 0; k < s->ground->n_contacts; k++) { /* moment of the resultant about foot k: N_k = N - r_k x F */
        difference((double[3]){0}, s->contact[k], back);
        shift(rate->resultant, back, about);
        add_cross(about + 3, -1, rate->contact[k], s->resultant);
        for (int i = 0; i < 6; i++)
            rate->wrench[k][i] = share[k] * s->about[k][i] + s->share[k] * about[i];
    }
}
