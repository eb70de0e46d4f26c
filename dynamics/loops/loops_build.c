/* loops_build.c - separates actuated from passive coordinates, and finds which joints move loops (loops_build.h). */
#include "dynamics/math/geometry.h"
#include "loops_build.h"
#include <math.h>
#include <string.h>

/* --- rows --------------------------------------------------------------------------------------------------------- */

/* Sets the unit of length for closing loops: the greatest distance between joints in the tree, or from a body to a
 * loop frame. */
static void measure(const dyn_model *tree, dyn_loops *loops)
{
    for (size_t i = 0; i < tree->n_bodies; i++)
        loops->length = fmax(loops->length, dyn_norm(tree->body[i].pose.p_pc));
    for (size_t k = 0; k < loops->n; k++)
        loops->length = fmax(loops->length, fmax(dyn_norm(loops->pair[k].a.X_bf.p), dyn_norm(loops->pair[k].b.X_bf.p)));
    if (!(loops->length > 0)) loops->length = 1;
}

static void put_rows(dyn_loops *loops)
{
    for (size_t k = 0; k < loops->n; k++) {
        dyn_loop_rows(&loops->loop[k], loops->length);
        loops->loop[k].first = loops->rows;
        loops->rows += loops->loop[k].rows;
        loops->has_universal = loops->has_universal || loops->loop[k].kind == DYN_LOOP_UNIVERSAL;
    }
}

/* --- coordinates -------------------------------------------------------------------------------------------------- */

/* Number of a body's own coordinates; a mimic joint has none. */
static size_t positions_of(const dyn_body *b)
{
    return b->joint.mimic ? 0 : (size_t)dyn_joint_nq(b->joint.kind);
}
static size_t velocities_of(const dyn_body *b)
{
    return b->joint.mimic ? 0 : (size_t)dyn_joint_nv(b->joint.kind);
}

/* The joint of a body; the base link has none. */
static dyn_loop_joint joint_of(const dyn_loop_joint *joint, const dyn_body *b)
{
    const dyn_loop_joint none = {0};
    return b->tree.link == DYN_WORLD ? none : joint[b->tree.link];
}

typedef struct sorting {
    int   *active, *passive, *place; /* [n] indices of the actuated, of the passive; among the actuated, or -1 */
    size_t n_active, n_passive;
} sorting;

static bool sort_open(sorting *s, dyn_memory memory, size_t n)
{
    *s         = (sorting){.active = dyn_take(memory, n * sizeof *s->active)};
    s->passive = dyn_take(memory, n * sizeof *s->passive);
    s->place   = dyn_take(memory, n * sizeof *s->place);
    return s->active && s->passive && s->place;
}

static void sort_in(sorting *s, int first, size_t count, bool passive)
{
    for (int i = first; i < first + (int)count; i++) {
        s->place[i] = passive ? -1 : (int)s->n_active;
        if (passive)
            s->passive[s->n_passive++] = i;
        else
            s->active[s->n_active++] = i;
    }
}

static bool sort_coordinates(dyn_memory memory, const dyn_model *tree, const dyn_loop_joint *joint, dyn_loops *loops)
{
    sorting q, v;
    if (!sort_open(&q, memory, loops->nq) || !sort_open(&v, memory, loops->nv)) return false;
    for (size_t i = 0; i < tree->n_bodies; i++) {
        const dyn_body *b       = &tree->body[i];
        const bool      passive = joint_of(joint, b).passive;
        sort_in(&q, b->joint.q, positions_of(b), passive);
        sort_in(&v, b->joint.v, velocities_of(b), passive);
    }
    loops->active_q = q.active, loops->passive_q = q.passive, loops->active_index_q = q.place;
    loops->active_v = v.active, loops->passive_v = v.passive, loops->active_index_v = v.place;
    loops->n_passive_q = q.n_passive, loops->n_passive = v.n_passive;
    return true;
}

/* Sets home to the joints' home, otherwise to zero and no rotation. */
static bool put_home(dyn_memory memory, const dyn_model *tree, const dyn_loop_joint *joint, dyn_loops *loops)
{
    bool    succeeded = true;
    double *home      = dyn_take_zeroed(memory, loops->nq, &succeeded);
    bool   *has_home  = dyn_take(memory, loops->nv * sizeof *has_home);
    size_t  first     = 0;
    if (!succeeded || !has_home) return false;
    memset(has_home, 0, loops->nv * sizeof *has_home);
    for (size_t i = 0; i < tree->n_bodies; i++) {
        const dyn_body *b     = &tree->body[i];
        const double   *wants = joint_of(joint, b).home;
        const size_t    n     = positions_of(b);
        /* a joint may consist of several bodies, of which `first` is the first index in q; a motor coordinate takes the
         * home of its joint */
        if (i > 0 && (b->joint.is_rotor || b->tree.link != tree->body[i - 1].tree.link)) first = (size_t)b->joint.q;
        if (n > 1) home[(size_t)b->joint.q + n - 1] = 1;
        if (n == 0 || !wants) continue;
        memcpy(home + b->joint.q, wants + ((size_t)b->joint.q - first), n * sizeof *home);
        memset(has_home + b->joint.v, true, velocities_of(b) * sizeof *has_home);
    }
    loops->home     = home;
    loops->has_home = has_home;
    return true;
}

/* --- motion in loops ---------------------------------------------------------------------------------------------- */

/* Marks the coordinates that move the frames a and b of some loop against each other: those of the bodies on the way
 * from a to b through the tree. Bodies are listed after their parents, and the world is the smallest index. */
static void mark_moving(const dyn_model *m, const dyn_loops *loops, bool *moves)
{
    for (size_t k = 0; k < loops->n; k++) {
        int a = loops->pair[k].a.body, b = loops->pair[k].b.body;
        while (a != b) {
            int            *farther = a > b ? &a : &b;
            const dyn_body *body    = &m->body[*farther];
            memset(moves + body->joint.v, true, (size_t)dyn_joint_nv(body->joint.kind) * sizeof *moves);
            *farther = body->tree.parent;
        }
    }
}

/* Computes loops->travel. A mimic joint moves `ratio` times as far as the coordinate that it follows. */
static void put_travel(const dyn_model *m, const dyn_loops *loops, const bool *moves, double *travel)
{
    for (size_t i = 0; i < m->n_bodies; i++) {
        const dyn_body *b = &m->body[i];
        size_t          n = (size_t)dyn_joint_nv(b->joint.kind);
        for (size_t k = 0; k < n; k++) {
            bool   slides = n == 1 ? b->joint.kind == DYN_PRISMATIC : n == 6 && k < 3;
            double by     = (n == 1 ? fabs(b->joint.ratio) : 1) / (slides ? loops->length : 1);
            size_t v      = (size_t)b->joint.v + k;
            if (moves[v]) travel[v] = fmax(travel[v], by);
        }
    }
}

/* Checks that a loop passes through every passive joint. Whether the loops determine the joint in every position is
 * found in evaluation. */
static bool check_passive(const dyn_model *m, const dyn_loops *loops, const bool *moves, size_t *where)
{
    for (size_t i = 0; i < m->n_bodies; i++) {
        const dyn_body *b = &m->body[i];
        if (velocities_of(b) == 0 || loops->active_index_v[b->joint.v] >= 0 || moves[b->joint.v]) continue;
        *where = i;
        return false;
    }
    return true;
}

/* --- loops -------------------------------------------------------------------------------------------------------- */

static bool check_frames(const dyn_loops *loops, size_t *where)
{
    for (size_t k = 0; k < loops->n; k++) {
        *where = k;
        if (loops->pair[k].a.body == loops->pair[k].b.body) return false;
    }
    return true;
}

dyn_loops_result dyn_loops_build(dyn_memory memory, const dyn_model *tree, const dyn_loop_joint *joint,
                                 dyn_loops *loops, size_t *where)
{
    size_t unwanted;
    bool   succeeded = true;
    if (!where) where = &unwanted;
    loops->nq = (size_t)tree->nq;
    loops->nv = (size_t)tree->nv;
    if (!check_frames(loops, where)) return DYN_LOOPS_ONE_BODY;
    measure(tree, loops);
    put_rows(loops);
    double *travel   = dyn_take_zeroed(memory, loops->nv, &succeeded);
    bool   *moves    = dyn_take(memory, loops->nv * sizeof *moves);
    loops->travel    = travel;
    loops->reference = dyn_take_zeroed(memory, loops->nq, &succeeded);
    if (!succeeded || !moves || !put_home(memory, tree, joint, loops) || !sort_coordinates(memory, tree, joint, loops))
        return DYN_LOOPS_NO_MEMORY;
    if (loops->n_passive == 0) return DYN_LOOPS_ALL_ACTUATED;
    if (loops->n_passive == loops->nv) return DYN_LOOPS_ALL_PASSIVE;
    memset(moves, 0, loops->nv * sizeof *moves);
    mark_moving(tree, loops, moves);
    put_travel(tree, loops, moves, travel);
    return check_passive(tree, loops, moves, where) ? DYN_LOOPS_BUILT : DYN_LOOPS_UNDETERMINED;
}
