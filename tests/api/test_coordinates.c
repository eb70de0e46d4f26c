/* test_coordinates.c - checks moves, rates and Lie brackets of joint coordinates, and the sign of quaternions, against
 * short steps and identities. */
#include "tests/api/support/models.h"
#include "dynamics/model/coordinates.h"
#include "tests/api/support/draws.h"
#include <math.h>
#include <string.h>

enum { W = 4, ENTRIES = 7, ROUNDS = 200 };

#define BODY "'inertial':{'mass':1,'inertia':{'xx':1,'yy':1,'zz':1}}"
static const char robot[] =
    "{'base':{'type':'floating','link':'torso'," BODY "},'links':["
    "{'name':'ball','parent':'torso','joint':{'name':'b','type':'spherical'}," BODY "},"
    "{'name':'arm','parent':'ball','joint':{'name':'h','type':'revolute','axis':[0,0,1]}," BODY "},"
    "{'name':'other','parent':'torso','joint':{'name':'f','type':'floating'}," BODY "}]}";

/* Draws the coordinates of one joint, with a quaternion of unit length; entries are `stride` apart. */
static void draw_position(const dyn_body *b, uint64_t *seed, double *q, size_t stride)
{
    int    quaternion = dyn_quaternion_offset(b);
    double norm       = 0;
    for (int i = 0; i < dyn_joint_nq(b->joint.kind); i++)
        q[(size_t)i * stride] = draw(seed);
    for (int i = 0; quaternion >= 0 && i < 4; i++)
        norm += q[(size_t)(quaternion + i) * stride] * q[(size_t)(quaternion + i) * stride];
    for (int i = 0; quaternion >= 0 && i < 4; i++)
        q[(size_t)(quaternion + i) * stride] /= sqrt(norm);
}

static void of_each_joint(void (*check)(const dyn_body *b, uint64_t *seed))
{
    api_model *model = model_of(robot);
    uint64_t   seed  = 7;
    for (size_t i = 0; i < model->dyn->n_bodies; i++)
        for (int round = 0; round < ROUNDS; round++)
            check(&model->dyn->body[i], &seed);
    api_model_release(model);
}

/* The four numbers of a quaternion must change sign together or not at all: any other change is another rotation. */
static void quaternions_become_positive(void **state)
{
    api_model *model = model_of(robot);
    uint64_t   seed  = 3;
    size_t     nq    = model->nq;
    double     q[32 * W], before[32 * W];
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < nq * W; i++)
            q[i] = before[i] = draw(&seed);
        dyn_coordinates_make_quaternions_positive(model->dyn, q, W);
        for (size_t i = 0; i < model->dyn->n_bodies; i++) {
            const dyn_body *b          = &model->dyn->body[i];
            int             quaternion = dyn_quaternion_offset(b), n = dyn_joint_nq(b->joint.kind);
            for (size_t lane = 0; lane < W; lane++) {
                const double *was = before + (size_t)b->joint.q * W + lane, *is = q + (size_t)b->joint.q * W + lane;
                double        sign = quaternion >= 0 && was[(size_t)(quaternion + 3) * W] < 0 ? -1 : 1;
                for (int k = 0; k < n; k++)
                    assert_true(is[(size_t)k * W] ==
                                (k >= quaternion && quaternion >= 0 ? sign : 1) * was[(size_t)k * W]);
            }
        }
    }
    api_model_release(model);
}

/* Computes q after a step of h along dx. */
static void stepped(const dyn_body *b, const double *q, const double *dx, double h, double *to)
{
    memcpy(to, q, ENTRIES * sizeof *to);
    dyn_coordinates_move(b, to, 1, dx, h);
}

/* A quaternion must keep its length, a step back must return to the start, and two steps along one axis must be one
 * long step. */
static void check_steps(const dyn_body *b, uint64_t *seed)
{
    double q[ENTRIES] = {0}, dx[6], a[ENTRIES], c[ENTRIES], norm = 0;
    int    quaternion = dyn_quaternion_offset(b), n = dyn_joint_nq(b->joint.kind);
    draw_position(b, seed, q, 1);
    for (int i = 0; i < 6; i++)
        dx[i] = 3 * draw(seed);
    for (int i = 0; quaternion > 0 && i < 3; i++)
        dx[i] = 0; /* here only a rotation, below only a translation */
    stepped(b, q, dx, 0.7, a);
    stepped(b, a, dx, 0.3, a);
    stepped(b, q, dx, 1, c);
    assert_close(a, c, (size_t)n, 1e-14);
    stepped(b, c, dx, -1, a);
    assert_close(a, q, (size_t)n, 1e-14);
    for (int i = 0; quaternion >= 0 && i < 4; i++)
        norm += c[quaternion + i] * c[quaternion + i];
    assert_true(quaternion < 0 || fabs(norm - 1) < 1e-14);
    double shift[6] = {draw(seed), draw(seed), draw(seed)};
    if (quaternion <= 0) return;
    stepped(b, q, shift, 1, a);
    assert_memory_equal(a + 3, q + 3, 4 * sizeof *q);
    double way = 0, length = 0;
    for (int i = 0; i < 3; i++)
        way += (a[i] - q[i]) * (a[i] - q[i]), length += shift[i] * shift[i];
    assert_true(fabs(way - length) < 1e-14 * length);
}

static void steps(void **state)
{
    of_each_joint(check_steps);
}

/* Compares the rate with differences of short steps, separately for each lane. */
static void check_rate(const dyn_body *b, uint64_t *seed)
{
    const double h              = 1e-4;
    double       q[ENTRIES * W] = {0}, qd[6 * W], rate[ENTRIES * W];
    size_t       n = (size_t)dyn_joint_nq(b->joint.kind), nv = (size_t)dyn_joint_nv(b->joint.kind);
    for (size_t lane = 0; lane < W; lane++)
        draw_position(b, seed, q + lane, W);
    for (size_t i = 0; i < nv * W; i++)
        qd[i] = draw(seed);
    dyn_coordinates_rate(b, q, qd, W, rate);
    for (size_t lane = 0; lane < W; lane++) {
        double ahead[2][ENTRIES * W], behind[2][ENTRIES * W], computed[ENTRIES], expected[ENTRIES];
        for (int part = 0; part < 2; part++) {
            memcpy(ahead[part], q, sizeof q), memcpy(behind[part], q, sizeof q);
            dyn_coordinates_move(b, ahead[part] + lane, W, qd + lane, h * (part + 1));
            dyn_coordinates_move(b, behind[part] + lane, W, qd + lane, -h * (part + 1));
        }
        for (size_t i = 0; i < n; i++) { /* fourth-order difference */
            size_t e    = i * W + lane;
            computed[i] = rate[e];
            expected[i] = (8 * (ahead[0][e] - behind[0][e]) - (ahead[1][e] - behind[1][e])) / (12 * h);
        }
        for (size_t i = 0; i < n; i++)
            assert_true(fabs(computed[i] - expected[i]) < 1e-10);
    }
}

static void rates(void **state)
{
    of_each_joint(check_rate);
}

/* Moving along x then y must differ from moving along y then x by [x, y] h^2, up to third order in h. */
static void check_bracket(const dyn_body *b, uint64_t *seed)
{
    const double h          = 1e-4;
    double       q[ENTRIES] = {0}, x[6], y[6], bracket[6], back[6], one[ENTRIES], two[ENTRIES], expected[ENTRIES];
    int          n = dyn_joint_nq(b->joint.kind), nv = dyn_joint_nv(b->joint.kind);
    draw_position(b, seed, q, 1);
    for (int i = 0; i < 6; i++)
        x[i] = draw(seed), y[i] = draw(seed);
    dyn_coordinates_bracket(b, 1, x, y, bracket);
    dyn_coordinates_bracket(b, 1, y, x, back);
    for (int i = 0; i < nv; i++)
        assert_true(bracket[i] == -back[i]);
    stepped(b, q, x, h, one), stepped(b, one, y, h, one);
    stepped(b, q, y, h, two), stepped(b, two, x, h, two);
    stepped(b, two, bracket, h * h, expected);
    for (int i = 0; i < n; i++)
        assert_true(fabs(one[i] - expected[i]) < 20 * h * h * h);
}

static void brackets(void **state)
{
    of_each_joint(check_bracket);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(quaternions_become_positive), cmocka_unit_test(steps),
                                       cmocka_unit_test(rates), cmocka_unit_test(brackets)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
