/* test_book.c - compares every target's tau, joint wrenches, M and qdd of random robots with the algorithms as
 * Featherstone prints them. */
#include "book/book.h"
#include "tests/dynamics/support/check.h"
#include "tests/dynamics/support/rows.h"
#include "tests/dynamics/support/trial.h"
#include "tests/target.h"
#include <float.h>
#include <stdlib.h>

enum { ROBOTS = 240, ROWS = 3 };

/* Relative to the largest entry, like the comparisons with the reference in long double. */
#define TOLERANCE 2e-14
/* Relative to M and the forces; multiplied by the condition of the robot (trial_leverage). */
#define FORWARD_TOLERANCE (8 * DBL_EPSILON)

static book_tree *tree_of(const trial *t)
{
    book_tree *tree = book_make(&t->tree.description);
    assert_non_null(tree);
    assert_int_equal(tree->nv, t->nv);
    return tree;
}

/* Sets the external forces in the coordinates of body 0. X is that of the link's frame; in that frame f = [n + point x
 * f; f]. */
static void external_forces(const trial *t, book_tree *tree, size_t row, vec6 *fx)
{
    reference_wrench      wrench[TRIAL_WRENCHES];
    const reference_scene scene = trial_reference_scene(t, row, wrench);
    book_place(tree, t->q + row * t->nq, NULL);
    for (int i = 0; i <= tree->NB; i++)
        fx[i] = (vec6){{0}};
    for (size_t k = 0; k < scene.n_wrenches; k++) {
        const reference_wrench *w     = &wrench[k];
        const book_body        *b     = &tree->body[book_body_of(tree, w->link)];
        const mat6              after = transform6(&b->after), X = product6(&after, &b->X_0);
        vec6                    f = {{0}};
        double                  arm[3][3];
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                f.e[i] += (w->world_axes ? X.e[i][j] : i == j) * w->torque[j];
                f.e[3 + i] += (w->world_axes ? X.e[i][j] : i == j) * w->force[j];
            }
        skew3(w->point, arm);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                f.e[i] += arm[i][j] * f.e[3 + j];
        fx[book_body_of(tree, w->link)] = add6(fx[book_body_of(tree, w->link)], mul6_transposed(&X, f));
    }
}

static book_scene scene_of(const trial *t, const vec6 *fx)
{
    return (book_scene){.gravity  = t->scene.gravity,
                        .friction = t->scene.terms & DYN_FRICTION,
                        .springs  = t->scene.terms & DYN_SPRINGS,
                        .fx       = fx};
}

static vec6 *forces_for(const book_tree *tree)
{
    vec6 *fx = calloc((size_t)tree->NB + 1, sizeof *fx);
    assert_non_null(fx);
    return fx;
}

/* Returns the pose in the body of the frame that a joint wrench is given in: axes of the link, origin of the link or of
 * the joint frame on the parent's side, from which a slide moves the body. */
static dyn_pose wrench_frame(const book_body *b, bool about_parent_frame, const double *q)
{
    dyn_pose     frame = b->after;
    const double s     = b->type == DYN_PRISMATIC ? b->ratio * q[b->q] + b->offset : 0;
    for (int i = 0; about_parent_frame && i < 3; i++)
        frame.p[i] = -s * b->axis[i];
    return frame;
}

/* Writes the force f to `out` as [force; moment] in a frame: [R^T f; R^T (n - p x f)]. */
static void wrench_in_frame(const dyn_pose *frame, vec6 f, double out[6])
{
    double p[3][3], moment[3];
    skew3(frame->p, p);
    for (int i = 0; i < 3; i++) {
        moment[i] = f.e[i];
        for (int j = 0; j < 3; j++)
            moment[i] -= p[i][j] * f.e[3 + j];
    }
    for (int i = 0; i < 3; i++) {
        out[i] = out[3 + i] = 0;
        for (int j = 0; j < 3; j++) {
            out[i] += frame->R[j][i] * f.e[3 + j];
            out[3 + i] += frame->R[j][i] * moment[j];
        }
    }
}

static void joint_wrenches(const trial *t, const book_tree *tree, double *out)
{
    for (int link = t->tree.description.floating ? -1 : 0; link < (int)t->tree.description.n_links; link++) {
        const book_body *b = &tree->body[book_body_of(tree, link)];
        if (b->n == 0) continue;
        const dyn_pose frame = wrench_frame(b, link >= 0 && t->tree.links[link].moment_at_parent_frame, t->q);
        wrench_in_frame(&frame, b->f, out);
        out += 6;
    }
}

static void check_rnea(const trial *t)
{
    book_tree *tree = tree_of(t);
    vec6      *fx   = forces_for(tree);
    size_t     nv = t->rows * t->nv, nw = t->rows * t->bodies * 6;
    double    *tau = trial_array(t, t->nv), *expected_tau = trial_array(t, t->nv);
    double    *wrenches = trial_array(t, 6 * t->bodies), *expected_wrenches = trial_array(t, 6 * t->bodies);
    for (size_t r = 0; r < t->rows; r++) {
        external_forces(t, tree, r, fx);
        const book_scene scene = scene_of(t, fx);
        trial            row   = *t;
        row.q                  = t->q + r * t->nq;
        book_rnea(tree, &scene, row.q, t->qd + r * t->nv, t->qdd + r * t->nv, expected_tau + r * t->nv);
        joint_wrenches(&row, tree, expected_wrenches + r * 6 * t->bodies);
    }
    const dyn_kernels *k;
    for (size_t i = 0; (k = dyn_kernels_at(i)); i++) {
        rows_inverse_dynamics(k, &t->scene, t->rows,
                              (dyn_inverse_dynamics){.q              = t->q,
                                                     .qd             = t->qd,
                                                     .qdd            = t->qdd,
                                                     .wrenches       = t->wrenches,
                                                     .tau            = tau,
                                                     .joint_wrenches = wrenches});
        check_close(k->target, t->seed, nw, wrenches, expected_wrenches, TOLERANCE);
        check_close_scaled(k->target, t->seed, nv, tau, expected_tau, TOLERANCE, largest(nw, expected_wrenches));
    }
    free(fx), free(tau), free(expected_tau), free(wrenches), free(expected_wrenches);
    book_free(tree);
}

static void check_crba(const trial *t)
{
    book_tree         *tree = tree_of(t);
    double            *M = trial_array(t, t->nv * t->nv), *H = trial_array(t, t->nv * t->nv);
    const dyn_kernels *k;
    for (size_t r = 0; r < t->rows; r++)
        book_crba(tree, t->q + r * t->nq, H + r * t->nv * t->nv);
    for (size_t i = 0; (k = dyn_kernels_at(i)); i++) {
        rows_mass_matrix(k, &t->scene, t->rows, (dyn_mass_matrix){.q = t->q, .mass_matrix = M});
        check_close(k->target, t->seed, t->rows * t->nv * t->nv, M, H, TOLERANCE);
    }
    free(M), free(H);
    book_free(tree);
}

static size_t articulated; /* number of trees that the articulated-body algorithm has solved */

static void check_aba(const trial *t)
{
    book_tree *tree = tree_of(t);
    vec6      *fx   = forces_for(tree);
    double    *qdd = trial_array(t, t->nv), *expected = trial_array(t, t->nv), *size = trial_array(t, 1);
    for (size_t r = 0; r < t->rows && !tree->shares_coordinates; r++) {
        reference_wrench w[TRIAL_WRENCHES];
        reference_scene  surroundings = trial_reference_scene(t, r, w);
        reference       *ref          = trial_reference(t, r);
        external_forces(t, tree, r, fx);
        const book_scene scene = scene_of(t, fx);
        book_aba(tree, &scene, t->q + r * t->nq, t->qd + r * t->nv, t->tau + r * t->nv, expected + r * t->nv);
        size[r] = trial_leverage(t, ref, &surroundings, t->tau + r * t->nv, expected + r * t->nv);
        reference_free(ref);
    }
    const dyn_kernels *k;
    for (size_t i = 0; !tree->shares_coordinates && (k = dyn_kernels_at(i)); i++) {
        rows_forward_dynamics(
            k, &t->scene, t->rows,
            (dyn_forward_dynamics){.q = t->q, .qd = t->qd, .tau = t->tau, .wrenches = t->wrenches, .qdd = qdd});
        for (size_t r = 0; r < t->rows; r++)
            check_close_scaled(k->target, t->seed, t->nv, qdd + r * t->nv, expected + r * t->nv, FORWARD_TOLERANCE,
                               size[r]);
    }
    articulated += !tree->shares_coordinates;
    free(fx), free(qdd), free(expected), free(size);
    book_free(tree);
}

static void check_all(const trial *t)
{
    check_rnea(t);
    check_crba(t);
    check_aba(t);
}

static size_t compared[DYN_JOINT_KINDS]; /* number of joints of each type that were compared */

static void count_and_check(const trial *t)
{
    for (size_t i = 0; i < t->tree.description.n_links; i++)
        compared[t->tree.links[i].joint]++;
    check_all(t);
}

static void test_random_robots(void **state)
{
    trial_robots(ROBOTS, ROWS, count_and_check);
    for (int type = 0; type < DYN_JOINT_KINDS; type++)
        assert_true(compared[type] > 20);
}

/* Compares with friction and springs switched on one by one. */
static void test_terms(void **state)
{
    trial_terms(2, check_all);
}

/* Compares robots without mimics and rigid motors, whose coordinates each move one joint, with the articulated-body
 * algorithm. */
static void test_trees_without_shared_coordinates(void **state)
{
    articulated = 0;
    for (uint64_t seed = 1; seed <= ROBOTS; seed++) {
        const unsigned features = TREE_ALL & ~(unsigned)(TREE_DENSE | TREE_MOTORS);
        trial          t        = trial_of(seed, random_tree_make(seed, 10, seed % 3 == 0, features), ROWS, seed % 4);
        check_all(&t);
        trial_free(&t);
    }
    assert_int_equal(articulated, ROBOTS);
}

/* The longest model has 512 velocities. */
static void test_longest_chains(void **state)
{
    trial_longest(check_rnea);
    trial_longest(check_crba);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_robots),
        cmocka_unit_test(test_terms),
        cmocka_unit_test(test_trees_without_shared_coordinates),
        cmocka_unit_test(test_longest_chains),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
