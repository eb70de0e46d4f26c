/* robots.c - describes an arm and a four-bar linkage, link by link (samples.h). */
#include "samples.h"
#include "dynamics/loops/loops_build.h"
#include "dynamics/loop_reference/reference.h"
#include "dynamics/math/geometry.h"

static const dyn_loop_joint four_bar_joints[FOUR_BAR_LINKS] = {
    {.passive = false, .home = (double[]){0.9}}, /* crank */
    {.passive = true, .home = (double[]){-0.6}}, /* coupler, relative to the crank */
    {.passive = true, .home = (double[]){1.3}},  /* rocker */
};

/* Returns a link on a revolute joint about `axis` at (x, y, z) of its parent. Its inertia is not set. */
static dyn_link hinge(int parent, dyn_axis axis, double x, double y, double z)
{
    return (dyn_link){.parent = parent,
                      .joint  = DYN_REVOLUTE,
                      .before = dyn_pose_translation(x, y, z),
                      .axis   = {axis == DYN_X, axis == DYN_Y, axis == DYN_Z},
                      .after  = dyn_pose_identity(),
                      .ratio  = 1};
}

dyn_description describe_arm(dyn_link links[ARM_LINKS])
{
    links[0] = hinge(DYN_WORLD, DYN_Z, 0, 0, 0.3);
    links[1] = hinge(0, DYN_Y, 0.05, 0, 0.2);
    links[2] = hinge(1, DYN_Y, 0.4, 0.02, 0);

    links[0].inertia  = (dyn_inertia){4, {0.01, 0.02, 0.08}, {0.03, 0.001, -0.002, 0.035, 0.0015, 0.02}};
    links[1].inertia  = (dyn_inertia){2.5, {0.18, -0.01, 0.02}, {0.005, 0.0004, -0.0006, 0.04, 0.0002, 0.042}};
    links[2].inertia  = (dyn_inertia){1.2, {0.12, 0.01, -0.015}, {0.002, -0.0003, 0.0005, 0.012, 0.0001, 0.013}};
    links[0].friction = (dyn_friction){.viscous = 0.4, .positive = 0.6, .negative = 0.5};
    links[1].friction = (dyn_friction){.viscous = 0.3, .positive = 0.5, .negative = 0.55};
    links[2].friction = (dyn_friction){.viscous = 0.1, .positive = 0.2, .negative = 0.2};
    return (dyn_description){.gravity = {0, 0, -9.81}, .n_links = ARM_LINKS, .links = links};
}

dyn_description describe_four_bar(dyn_link links[FOUR_BAR_LINKS])
{
    links[0] = hinge(DYN_WORLD, DYN_Z, 0, 0, 0);
    links[1] = hinge(0, DYN_Z, 0.3, 0, 0);
    links[2] = hinge(DYN_WORLD, DYN_Z, 0.7, 0.1, 0);

    links[0].inertia = (dyn_inertia){1.1, {0.14, 0.01, 0}, {0.001, 0, 0, 0.009, 0, 0.01}};
    links[1].inertia = (dyn_inertia){1.6, {0.35, -0.02, 0}, {0.001, 0, 0, 0.06, 0, 0.061}};
    links[2].inertia = (dyn_inertia){1.3, {0.27, 0.03, 0}, {0.001, 0, 0, 0.03, 0, 0.031}};
    return (dyn_description){.gravity = {0, -9.81, 0}, .n_links = FOUR_BAR_LINKS, .links = links};
}

/* Returns the frame at the point (x, 0, 0) of a link. */
static dyn_frame frame_on(const dyn_model *tree, int link, double x)
{
    const dyn_pose X_lf = dyn_pose_translation(x, 0, 0);
    return (dyn_frame){tree->link[link].body, dyn_pose_compose(&tree->link[link].X_bl, &X_lf)};
}

bool build_four_bar(dyn_memory memory, four_bar *to)
{
    dyn_link         links[FOUR_BAR_LINKS];
    dyn_description  description = describe_four_bar(links);
    dyn_loop_failure failure;
    dyn_loop        *pin  = dyn_take(memory, sizeof *pin);
    dyn_frame_pair  *ends = dyn_take(memory, sizeof *ends);
    *to                   = (four_bar){0};
    if (!pin || !ends || dyn_model_build(&description, &to->tree, NULL) != DYN_OK) return false;
    *pin      = (dyn_loop){.name = "pin", .kind = DYN_LOOP_REVOLUTE, .u = {0, 0, 1}};
    *ends     = (dyn_frame_pair){frame_on(to->tree, 1, 0.75), frame_on(to->tree, 2, 0.6)};
    to->loops = (dyn_loops){.n = 1, .loop = pin, .pair = ends};
    if (dyn_loops_build(memory, to->tree, four_bar_joints, &to->loops, NULL) != DYN_LOOPS_BUILT) return false;
    to->mechanism = dyn_mechanism_of(to->tree, &to->loops);
    return dyn_loop_find_reference(memory, &to->mechanism, (dyn_deadline){0}, &failure);
}
