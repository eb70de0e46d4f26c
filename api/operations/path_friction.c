/* path_friction.c - see path_friction.h. */
#include "path_friction.h"
#include <string.h>

static bool has_coulomb(const dyn_body *body)
{
    const dyn_friction *f = &body->joint.friction;
    return body->joint.has_friction && (f->positive != 0 || f->negative != 0 || f->stribeck_velocity > 0);
}

static bool has_sharp_coulomb(const dyn_body *body)
{
    return has_coulomb(body) && !(body->joint.friction.coulomb_velocity > 0);
}

/* True if the friction is a constant for each direction of motion, and so a term of c. */
static bool is_constant(const dyn_body *body)
{
    return has_sharp_coulomb(body) && !(body->joint.friction.stribeck_velocity > 0);
}

/* Joint position per coordinate. */
static double ratio_of(const dyn_body *body)
{
    return body->joint.has_ratio ? body->joint.ratio : 1;
}

static bool has_friction(const api_query *q)
{
    return q->scene.terms & DYN_FRICTION;
}

void api_path_add_coulomb(const api_evaluation *e, const double *dq, double *c)
{
    const dyn_model *m = e->query->scene.model;
    const size_t     W = e->lanes;
    for (size_t i = 0; has_friction(e->query) && dq && i < m->n_bodies; i++) {
        const dyn_body     *b = &m->body[i];
        const dyn_friction *f = &b->joint.friction;
        const size_t        v = (size_t)b->joint.v;
        const double        r = ratio_of(b);
        for (size_t lane = 0; is_constant(b) && lane < W; lane++) {
            const double rate = r * dq[v * W + lane];
            c[v * W + lane] += rate > 0 ? r * f->positive : rate < 0 ? 0 - r * f->negative : 0;
        }
    }
}

void api_path_emit_smooth_friction(const api_query *q, api_emit *to)
{
    const dyn_model *m = q->model->dyn;
    api_emit_array(to);
    for (size_t i = 0; has_friction(q) && i < m->n_bodies; i++) {
        const dyn_body     *b       = &m->body[i];
        const dyn_friction *f       = &b->joint.friction;
        const bool          against = ratio_of(b) < 0;
        const double        r       = against ? 0 - ratio_of(b) : ratio_of(b);
        if (!has_coulomb(b) || is_constant(b)) continue;
        api_emit_object(to);
        api_emit_string_member(to, "joint", q->model->velocity_names[b->joint.v]);
        api_emit_number_member(to, "positive", r * (against ? f->negative : f->positive));
        api_emit_number_member(to, "negative", r * (against ? f->positive : f->negative));
        api_emit_number_member(to, "velocity", f->coulomb_velocity / r);
        if (f->stribeck_velocity > 0) {
            api_emit_number_member(to, "breakaway_positive",
                                   r * (against ? f->breakaway_negative : f->breakaway_positive));
            api_emit_number_member(to, "breakaway_negative",
                                   r * (against ? f->breakaway_positive : f->breakaway_negative));
            api_emit_number_member(to, "stribeck_velocity", f->stribeck_velocity / r);
        }
        api_emit_end(to);
    }
    api_emit_end(to);
}

/* Returns where the sign changes between this row and the next, as a fraction of the way to the next row; -1: nowhere.
 */
static double find_jump(double before, double here, double after)
{
    if (here == 0) return before != 0 || after != 0 ? 0 : -1;
    return (here < 0 && after > 0) || (here > 0 && after < 0) ? here / (here - after) : -1;
}

/* Fills the entry of one coordinate of `jumps` for one block. */
static void find_jumps_of(const api_evaluation *e, size_t block, size_t v, double *jumps)
{
    const size_t W = e->lanes, nv = e->model->nv, last = api_states(e->query) - 1;
    double      *dq = e->plan->state[API_QD];
    for (size_t lane = 0; lane < W; lane++) {
        const size_t row    = block * W + lane < last ? block * W + lane : last;
        const double here   = api_state_lane(e, dq, nv, row)[v * W];
        const double before = row > 0 ? api_state_lane(e, dq, nv, row - 1)[v * W] : here;
        const double after  = row < last ? api_state_lane(e, dq, nv, row + 1)[v * W] : here;
        jumps[v * W + lane] = find_jump(before, here, after);
    }
}

void api_path_find_jumps(const api_evaluation *e, size_t block, double *jumps)
{
    const dyn_model *m = e->query->scene.model;
    for (size_t i = 0; i < e->model->nv * e->lanes; i++)
        jumps[i] = -1;
    for (size_t i = 0; has_friction(e->query) && e->plan->state[API_QD] && i < m->n_bodies; i++)
        if (has_sharp_coulomb(&m->body[i])) find_jumps_of(e, block, (size_t)m->body[i].joint.v, jumps);
}

bool api_path_has_coulomb(const api_query *q)
{
    bool coulomb = false;
    for (size_t i = 0; has_friction(q) && i < q->scene.model->n_bodies; i++)
        coulomb |= has_coulomb(&q->scene.model->body[i]);
    return coulomb;
}

const char *api_path_coupled_coulomb(const api_query *q)
{
    const dyn_model *m = q->scene.model;
    for (size_t k = 0; has_friction(q) && k < m->n_drives; k++) {
        const dyn_friction *f = &m->drive[k].friction;
        if (f->positive != 0 || f->negative != 0 || f->stribeck_velocity > 0)
            return q->model->mover_names[dyn_drive_mover(m, k)];
    }
    return NULL;
}

bool api_path_is_damped(const api_query *q)
{
    const dyn_model *m      = q->scene.model;
    const unsigned   terms  = q->scene.terms;
    bool             damped = false;
    for (size_t i = 0; i < m->n_bodies; i++)
        damped |= (terms & DYN_FRICTION && m->body[i].joint.has_friction && m->body[i].joint.friction.viscous != 0) ||
                  (m->body[i].joint.has_spring && m->body[i].joint.spring.damping != 0);
    for (size_t i = 0; i < m->n_couplings; i++)
        damped |= m->coupling[i].spring.damping != 0;
    for (size_t k = 0; k < m->n_drives; k++)
        damped |= terms & DYN_FRICTION && m->drive[k].friction.viscous != 0;
    return damped;
}

const dyn_model *api_path_without_coulomb(const api_query *q)
{
    const dyn_model *m      = q->scene.model;
    dyn_model       *copy   = api_take(q->pool, sizeof *copy);
    dyn_body        *bodies = api_take(q->pool, m->n_bodies * sizeof *bodies);
    if (!copy || !bodies) return NULL;
    *copy      = *m;
    copy->body = bodies;
    memcpy(bodies, m->body, m->n_bodies * sizeof *bodies);
    for (size_t i = 0; i < m->n_bodies; i++)
        bodies[i].joint.friction = (dyn_friction){.viscous = m->body[i].joint.friction.viscous};
    return copy;
}
