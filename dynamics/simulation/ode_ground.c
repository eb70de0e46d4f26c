/* ode_ground.c - finds the forces of planes on points of a simulated robot (ode_ground.h). */
#include "ode_ground.h"
#include <math.h>

struct dyn_ode_ground {
    double *position, *velocity; /* in lanes: 3 and 6, of one point */
    double *forces;              /* in lanes: 3 per point */
};

bool dyn_ode_ground_open(dyn_memory memory, dyn_robot_ode *ode)
{
    bool room = true;
    if (ode->s->n_ground == 0) return true;
    dyn_ode_ground *g = ode->ground = dyn_take(memory, sizeof *g);
    if (!g) return false;
    g->position = dyn_take_zeroed(memory, 3 * ode->W, &room);
    g->velocity = dyn_take_zeroed(memory, 6 * ode->W, &room);
    g->forces   = dyn_take_zeroed(memory, 3 * ode->s->n_ground * ode->W, &room);
    return room;
}

dyn_wrench_site dyn_ode_ground_site(const dyn_ground_point *point)
{
    return (dyn_wrench_site){.body = point->frame.body, .X_bl = point->frame.X_bf, .world_axes = true};
}

/* Finds the force at a point in one lane; x and v are its position and velocity. */
static void find_plane_force(const dyn_ground_point *point, const double x[3], const double v[3], double force[3])
{
    const double *n   = point->normal;
    double        gap = 0, rate = 0, slip = point->slip * point->slip;
    for (int i = 0; i < 3; i++) {
        gap += n[i] * (x[i] - point->point[i]);
        rate += n[i] * v[i];
    }
    for (int i = 0; i < 3; i++) {
        const double along = v[i] - rate * n[i];
        slip += along * along;
    }
    const double normal = gap < 0 ? fmax(-point->stiffness * gap * (1 - point->dissipation * rate), 0) : 0;
    const double drag   = point->friction * normal / sqrt(slip);
    for (int i = 0; i < 3; i++)
        force[i] = normal * n[i] - drag * (v[i] - rate * n[i]);
}

/* Sets the force at point i from its position and velocity in all lanes. */
static void set_plane_force(const dyn_robot_ode *ode, size_t i)
{
    const dyn_ode_ground *g = ode->ground;
    const size_t          W = ode->W, wrench = ode->s->scene->n_wrenches - ode->s->n_ground + i;
    for (size_t l = 0; l < W; l++) {
        double x[3], v[3], force[3];
        for (size_t k = 0; k < 3; k++) {
            x[k] = g->position[k * W + l];
            v[k] = g->velocity[k * W + l];
        }
        find_plane_force(&ode->s->ground[i], x, v, force);
        for (size_t k = 0; k < 3; k++)
            ode->wrenches[(9 * wrench + k) * W + l] = g->forces[(3 * i + k) * W + l] = force[k];
    }
}

void dyn_ode_ground_set(dyn_robot_ode *ode, const double *qd)
{
    const dyn_ode_ground *g = ode->ground;
    for (size_t i = 0; i < ode->s->n_ground && dyn_may_continue(ode->state.deadline); i++) {
        const dyn_frame *frame = &ode->s->ground[i].frame;
        dyn_kinematics   io    = {.q         = ode->q,
                                  .qd        = qd,
                                  .n_frames  = 1,
                                  .frames    = frame,
                                  .positions = g->position,
                                  .frame     = frame,
                                  .velocity  = g->velocity};
        ode->kernels->kinematics(ode->s->scene, ode->workspace, &io, 1);
        set_plane_force(ode, i);
    }
}

const double *dyn_ode_ground_forces(const dyn_robot_ode *ode)
{
    return ode->ground->forces;
}
