/* trial.c - makes random robots with states and wrenches (trial.h). */
#include "trial.h"
#include "check.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

const dyn_link_place *trial_last_link(const trial *t)
{
    const dyn_model *m = t->model;
    return m->n_links > 0 ? &m->link[m->n_links - 1] : &m->base;
}

double *trial_array(const trial *t, size_t entries)
{
    double *a = calloc(t->rows * entries + 1, sizeof *a);
    assert_non_null(a);
    return a;
}

static double *random_rows(const trial *t, random_source *source, double size)
{
    double *a = trial_array(t, t->nv);
    random_vector(source, t->rows * t->nv, size, a);
    return a;
}

/* Places wrenches on any links, including fixed ones and the base link. Half the robots have none in world axes, since
 * such a wrench disables the faster code of some kernels. */
static void place_wrenches(trial *t, random_source *source, size_t n)
{
    const bool       world_axes = random_chance(source, 0.5);
    dyn_wrench_site *site       = calloc(n + 1, sizeof *site);
    t->wrench_link              = calloc(n + 1, sizeof *t->wrench_link);
    assert_non_null(site);
    assert_non_null(t->wrench_link);
    for (size_t i = 0; i < n; i++) {
        int                   link  = (int)random_below(source, t->model->n_links + 1) - 1;
        const dyn_link_place *place = link < 0 ? &t->model->base : &t->model->link[link];
        site[i]                     = (dyn_wrench_site){.body       = place->body,
                                                        .X_bl       = place->X_bl,
                                                        .world_axes = random_chance(source, 0.5) && world_axes,
                                                        .has_axes   = random_chance(source, 0.3)};
        random_rotation(source, site[i].axes);
        t->wrench_link[i] = link;
    }
    t->scene.n_wrenches = n;
    t->site             = site;
    t->scene.wrench     = site;
    t->wrenches         = trial_array(t, 9 * n);
    random_vector(source, t->rows * 9 * n, 3, t->wrenches);
    t->wrench_rates = trial_array(t, 6 * n);
    random_vector(source, t->rows * 6 * n, 5, t->wrench_rates);
}

trial trial_of(uint64_t seed, random_tree tree, size_t rows, size_t n_wrenches)
{
    trial         t      = {.seed = seed, .tree = tree, .rows = rows};
    random_source source = {.state = ~seed};
    int           where  = 0;
    if (dyn_model_build(&t.tree.description, &t.model, &where) != DYN_OK)
        fail_msg("seed %llu: no model, link %d", (unsigned long long)seed, where);
    t.nq     = reference_nq(&t.tree.description);
    t.nv     = reference_nv(&t.tree.description);
    t.bodies = reference_bodies(&t.tree.description);
    assert_int_equal(t.model->nq, t.nq);
    assert_int_equal(t.model->nv, t.nv);
    assert_int_equal(t.model->n_rows, t.bodies);
    t.scene = (dyn_scene){.model = t.model, .terms = DYN_ALL_TERMS};
    memcpy(t.scene.gravity, t.tree.description.gravity, sizeof t.scene.gravity);
    t.q = trial_array(&t, t.nq);
    for (size_t r = 0; r < rows; r++)
        random_position(&source, &t.tree.description, t.q + r * t.nq);
    t.qd   = random_rows(&t, &source, 1.5);
    t.qdd  = random_rows(&t, &source, 3);
    t.qddd = random_rows(&t, &source, 5);
    t.tau  = random_rows(&t, &source, 20);
    place_wrenches(&t, &source, n_wrenches);
    return t;
}

trial trial_make(uint64_t seed, size_t rows)
{
    random_source source   = {.state = seed ^ 0x5bd1e995u};
    bool          floating = seed % 3 == 0;
    size_t        least = floating ? 6 : 1, dof = least + random_below(&source, random_chance(&source, 0.3) ? 35 : 9);
    if (seed % 7 == 4)
        return trial_of(seed, random_chain_make(seed, dof, false, TREE_PLAIN), rows, seed % (TRIAL_WRENCHES + 1));
    if (seed % 7 == 5)
        return trial_of(seed, random_tree_make(seed, dof, floating, TREE_PLAIN), rows, seed % (TRIAL_WRENCHES + 1));
    return trial_of(seed, random_tree_make(seed, dof, floating, TREE_ALL), rows, seed % (TRIAL_WRENCHES + 1));
}

/* Gives most joints and motors load coefficients, some with a smoothed sign of the velocity (coulomb_velocity). */
static void add_loads(random_tree *tree)
{
    for (size_t i = 0; i < tree->description.n_links; i++) {
        dyn_link *l = &tree->links[i];
        if (l->joint == DYN_FIXED || l->mimic || dyn_joint_nv(l->joint) != 1) continue;
        if (!l->elastic && i % 5 != 3) l->friction.load = 0.1 * (double)(1 + i % 6);
        if (l->motor.present && i % 4 != 1) l->motor.friction.load = 0.05 * (double)(1 + i % 7);
        if (i % 3 == 0) l->friction.coulomb_velocity = 0.3 + 0.05 * (double)(i % 5);
        if (i % 4 == 0) l->motor.friction.coulomb_velocity = 0.2 + 0.04 * (double)(i % 7);
    }
}

trial trial_make_loaded(uint64_t seed, size_t rows)
{
    random_source source   = {.state = seed * 7};
    bool          floating = seed % 3 == 0;
    size_t        dof      = (floating ? 6 : 1) + random_below(&source, seed % 5 == 0 ? 30 : 9);
    random_tree   tree     = random_tree_make(seed, dof, floating, TREE_ALL);
    add_loads(&tree);
    return trial_of(seed, tree, rows, seed % (TRIAL_WRENCHES + 1));
}

trial trial_make_plain(uint64_t seed, unsigned features)
{
    random_source source   = {.state = seed * 3};
    bool          floating = seed % 2 == 0;
    size_t        dof      = (floating ? 6 : 1) + random_below(&source, random_chance(&source, 0.2) ? 30 : 9);
    return trial_of(seed, random_tree_make(seed, dof, floating, features), 1, 0);
}

trial trial_point_mass_arm(size_t rows)
{
    const dyn_pose here = {.R = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    random_tree    tree = {.description = {.n_links = 2}, .links = calloc(2, sizeof *tree.links)};
    assert_non_null(tree.links);
    for (int i = 0; i < 2; i++)
        tree.links[i] = (dyn_link){
            .parent = i - 1, .joint = DYN_REVOLUTE, .before = here, .after = here, .axis = {0, 0, 1}, .ratio = 1};
    tree.links[1].before.p[0] = 1;
    tree.links[1].inertia     = (dyn_inertia){.mass = 1, .com = {1, 0, 0}};
    tree.description.links    = tree.links;
    trial t                   = trial_of(1, tree, rows, 0);
    for (size_t r = 0; r < rows; r++)
        t.q[2 * r + 1] = r % 2 ? 0 : M_PI_2;
    return t;
}

trial trial_redundant_arm(uint64_t seed, size_t rows)
{
    enum { JOINTS = 7 };
    random_source  source = {.state = seed};
    random_tree    tree   = {.description = {.n_links = JOINTS}, .links = calloc(JOINTS, sizeof *tree.links)};
    const dyn_pose here   = {.R = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    assert_non_null(tree.links);
    for (int i = 0; i < JOINTS; i++) {
        dyn_link *l = &tree.links[i];
        *l          = (dyn_link){.parent = i - 1, .joint = DYN_REVOLUTE, .after = here, .ratio = 1};
        if (seed % 3 == 0 && i % 3 == 2) l->joint = DYN_PRISMATIC;
        random_pose(&source, &l->before);
        random_unit(&source, l->axis);
    }
    random_inertia(&source, &tree.links[JOINTS - 1].inertia);
    tree.description.links = tree.links;
    return trial_of(seed, tree, rows, 0);
}

void trial_free(trial *t)
{
    random_tree_free(&t->tree);
    dyn_model_free(t->model);
    free(t->site);
    free(t->wrench_link);
    free(t->q), free(t->qd), free(t->qdd), free(t->qddd), free(t->tau), free(t->wrenches), free(t->wrench_rates);
    *t = (trial){0};
}

void trial_robots(uint64_t robots, size_t rows, trial_check *check)
{
    for (uint64_t seed = 1; seed <= robots; seed++) {
        trial t = trial_make(seed, rows);
        check(&t);
        trial_free(&t);
    }
}

void trial_terms(size_t rows, trial_check *check)
{
    for (uint64_t seed = 1; seed <= 20; seed++)
        for (unsigned terms = 0; terms < 4; terms++) {
            trial t       = trial_make(seed, rows);
            t.scene.terms = terms;
            check(&t);
            trial_free(&t);
        }
}

void trial_longest(trial_check *check)
{
    for (int floating = 0; floating < 2; floating++) {
        trial t = trial_of(512, random_chain_make(512, DYN_MAX_DOF, floating, TREE_ALL), 1, 0);
        for (size_t i = 0; i < t.nv; i++)
            t.qd[i] *= 0.01;
        check(&t);
        trial_free(&t);
    }
}

/* Rotates a force or torque from the axes in which it is given into link axes or world axes. */
static void turn_vector(const dyn_wrench_site *site, const double v[3], double x[3])
{
    memcpy(x, v, 3 * sizeof *x);
    for (int i = 0; site->has_axes && i < 3; i++)
        x[i] = site->axes[i][0] * v[0] + site->axes[i][1] * v[1] + site->axes[i][2] * v[2];
}

reference_scene trial_reference_scene(const trial *t, size_t row, reference_wrench *wrench)
{
    reference_scene scene = {.friction   = t->scene.terms & DYN_FRICTION,
                             .springs    = t->scene.terms & DYN_SPRINGS,
                             .n_wrenches = t->scene.n_wrenches,
                             .wrench     = wrench};
    memcpy(scene.gravity, t->scene.gravity, sizeof scene.gravity);
    for (size_t i = 0; i < scene.n_wrenches; i++) {
        const double *w = t->wrenches + (row * scene.n_wrenches + i) * 9;
        wrench[i]       = (reference_wrench){.link = t->wrench_link[i], .world_axes = t->scene.wrench[i].world_axes};
        turn_vector(&t->scene.wrench[i], w, wrench[i].force);
        turn_vector(&t->scene.wrench[i], w + 3, wrench[i].torque);
        memcpy(wrench[i].point, w + 6, sizeof wrench[i].point);
    }
    return scene;
}

reference *trial_reference(const trial *t, size_t row)
{
    return reference_at(&t->tree.description, (reference_state){.q    = t->q + row * t->nq,
                                                                .qd   = t->qd + row * t->nv,
                                                                .qdd  = t->qdd + row * t->nv,
                                                                .qddd = t->qddd + row * t->nv});
}

double trial_leverage(const trial *t, const reference *r, const reference_scene *scene, const double *tau,
                      const double *qdd)
{
    size_t  n = t->nv;
    double *M = calloc(n * n, sizeof *M), *inverse = calloc(n * n, sizeof *M), *bias = calloc(n, sizeof *bias);
    assert_true(M && inverse && bias);
    reference_mass_matrix(r, M);
    assert_true(reference_inverse_mass_matrix(r, inverse));
    reference_bias(r, scene, (reference_bias_parts){.bias = bias});
    double forces = largest_row_sum(M, n) * largest(n, qdd) + largest(n, tau) + largest(n, bias);
    double size   = largest_row_sum(inverse, n) * forces;
    free(M), free(inverse), free(bias);
    return size;
}

trial_directions trial_directions_make(const trial *t)
{
    const double *const vectors[TRIAL_PARTS] = {t->qddd, t->tau, t->qdd};
    trial_directions    d;
    for (int part = 0; part < TRIAL_PARTS; part++) {
        d.part[part] = trial_array(t, TRIAL_DIRECTIONS * t->nv);
        for (int i = 0; i < TRIAL_DIRECTIONS; i++)
            memcpy(d.part[part] + (size_t)i * t->nv, vectors[(part + i) % TRIAL_PARTS], t->nv * sizeof(double));
    }
    return d;
}

void trial_directions_free(trial_directions *d)
{
    for (int part = 0; part < TRIAL_PARTS; part++)
        free(d->part[part]);
}
