/* published.c - builds the robots of published.h. */
#include "published.h"
#include "pose.h"
#include <math.h>
#include <string.h>

#define IDENTITY                                                                                                       \
    {                                                                                                                  \
        {1, 0, 0}, {0, 1, 0},                                                                                          \
        {                                                                                                              \
            0, 0, 1                                                                                                    \
        }                                                                                                              \
    }

/* Gives link l a joint about the screw axis S = [w; v], v = -w x r, in the base frame at home. `parent` and `child` are
 * the home poses of the two link frames in the base frame. The joint frame is the base frame moved to r = w x v /
 * |w|^2; the joint rotates by |w| q. */
static void screw_joint(dyn_link *l, const double S[6], const dyn_pose *parent, const dyn_pose *child)
{
    const double *w = S, *v = S + 3;
    double        square = w[0] * w[0] + w[1] * w[1] + w[2] * w[2];
    dyn_pose      joint = {.R = IDENTITY}, from_parent = pose_inverse(parent);
    for (int i = 0; i < 3; i++) {
        joint.p[i] = (w[(i + 1) % 3] * v[(i + 2) % 3] - w[(i + 2) % 3] * v[(i + 1) % 3]) / square;
        l->axis[i] = w[i] / sqrt(square);
    }
    dyn_pose from_joint = pose_inverse(&joint);
    l->joint            = DYN_REVOLUTE;
    l->before           = pose_compose(&from_parent, &joint);
    l->after            = pose_compose(&from_joint, child);
    l->ratio            = sqrt(square);
}

void published_three_link(published *robot)
{
    static const dyn_pose M[4] = {
        {IDENTITY, {0, 0, 0.089159}},
        {{{0, 0, 1}, {0, 1, 0}, {-1, 0, 0}}, {0.28, 0.13585, 0}},
        {IDENTITY, {0, -0.1197, 0.395}},
        {IDENTITY, {0, 0, 0.14225}},
    };
    static const double S[3][6] = {{1, 0, 1, 0, 1, 0}, {0, 1, 0, -0.089, 0, 0}, {0, 1, 0, -0.089, 0, 0.425}};
    static const double G[3][4] = {{0.010267, 0.010267, 0.00666, 3.7},
                                   {0.22689, 0.22689, 0.0151074, 8.393},
                                   {0.0494433, 0.0494433, 0.004095, 2.275}};
    dyn_pose            home    = {.R = IDENTITY};
    memset(robot, 0, sizeof *robot);
    for (int i = 0; i < 3; i++) {
        dyn_link *l     = &robot->link[i];
        dyn_pose  child = pose_compose(&home, &M[i]);
        screw_joint(l, S[i], &home, &child);
        home       = child;
        l->parent  = i - 1;
        l->inertia = (dyn_inertia){.mass = G[i][3], .about_com = {G[i][0], 0, 0, G[i][1], 0, G[i][2]}};
    }
    robot->tip         = M[3];
    robot->description = (dyn_description){.gravity = {0, 0, -9.8}, .n_links = 3, .links = robot->link};
}

typedef struct dh_row {
    double a, d, sin_alpha; /* alpha is 0 or +-90 deg */
    double mass, com[3], inertia[3];
    double motor_inertia, gear, viscous, positive, negative; /* on the motor's side of the gear */
} dh_row;

void published_puma560(published *robot)
{
    static const dh_row row[6] = {
        {0, 0, 1, 0, {0, 0, 0}, {0, .35, 0}, 2e-4, -62.6111, 1.48e-3, .395, .435},
        {.4318, 0, 0, 17.4, {-.3638, .006, .2275}, {.13, .524, .539}, 2e-4, 107.815, .817e-3, .126, .071},
        {.0203, .15005, -1, 4.8, {-.0203, -.0141, .07}, {.066, .086, .0125}, 2e-4, -53.7063, 1.38e-3, .132, .105},
        {0, .4318, 1, .82, {0, .019, 0}, {1.8e-3, 1.3e-3, 1.8e-3}, 33e-6, 76.0364, 71.2e-6, .0112, .0169},
        {0, 0, -1, .34, {0, 0, 0}, {.3e-3, .4e-3, .3e-3}, 33e-6, 71.923, 82.6e-6, .00926, .0145},
        {0, 0, 0, .09, {0, 0, .032}, {.15e-3, .15e-3, .04e-3}, 33e-6, 76.686, 36.7e-6, .00396, .0105},
    };
    memset(robot, 0, sizeof *robot);
    for (int i = 0; i < 6; i++) {
        const dh_row *r = &row[i];
        double        c = r->sin_alpha == 0, s = r->sin_alpha, gear2 = r->gear * r->gear;
        robot->link[i] = (dyn_link){
            .parent                 = i - 1,
            .joint                  = DYN_REVOLUTE,
            .before                 = {.R = IDENTITY},
            .axis                   = {0, 0, 1},
            .after                  = {.R = {{1, 0, 0}, {0, c, -s}, {0, s, c}}, .p = {r->a, 0, r->d}},
            .ratio                  = 1,
            .moment_at_parent_frame = true,
            .inertia                = {.mass      = r->mass,
                                       .com       = {r->com[0], r->com[1], r->com[2]},
                                       .about_com = {r->inertia[0], 0, 0, r->inertia[1], 0, r->inertia[2]}},
            .rotor_inertia          = gear2 * r->motor_inertia,
            .friction               = {.viscous  = gear2 * r->viscous,
                                       .positive = fabs(r->gear) * r->positive,
                                       .negative = fabs(r->gear) * r->negative},
        };
    }
    robot->tip         = (dyn_pose){.R = IDENTITY};
    robot->description = (dyn_description){.gravity = {0, 0, -9.81}, .n_links = 6, .links = robot->link};
}
