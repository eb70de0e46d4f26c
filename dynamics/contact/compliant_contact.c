/* compliant_contact.c - finds the forces of planes on points of a robot (compliant_contact.h). */
#include "compliant_contact.h"
#include "dynamics/dynamics.h"
#include <math.h>
#include <string.h>

bool dyn_compliant_contacts_open(dyn_memory memory, size_t W, size_t n, const dyn_compliant_contact *point,
                                 dyn_compliant_contacts *points)
{
    bool room        = true;
    *points          = (dyn_compliant_contacts){.n = n, .point = point};
    points->position = dyn_take_zeroed(memory, 3 * W, &room);
    points->velocity = dyn_take_zeroed(memory, 6 * W, &room);
    points->forces   = dyn_take_zeroed(memory, 3 * points->n * W, &room);
    return room;
}

dyn_wrench_site dyn_compliant_contacts_site(const dyn_compliant_contact *point)
{
    return (dyn_wrench_site){.body = point->frame.body, .X_bl = point->frame.X_bf, .world_axes = true};
}

/* Finds the force at a point in one lane; x and v are its position and velocity. */
static void find_plane_force(const dyn_compliant_contact *point, const double x[3], const double v[3], double force[3])
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
static void set_plane_force(const dyn_compliant_contacts *points, size_t i, size_t W)
{
    for (size_t l = 0; l < W; l++) {
        double x[3], v[3], force[3];
        for (size_t k = 0; k < 3; k++) {
            x[k] = points->position[k * W + l];
            v[k] = points->velocity[k * W + l];
        }
        find_plane_force(&points->point[i], x, v, force);
        for (size_t k = 0; k < 3; k++)
            points->forces[(3 * i + k) * W + l] = force[k];
    }
}

void dyn_compliant_contacts_find(const dyn_compliant_contacts *points, const dyn_contact_states *states, size_t W,
                                 dyn_deadline deadline)
{
    for (size_t i = 0; i < points->n && dyn_may_continue(deadline); i++) {
        const dyn_frame *frame = &points->point[i].frame;
        dyn_kinematics   io    = {.q         = states->q,
                                  .qd        = states->qd,
                                  .n_frames  = 1,
                                  .frames    = frame,
                                  .positions = points->position,
                                  .frame     = frame,
                                  .velocity  = points->velocity};
        states->kernels->kinematics(states->scene, states->workspace, &io, 1);
        set_plane_force(points, i, W);
    }
}

void dyn_compliant_contacts_put(const dyn_compliant_contacts *points, size_t W, size_t n, double *wrenches)
{
    for (size_t i = 0; i < points->n; i++)
        memcpy(wrenches + 9 * (n - points->n + i) * W, points->forces + 3 * i * W, 3 * W * sizeof *wrenches);
}

double dyn_compliant_contacts_longest_step(const dyn_compliant_contacts *points, double mass)
{
    double stiffness = 0;
    for (size_t i = 0; i < points->n; i++)
        stiffness = fmax(stiffness, points->point[i].stiffness);
    return stiffness > 0 ? 0.5 * sqrt(mass / stiffness) : 0;
}
