/* small_tree.c - builds the tree of small_tree.h. */
#include "small_tree.h"
#include "check.h"
#include <math.h>

const dyn_pose small_identity = {.R = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};

dyn_pose turn_z_then_x(double gamma, double alpha)
{
    double cg = cos(gamma), sg = sin(gamma), ca = cos(alpha), sa = sin(alpha);
    return (dyn_pose){.R = {{cg, -sg * ca, sg * sa}, {sg, cg * ca, -cg * sa}, {0, sa, ca}}};
}

dyn_link small_link(int parent, dyn_pose before)
{
    return (dyn_link){.parent  = parent,
                      .joint   = DYN_REVOLUTE,
                      .before  = before,
                      .axis    = {0, 0, 1},
                      .after   = small_identity,
                      .ratio   = 1,
                      .inertia = {.mass = 1, .com = {0.1, 0.2, 0.3}, .about_com = {1, 0, 0, 1, 0, 1}}};
}

dyn_model *small_build(const dyn_description *d)
{
    dyn_model *model = NULL;
    assert_int_equal(dyn_model_build(d, &model, NULL), DYN_OK);
    assert_non_null(model);
    return model;
}

void small_tree(dyn_link link[7])
{
    const int            parent[7] = {DYN_WORLD, 0, 1, 0, 3, DYN_WORLD, 5};
    const dyn_joint_kind kind[7]   = {DYN_REVOLUTE, DYN_FIXED, DYN_PRISMATIC, DYN_REVOLUTE,
                                      DYN_FIXED,    DYN_FIXED, DYN_REVOLUTE};
    for (int i = 0; i < 7; i++) {
        dyn_pose before      = turn_z_then_x(0.1 * i, 0.2);
        before.p[i % 3]      = 0.1 + i;
        link[i]              = small_link(parent[i], before);
        link[i].joint        = kind[i];
        link[i].after.p[0]   = 0.3;
        link[i].inertia.mass = i + 1;
    }
}
