/* test_reference.c - checks the reference by other forms of the laws of motion, and by a robot solved by hand. */
#include "tests/dynamics/support/check.h"
#include "tests/dynamics/support/random_tree.h"
#include "reference/reference_body.h"
#include "tests/dynamics/support/trial.h"
#include <math.h>
#include <stdlib.h>

/* The reference computes in long double (2^-64). Moments about the world's origin may cancel to those of a light body
 * far away: a factor of at most 1e4 leaves 1e-15. */
#define TOLERANCE 1e-14

enum { ROBOTS = 60 };

static const dyn_inertia *inertia_of(const trial *t, size_t k)
{
    return k == 0 ? &t->tree.description.base_inertia : &t->tree.links[k - 1].inertia;
}

/* Computes w from [w]x = R' R^T. */
static jet3 spin(const jet33 *R)
{
    jet33 rate, transposed = jet33_transpose(R);
    for (int i = 0; i < 9; i++)
        rate.e[i / 3][i % 3] = jet_rate(R->e[i / 3][i % 3]);
    jet33 skew = jet33_mul(&rate, &transposed);
    return (jet3){{skew.e[2][1], skew.e[0][2], skew.e[1][0]}};
}

/* Computes the momentum of one link about the world's origin as a series: P = m c', L = c x P + R I R^T w. */
static void momentum_series(const motion_link *l, const dyn_inertia *inertia, jet3 *P, jet3 *L)
{
    static const int entry[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};
    jet33            I, transposed = jet33_transpose(&l->R);
    for (int i = 0; i < 9; i++)
        I.e[i / 3][i % 3] = jet_constant(inertia->about_com[entry[i / 3][i % 3]]);
    jet3 c = jet3_add(l->p, jet33_apply(&l->R, jet3_constant(inertia->com)));
    *P     = jet3_scale(jet_constant(inertia->mass), jet3_rate(c));
    jet3 w = spin(&l->R);
    *L     = jet3_add(jet3_cross(c, *P), jet33_apply(&l->R, jet33_apply(&I, jet33_apply(&transposed, w))));
}

/* The force on each body, I a + v x* I v, must be the derivative of its momentum, without gravity and wrenches. */
static void test_force_is_the_rate_of_momentum(void **state)
{
    for (uint64_t seed = 1; seed <= ROBOTS; seed++) {
        trial           t     = trial_make(seed, 1);
        reference      *r     = trial_reference(&t, 0);
        reference_scene still = {.n_wrenches = 0};
        for (size_t k = 0; k < r->m.n; k++) {
            real   f[6];
            double got[6], expected[6];
            jet3   P, L;
            if (!r->m.link[k].moves) continue;
            body_force(r, k, &still, true, f);
            momentum_series(&r->m.link[k], inertia_of(&t, k), &P, &L);
            for (int i = 0; i < 3; i++) {
                expected[i]     = (double)jet_derivative(P.e[i], 1);
                expected[3 + i] = (double)jet_derivative(L.e[i], 1);
                got[i]          = (double)f[i];
                got[3 + i]      = (double)f[3 + i];
            }
            check_close("rate of momentum", seed, 6, got, expected, TOLERANCE);
        }
        reference_free(r);
        trial_free(&t);
    }
}

/* J qd of every link, moved to the origin of its frame, must be the derivative of its pose, and J qdd + J' qd the
 * second. */
static void test_jacobian_is_the_rate_of_the_pose(void **state)
{
    const dyn_pose here = {.R = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    for (uint64_t seed = 1; seed <= ROBOTS; seed++) {
        trial      t = trial_make(seed, 1);
        reference *r = trial_reference(&t, 0);
        double    *J = trial_array(&t, 6 * t.nv), *J_dot = trial_array(&t, 6 * t.nv), velocity[6], acceleration[6];
        for (size_t k = 0; k < r->m.n; k++) {
            double v[6] = {0}, a[6] = {0};
            reference_frame(
                r, (int)k - 1, &here, false,
                (reference_frame_motion){
                    .jacobian = J, .jacobian_dot = J_dot, .velocity = velocity, .acceleration = acceleration});
            for (size_t i = 0; i < 6; i++)
                for (size_t j = 0; j < t.nv; j++) {
                    v[i] += J[i * t.nv + j] * t.qd[j];
                    a[i] += J[i * t.nv + j] * t.qdd[j] + J_dot[i * t.nv + j] * t.qd[j];
                }
            /* the sums here are in double, over up to 40 terms */
            check_close("velocity", seed, 6, v, velocity, 2e-14);
            check_close("acceleration", seed, 6, a, acceleration, 2e-14);
        }
        free(J), free(J_dot);
        reference_free(r);
        trial_free(&t);
    }
}

/* Compares with the equations of two unit links in a vertical plane with point masses at their ends (Craig 2005, 6.7):
 * M11 = (m1+m2) + m2 + 2 m2 cos q2, M12 = m2 + m2 cos q2, M22 = m2; h = m2 sin q2. */
static void test_two_links_by_hand(void **state)
{
    const double   m1 = 2, m2 = 3, g = 9.81, q[2] = {0.3, -0.8}, qd[2] = {1.1, 0.7}, qdd[2] = {-0.5, 2};
    const dyn_pose here    = {.R = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    dyn_link       link[2] = {
              {.parent  = -1,
               .joint   = DYN_REVOLUTE,
               .before  = here,
               .after   = here,
               .axis    = {0, 0, 1},
               .ratio   = 1,
               .inertia = {.mass = m1, .com = {1, 0, 0}}},
              {.parent  = 0,
               .joint   = DYN_REVOLUTE,
               .before  = here,
               .after   = here,
               .axis    = {0, 0, 1},
               .ratio   = 1,
               .inertia = {.mass = m2, .com = {1, 0, 0}}},
    };
    link[1].before.p[0]   = 1;
    dyn_description d     = {.n_links = 2, .links = link};
    reference_scene scene = {.gravity = {0, -g, 0}};
    double          c2 = cos(q[1]), h = m2 * sin(q[1]), c1 = cos(q[0]), c12 = cos(q[0] + q[1]), tau[2], M[4];
    reference      *r             = reference_at(&d, (reference_state){.q = q, .qd = qd, .qdd = qdd});
    const double    expected_M[4] = {m1 + 2 * m2 + 2 * m2 * c2, m2 + m2 * c2, m2 + m2 * c2, m2};
    const double    expected[2]   = {
             expected_M[0] * qdd[0] + expected_M[1] * qdd[1] - h * (2 * qd[0] * qd[1] + qd[1] * qd[1]) + (m1 + m2) * g * c1 +
                 m2 * g * c12,
             expected_M[2] * qdd[0] + expected_M[3] * qdd[1] + h * qd[0] * qd[0] + m2 * g * c12,
    };
    reference_inverse_dynamics(r, &scene, tau, NULL);
    reference_mass_matrix(r, M);
    check_close("by hand", 0, 4, M, expected_M, TOLERANCE);
    check_close("by hand", 0, 2, tau, expected, TOLERANCE);
    reference_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_force_is_the_rate_of_momentum),
        cmocka_unit_test(test_jacobian_is_the_rate_of_the_pose),
        cmocka_unit_test(test_two_links_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
