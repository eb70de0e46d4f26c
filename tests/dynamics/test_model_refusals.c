/* test_model_refusals.c - checks which descriptions are refused, that the refusal names the link, and which mimics are
 * valid. */
#include "tests/dynamics/support/check.h"
#include "tests/dynamics/support/small_tree.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void assert_refused(const dyn_description *d, dyn_status status, int where)
{
    dyn_model *model    = NULL;
    int        reported = 12345;
    assert_int_equal(dyn_model_build(d, &model, &reported), status);
    assert_int_equal(reported, where);
    assert_null(model);
    assert_int_equal(dyn_model_build(d, &model, NULL), status);
}

static void test_bad_parents_are_reported(void **state)
{
    const int bad[] = {-2, 3, 4, 1000};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        dyn_link link[7];
        small_tree(link);
        link[3].parent    = bad[i];
        dyn_description d = {.n_links = 7, .links = link};
        assert_refused(&d, DYN_BAD_PARENT, 3);
    }
}

static void test_bad_numbers_are_reported(void **state)
{
    static const size_t figures[] = {
        offsetof(dyn_link, before.R[1][2]),
        offsetof(dyn_link, before.p[0]),
        offsetof(dyn_link, after.R[2][2]),
        offsetof(dyn_link, after.p[2]),
        offsetof(dyn_link, axis[1]),
        offsetof(dyn_link, ratio),
        offsetof(dyn_link, offset),
        offsetof(dyn_link, inertia.mass),
        offsetof(dyn_link, inertia.com[2]),
        offsetof(dyn_link, inertia.about_com[5]),
        offsetof(dyn_link, rotor_inertia),
        offsetof(dyn_link, friction.viscous),
        offsetof(dyn_link, friction.positive),
        offsetof(dyn_link, friction.negative),
        offsetof(dyn_link, friction.coulomb_velocity),
        offsetof(dyn_link, friction.breakaway_positive),
        offsetof(dyn_link, friction.breakaway_negative),
        offsetof(dyn_link, friction.stribeck_velocity),
        offsetof(dyn_link, friction.load),
        offsetof(dyn_link, spring.stiffness),
        offsetof(dyn_link, spring.damping),
        offsetof(dyn_link, spring.rest),
        offsetof(dyn_link, spring.stiffness2),
        offsetof(dyn_link, spring.stiffness3),
        offsetof(dyn_link, spring.damping2),
        offsetof(dyn_link, spring.damping3),
    };
    const double bad[] = {NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        for (int j = 0; j < 3; j++) {
            dyn_link link[7];
            small_tree(link);
            memcpy((char *)&link[6] + figures[i], &bad[j], sizeof bad[j]);
            dyn_description d = {.n_links = 7, .links = link};
            assert_refused(&d, DYN_BAD_NUMBER, 6);
        }
}

/* A mimic may follow a moving link with a coordinate of its own, earlier or later in the list, and nothing else. */
static void test_mimics(void **state)
{
    dyn_link link[7];
    small_tree(link);
    dyn_description d = {.n_links = 7, .links = link};
    link[2].mimic     = true;
    link[2].leader    = 6;
    link[3].mimic     = true;
    link[3].leader    = 0;
    dyn_model *m      = small_build(&d);
    const int  v[4]   = {0, 1, 0, 1};
    assert_int_equal(m->nv, 2);
    assert_int_equal(m->nq, 2);
    assert_int_equal(m->n_bodies, 4);
    for (int b = 0; b < 4; b++) {
        assert_int_equal(m->body[b].joint.v, v[b]);
        assert_int_equal(m->body[b].joint.q, v[b]);
        assert_int_equal(m->body[b].joint.mimic, b == 1 || b == 2);
    }
    dyn_model_free(m);
    const int bad[] = {-2, DYN_WORLD, 1,  2,
                       3,  7,         100}; /* leaders that are refused: the base, a fixed link, the link
                                               itself, a mimic, and numbers of no link */
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        link[2].leader = bad[i];
        assert_refused(&d, DYN_BAD_LEADER, 2);
    }
}

static void test_numbers_of_a_joint(void **state)
{
    dyn_link link[7];
    small_tree(link);
    dyn_description d = {.n_links = 7, .links = link};
    link[2].ratio     = 0;
    assert_refused(&d, DYN_BAD_NUMBER, 2);
    link[2].ratio   = 1;
    link[2].axis[2] = 1.001;
    assert_refused(&d, DYN_BAD_NUMBER, 2);
    link[2].axis[2] = 0;
    assert_refused(&d, DYN_BAD_NUMBER, 2);
    link[2].axis[2] = 1;
    link[2].joint   = (dyn_joint_kind)(DYN_FLOATING + 1);
    assert_refused(&d, DYN_BAD_NUMBER, 2);
}

/* Joints with a quaternion have none of the properties of a joint with one coordinate. */
static void test_numbers_of_free_joints(void **state)
{
    dyn_link link[7];
    small_tree(link);
    dyn_description d = {.n_links = 7, .links = link};
    for (dyn_joint_kind free = DYN_SPHERICAL; free <= DYN_FLOATING; free++) {
        link[2].joint            = free;
        link[2].spring.stiffness = free == DYN_FLOATING ? 1 : NAN;
        assert_refused(&d, DYN_BAD_NUMBER, 2);
        link[2].spring.stiffness = 0;
        link[2].spring.rest      = 1;
        assert_refused(&d, DYN_BAD_NUMBER, 2);
        link[2].spring.rest   = 0;
        link[2].rotor_inertia = INFINITY;
        assert_refused(&d, DYN_BAD_NUMBER, 2);
        link[2].rotor_inertia          = 0;
        link[2].moment_at_parent_frame = true;
        assert_refused(&d, DYN_BAD_NUMBER, 2);
        link[2].moment_at_parent_frame = false;
        link[2].ratio                  = 2;
        assert_refused(&d, DYN_BAD_NUMBER, 2);
        link[2].ratio = 1;
    }
}

static void test_numbers_of_the_base(void **state)
{
    dyn_link link[7];
    small_tree(link);
    dyn_description d = {.n_links = 7, .links = link, .base_inertia.mass = NAN};
    assert_refused(&d, DYN_BAD_NUMBER, DYN_WORLD);
    d.base_inertia.mass  = 0;
    d.base_rotor_inertia = NAN;
    assert_refused(&d, DYN_BAD_NUMBER, DYN_WORLD);
    d.base_rotor_inertia = 0;
    d.base_damping       = INFINITY;
    assert_refused(&d, DYN_BAD_NUMBER, DYN_WORLD);
    d.base_damping = 0;
    d.gravity[1]   = INFINITY;
    assert_refused(&d, DYN_BAD_NUMBER, DYN_WORLD);
}

static void test_most_degrees_of_freedom(void **state)
{
    for (int floating = 0; floating < 2; floating++) {
        size_t          most = DYN_MAX_DOF - (floating ? 6 : 0);
        dyn_link       *link = calloc(most + 1, sizeof *link);
        dyn_description d    = {.floating = floating, .n_links = most, .links = link};
        assert_non_null(link);
        for (size_t i = 0; i <= most; i++)
            link[i] = small_link((int)i - 1, small_identity);
        dyn_model_free(small_build(&d));
        d.n_links = most + 1;
        assert_refused(&d, DYN_TOO_MANY_DOF, (int)most);
        free(link);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_parents_are_reported),
        cmocka_unit_test(test_bad_numbers_are_reported),
        cmocka_unit_test(test_mimics),
        cmocka_unit_test(test_numbers_of_a_joint),
        cmocka_unit_test(test_numbers_of_free_joints),
        cmocka_unit_test(test_numbers_of_the_base),
        cmocka_unit_test(test_most_degrees_of_freedom),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
