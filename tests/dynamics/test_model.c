/* test_model.c - checks how descriptions become the canonical tree of bodies: special rotations, body frames, merged
 * fixed links. */
#include "tests/dynamics/support/check.h"
#include "reference/reference.h"
#include "tests/dynamics/support/rows.h"
#include "tests/dynamics/support/small_tree.h"
#include "tests/target.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static dyn_pose turn_x(double c, double s)
{
    return (dyn_pose){.R = {{1, 0, 0}, {0, c, -s}, {0, s, c}}};
}

static double dot3(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* --- constant rotations ----------------------------------------------------------------------------------------- */

static dyn_turn turn_of(dyn_pose before)
{
    dyn_link        link  = small_link(DYN_WORLD, before);
    dyn_description d     = {.n_links = 1, .links = &link};
    dyn_model      *model = small_build(&d);
    dyn_turn        turn  = model->body[0].pose.turn;
    dyn_model_free(model);
    return turn;
}

/* A special case of dyn_turn requires a matrix that equals it to 2e-16, as with cos(pi/2) = 6e-17; 1.5708 is another
 * angle. */
static void test_rotations_are_not_rounded_to_special_ones(void **state)
{
    assert_int_equal(turn_of(small_identity), DYN_TURN_NONE);
    assert_int_equal(turn_of(turn_x(0, 1)), DYN_TURN_X_PLUS);
    assert_int_equal(turn_of(turn_x(0, -1)), DYN_TURN_X_MINUS);
    assert_int_equal(turn_of(turn_x(cos(M_PI_2), sin(M_PI_2))), DYN_TURN_X_PLUS);
    assert_int_equal(turn_of(turn_x(cos(-M_PI_2), sin(-M_PI_2))), DYN_TURN_X_MINUS);
    assert_int_equal(turn_of(turn_x(1.9e-16, 1)), DYN_TURN_X_PLUS);
    assert_int_equal(turn_of(turn_x(2.1e-16, 1)), DYN_TURN_X);
    assert_int_equal(turn_of(turn_x(-2.1e-16, 1)), DYN_TURN_X);
    assert_int_equal(turn_of(turn_x(1, 2.1e-16)), DYN_TURN_X);
    assert_int_equal(turn_of(turn_x(cos(1.5708), sin(1.5708))), DYN_TURN_X);
    assert_int_equal(turn_of(turn_x(cos(-1.5708), sin(-1.5708))), DYN_TURN_X);
    assert_int_equal(turn_of(turn_x(-1, 0)), DYN_TURN_X);
    assert_int_equal(turn_of(turn_z_then_x(0.2, 0.3)), DYN_TURN_ZX);
    assert_int_equal(turn_of(turn_z_then_x(1e-12, 0.3)), DYN_TURN_ZX);
}

static unsigned offsets_of(dyn_pose before, double x, double y)
{
    dyn_link link[2]        = {small_link(DYN_WORLD, before), small_link(0, turn_x(0, 1))};
    link[1].before.p[0]     = x;
    link[1].before.p[1]     = y;
    link[1].before.p[2]     = 0;
    dyn_description d       = {.n_links = 2, .links = link};
    dyn_model      *model   = small_build(&d);
    const unsigned  offsets = model->body[1].pose.offsets;
    dyn_model_free(model);
    return offsets;
}

/* An offset must become zero only if it is rounding: in the document, or after the parent's frame is rotated and
 * back. */
static void test_offsets_are_not_rounded_to_zero(void **state)
{
    assert_int_equal(offsets_of(small_identity, 0, 0.25), DYN_ALONG_Y);
    assert_int_equal(offsets_of(small_identity, 4.9e-17, 0.25), DYN_ALONG_Y);
    assert_int_equal(offsets_of(small_identity, -5.1e-17, 0.25), DYN_ALONG_X | DYN_ALONG_Y);
    for (int i = 1; i < 100; i++) {
        const dyn_pose turned = turn_z_then_x(0.01 * i, 0.3 + 0.02 * i);
        assert_int_equal(offsets_of(turned, 0, 0.25), DYN_ALONG_Y);
        assert_int_equal(offsets_of(turned, 1e-15, 0.25), DYN_ALONG_X | DYN_ALONG_Y);
    }
}

static void test_general_rotations_are_kept(void **state)
{
    const double angles[] = {1.5708, -1.5707, 1e-3, 3.1416, 2.5};
    for (size_t i = 0; i < sizeof angles / sizeof *angles; i++) {
        dyn_link        link   = small_link(DYN_WORLD, turn_x(cos(angles[i]), sin(angles[i])));
        dyn_description d      = {.n_links = 1, .links = &link};
        dyn_model      *model  = small_build(&d);
        const double    got[2] = {model->body[0].pose.ca, model->body[0].pose.sa},
                     exact[2]  = {cos(angles[i]), sin(angles[i])};
        /* the smaller of cos and sin must also be accurate to its last digits */
        check_close("cos alpha", i, 1, &got[0], &exact[0], 4e-16);
        check_close("sin alpha", i, 1, &got[1], &exact[1], 4e-16);
        dyn_model_free(model);
    }
}

/* Chains of rotations that are almost special cases must lose no accuracy: the tip is compared with the reference. */
static void test_nearly_special_rotations_keep_the_tip(void **state)
{
    const double off[] = {0, 1e-17, 1.5e-16, 3e-16, 1e-15, 1e-12, 1e-8, 3.7e-6};
    for (size_t i = 0; i < sizeof off / sizeof *off; i++)
        for (int quarter = 0; quarter < 4; quarter++)
            for (int k = 0; k < 3; k++) {
                dyn_link link[3];
                double   angle = quarter * M_PI_2 + off[i];
                for (int j = 0; j < 3; j++) {
                    link[j]             = small_link(j - 1, turn_z_then_x(j * off[i], angle));
                    link[j].axis[2]     = 0;
                    link[j].axis[k]     = j % 2 ? -1 : 1;
                    link[j].before.p[j] = 0.5;
                }
                dyn_description d     = {.n_links = 3, .links = link};
                dyn_model      *model = small_build(&d);
                dyn_scene       scene = {.model = model};
                dyn_frame       tip   = {model->link[2].body, model->link[2].X_bl};
                const double    q[3]  = {0.3, -1.2, 2};
                double          got[7], expected[7];
                reference      *r = reference_at(&d, (reference_state){.q = q});
                reference_frame(r, 2, &small_identity, false,
                                (reference_frame_motion){.position = expected, .orientation = expected + 3});
                rows_kinematics(
                    dyn_kernels_at(0), &scene, 1,
                    (dyn_kinematics){.q = q, .n_frames = 1, .frames = &tip, .positions = got, .orientations = got + 3});
                check_close("tip", i, 7, got, expected, 2e-15);
                reference_free(r);
                dyn_model_free(model);
            }
}

/* The two directions of a planar joint and its axis must be orthonormal. Close to -e_z the smallest rotation from e_z
 * to the axis is badly conditioned. */
static void test_planar_directions_near_minus_z(void **state)
{
    for (double tilt = 1e-1; tilt > 1e-12; tilt /= 7) {
        dyn_link link = small_link(DYN_WORLD, small_identity);
        link.joint    = DYN_PLANAR;
        memcpy(link.axis, (double[3]){tilt, 0.5 * tilt, -sqrt(1 - 1.25 * tilt * tilt)}, sizeof link.axis);
        dyn_description d     = {.n_links = 1, .links = &link};
        dyn_model      *model = small_build(&d);
        dyn_scene       scene = {.model = model};
        dyn_frame       tip   = {model->link[0].body, model->link[0].X_bl};
        const double    q[9]  = {0, 0, 0, 1, 0, 0, 0, 1, 0}; /* at rest, then a metre along each direction */
        const double   *z = link.axis, unit[6] = {1, 0, 1, 0, 0, 1};
        double          points[9], along[2][3];
        rows_kinematics(dyn_kernels_at(0), &scene, 3,
                        (dyn_kinematics){.q = q, .n_frames = 1, .frames = &tip, .positions = points});
        for (int k = 0; k < 6; k++)
            along[k / 3][k % 3] = points[3 + k] - points[k % 3];
        const double *x = along[0], *y = along[1];
        const double  products[6] = {dot3(x, x), dot3(x, y), dot3(y, y), dot3(x, z), dot3(y, z), dot3(z, z)};
        check_close("products", 0, 6, products, unit, 1e-15);
        dyn_model_free(model);
    }
}

/* The rotation gamma about z at the start of a child's joint frame must be added to the angle theta of the parent's
   revolute joint, up to the rounding of the angle. */
static void test_gamma_moves_to_the_parent_joint(void **state)
{
    int kept = 0;
    for (int i = 1; i < 300; i++) {
        const double    gamma   = 0.005 * i;
        dyn_link        link[2] = {small_link(DYN_WORLD, turn_x(1, 0)), small_link(0, turn_z_then_x(gamma, 0.3))};
        dyn_description d       = {.n_links = 2, .links = link};
        dyn_model      *model   = small_build(&d);
        const dyn_body *b       = model->body;
        const double    theta   = b[0].pose.frame_angle + (double)b[0].pose.frame_quarters * M_PI_2;
        check_close("theta", (uint64_t)i, 1, &theta, &gamma, 3e-16);
        assert_true(model->has_frame_angles && fabs(b[0].pose.frame_angle) <= M_PI_4 && fabs(b[1].pose.sg) < 4e-16);
        kept += b[1].pose.turn == DYN_TURN_ZX;
        dyn_model_free(model);
    }
    assert_in_range(kept, 0, 30);
}

/* The origin of a body must move along its axis to the point from which transforms to the children have the fewest
 * components; the tip must not move. */
static void test_origins_move_along_their_axes(void **state)
{
    dyn_pose tilted = turn_x(0.6, 0.8), beside = turn_x(1, 0);
    tilted.p[0] = 0.1, tilted.p[1] = 0.2, tilted.p[2] = 0.3;
    beside.p[0] = 0.4, beside.p[2] = 0.5;
    const dyn_pose before[3][3] = {
        {beside, tilted, tilted}, /* after the shift, the body's own offset has three components */
        {beside, beside, turn_x(0, -1)},
        {beside, turn_x(0, -1), beside}}; /* a shift of the second origin would save nothing */
    for (uint64_t i = 0; i < 3; i++) {
        dyn_link link[3];
        for (int k = 0; k < 3; k++)
            link[k] = small_link(k - 1, before[i][k]);
        dyn_description d     = {.n_links = 3, .links = link};
        dyn_model      *model = small_build(&d);
        dyn_scene       scene = {.model = model};
        dyn_frame       tip   = {model->link[2].body, model->link[2].X_bl};
        const double    q[3]  = {0.3, -1.2, 2};
        double          got[3], expected[3], unused[4];
        reference      *r = reference_at(&d, (reference_state){.q = q});
        reference_frame(r, 2, &small_identity, false,
                        (reference_frame_motion){.position = expected, .orientation = unused});
        rows_kinematics(dyn_kernels_at(0), &scene, 1,
                        (dyn_kinematics){.q = q, .n_frames = 1, .frames = &tip, .positions = got});
        check_close("tip", i, 3, got, expected, 1e-15);
        assert_true(model->body[1].pose.p_pc[2] == 0);
        assert_true(model->body[2].pose.p_pc[2] == (i == 2 ? 0.5 : 0));
        reference_free(r);
        dyn_model_free(model);
    }
}

/* --- the tree ---------------------------------------------------------------------------------------------- */

static void test_fixed_joints_are_merged(void **state)
{
    dyn_link link[7];
    small_tree(link);
    dyn_description d         = {.n_links = 7, .links = link, .base_inertia = {.mass = 100}};
    const int       body[7]   = {0, 0, 1, 2, 2, DYN_WORLD, 3};
    const int       parent[4] = {DYN_WORLD, 0, 0, DYN_WORLD}, carries[4] = {0, 2, 3, 6};
    const double    mass[4] = {1 + 2, 3, 4 + 5, 7}, subtree[4] = {15, 3, 9, 7};
    dyn_model      *m = small_build(&d);
    assert_int_equal(m->n_bodies, 4);
    assert_int_equal(m->n_links, 7);
    assert_int_equal(m->nq, 4);
    assert_int_equal(m->nv, 4);
    assert_false(m->floating);
    assert_true(m->mass == 22); /* without the base link and links fixed to it */
    assert_int_equal(m->base.body, DYN_WORLD);
    for (int i = 0; i < 7; i++)
        assert_int_equal(m->link[i].body, body[i]);
    for (int b = 0; b < 4; b++) {
        assert_int_equal(m->body[b].tree.parent, parent[b]);
        assert_int_equal(m->body[b].tree.link, carries[b]);
        assert_int_equal(m->body[b].tree.is_leaf, b != 0);
        assert_true(m->body[b].moments.mass == mass[b]);
        assert_true(m->body[b].derived.subtree_mass == subtree[b]);
    }
    dyn_model_free(m);
}

/* Checks the upper bound of the subtree's moment for point masses on a line. The bound is the second moment of the
 * stretched arm: 2 (1/2)^2 + 3 2^2. */
static void test_subtree_moment(void **state)
{
    const dyn_pose  here    = {.R = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    dyn_link        link[2] = {{.parent = DYN_WORLD, .joint = DYN_REVOLUTE, .axis = {0, 0, 1}, .ratio = 1}};
    dyn_description d       = {.n_links = 2, .links = link};
    link[0].before = link[0].after = here;
    link[1]                        = link[0];
    link[1].parent                 = 0;
    link[1].before.p[0]            = -1; /* the chain is folded at q = 0 */
    link[0].inertia                = (dyn_inertia){.mass = 2, .com = {0.5, 0, 0}};
    link[1].inertia                = (dyn_inertia){.mass = 3, .com = {1, 0, 0}};
    dyn_model *m                   = small_build(&d);
    assert_true(fabs(m->body[1].derived.subtree_moment - 3) < 1e-15);
    assert_true(fabs(m->body[0].derived.subtree_moment - 12.5) < 1e-14);
    dyn_model_free(m);
}

static void test_floating_base_is_the_first_body(void **state)
{
    dyn_link link[7];
    small_tree(link);
    dyn_description d = {.floating = true, .n_links = 7, .links = link, .base_inertia = {.mass = 100}};
    dyn_model      *m = small_build(&d);
    assert_int_equal(m->n_bodies, 5);
    assert_int_equal(m->nq, 7 + 4);
    assert_int_equal(m->nv, 6 + 4);
    assert_int_equal(m->base.body, 0);
    assert_int_equal(m->link[5].body, 0);
    assert_int_equal(m->body[0].joint.kind, DYN_FLOATING);
    assert_int_equal(m->body[0].tree.link, DYN_WORLD);
    assert_true(m->body[0].moments.mass == 106);
    assert_true(m->mass == 128);
    assert_int_equal(m->body[1].joint.q, 7);
    assert_int_equal(m->body[1].joint.v, 6);
    dyn_model_free(m);
}

/* A single body in free fall must accelerate by gravity, in base axes. */
static void test_single_floating_body_falls(void **state)
{
    dyn_description d = {
        .floating = true, .gravity = {0, 0, -9.81}, .base_inertia = {.mass = 2, .about_com = {1, 0, 0, 2, 0, 3}}};
    dyn_model *m     = small_build(&d);
    dyn_scene  scene = {.model = m, .gravity = {0, 0, -9.81}};
    /* rotated by 90 deg about x: R e_y = e_z, so gravity is along -y of the base */
    const double q[7] = {1, 2, 3, sqrt(0.5), 0, 0, sqrt(0.5)}, expected[6] = {0, -9.81, 0, 0, 0, 0};
    double       qdd[6], pivot;
    rows_forward_dynamics(test_kernels(), &scene, 1, (dyn_forward_dynamics){.q = q, .qdd = qdd, .singular = &pivot});
    assert_true(pivot == -1);
    check_close("free fall", 0, 6, qdd, expected, 1e-15);
    dyn_model_free(m);
}

/* A robot without moving joints must be a valid model. */
static void test_robot_without_moving_joints(void **state)
{
    dyn_link link            = small_link(DYN_WORLD, small_identity);
    link.joint               = DYN_FIXED;
    dyn_description    d     = {.n_links = 1, .links = &link};
    dyn_model         *m     = small_build(&d);
    dyn_scene          scene = {.model = m};
    dyn_frame          frame = {m->link[0].body, m->link[0].X_bl};
    const dyn_kernels *k;
    assert_int_equal(m->nv, 0);
    assert_true(m->mass == 0);
    for (size_t i = 0; (k = dyn_kernels_at(i)); i++) {
        double none[1] = {0}, position[3], kinetic;
        rows_inverse_dynamics(k, &scene, 3, (dyn_inverse_dynamics){.q = none, .tau = none});
        rows_mass_matrix(k, &scene, 1, (dyn_mass_matrix){.q = none, .mass_matrix = none});
        rows_kinematics(k, &scene, 1,
                        (dyn_kinematics){.q = none, .n_frames = 1, .frames = &frame, .positions = position});
        rows_energy(k, &scene, 1, (dyn_energy){.q = none, .kinetic = &kinetic});
        assert_true(position[0] == 0 && kinetic == 0);
    }
    dyn_model_free(m);
}

int main(void)
{
    dyn_model_free(NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rotations_are_not_rounded_to_special_ones),
        cmocka_unit_test(test_offsets_are_not_rounded_to_zero),
        cmocka_unit_test(test_general_rotations_are_kept),
        cmocka_unit_test(test_nearly_special_rotations_keep_the_tip),
        cmocka_unit_test(test_planar_directions_near_minus_z),
        cmocka_unit_test(test_gamma_moves_to_the_parent_joint),
        cmocka_unit_test(test_origins_move_along_their_axes),
        cmocka_unit_test(test_fixed_joints_are_merged),
        cmocka_unit_test(test_subtree_moment),
        cmocka_unit_test(test_floating_base_is_the_first_body),
        cmocka_unit_test(test_single_floating_body_falls),
        cmocka_unit_test(test_robot_without_moving_joints),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
