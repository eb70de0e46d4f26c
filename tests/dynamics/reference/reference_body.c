/* reference_body.c - computes dense 6x6 inertias and Newton-Euler about the world's origin (equations in reference.h).
 */
#include "reference_body.h"
#include <stdlib.h>

void *reference_allocate(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size);
    if (!p) abort();
    return p;
}

void joint_column(const motion_link *l, int c, int k, real s[6])
{
    for (int i = 0; i < 3; i++) {
        s[i]     = jet_derivative(l->lin[c].e[i], k);
        s[3 + i] = jet_derivative(l->ang[c].e[i], k);
    }
}

static const dyn_inertia *link_inertia(const reference *r, size_t k)
{
    return k == 0 ? &r->d->base_inertia : &r->d->links[k - 1].inertia;
}

static double link_compensation(const reference *r, size_t k)
{
    return k == 0 ? r->d->base_gravity_compensation : r->d->links[k - 1].gravity_compensation;
}

/* Computes the spatial inertia of a link about the world's origin, with the centre of mass c in the world: I = [[m 1,
 * -m [c]x], [m [c]x, R I_c R^T - m [c]x [c]x]]. */
static void place_inertia(const motion_link *l, const dyn_inertia *inertia, body *b)
{
    static const int entry[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};
    real             m = b->mass = inertia->mass, S[3][3];
    for (int i = 0; i < 3; i++) {
        b->com[i] = l->p.e[i].c[0];
        for (int j = 0; j < 3; j++)
            b->com[i] += l->R.e[i][j].c[0] * inertia->com[j];
    }
    const real *c          = b->com;
    const real  skew[3][3] = {{0, -c[2], c[1]}, {c[2], 0, -c[0]}, {-c[1], c[0], 0}};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            S[i][j] = 0;
            for (int k = 0; k < 3; k++) {
                S[i][j] -= m * skew[i][k] * skew[k][j];
                for (int n = 0; n < 3; n++)
                    S[i][j] += l->R.e[i][k].c[0] * inertia->about_com[entry[k][n]] * l->R.e[j][n].c[0];
            }
        }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            b->I[i][j]         = i == j ? m : 0;
            b->I[i][3 + j]     = -m * skew[i][j];
            b->I[3 + i][j]     = m * skew[i][j];
            b->I[3 + i][3 + j] = S[i][j];
        }
}

body *place_bodies(const reference *r, reference_state state)
{
    const motion *m = &r->m;
    body         *b = reference_allocate(m->n, sizeof *b);
    for (size_t k = 0; k < m->n; k++) {
        if (!m->link[k].moves) continue;
        place_inertia(&m->link[k], link_inertia(r, k), &b[k]);
        b[k].share = 1 - link_compensation(r, k);
        for (int a = (int)k; a >= 0; a = m->link[a].parent)
            for (int c = 0; c < m->link[a].n; c++) {
                real s[6], s_dot[6];
                int  v = m->link[a].v + c;
                joint_column(&m->link[a], c, 0, s);
                joint_column(&m->link[a], c, 1, s_dot);
                for (int i = 0; i < 6; i++) {
                    b[k].v[i] += state.qd ? s[i] * state.qd[v] : 0;
                    b[k].drive[i] += state.qdd ? s[i] * state.qdd[v] : 0;
                    b[k].drift[i] += state.qd ? s_dot[i] * state.qd[v] : 0;
                }
            }
    }
    return b;
}

/* --- forces on one body, about the world's origin ----------------------------------------------------------- */

/* Adds the velocity-dependent force v x* I v to f. */
void add_gyroscopic(const body *b, real f[6])
{
    real h[6], wf[3], wn[3], vf[3];
    apply6(b->I, b->v, h);
    cross(b->v + 3, h, wf);
    cross(b->v + 3, h + 3, wn);
    cross(b->v, h, vf);
    for (int i = 0; i < 3; i++) {
        f[i] += wf[i];
        f[3 + i] += wn[i] + vf[i];
    }
}

/* Adds -I a_g, minus the weight without its compensation, to f. */
void add_antigravity(const body *b, const double gravity[3], real f[6])
{
    const real s      = b->share;
    real       a_g[6] = {s * gravity[0], s * gravity[1], s * gravity[2], 0, 0, 0}, weight[6];
    apply6(b->I, a_g, weight);
    for (int i = 0; i < 6; i++)
        f[i] -= weight[i];
}

/* Subtracts the external wrench W from f, with its torque moved from its point of application to the world's origin. */
static void subtract_wrench(const motion_link *l, const reference_wrench *w, real f[6])
{
    real force[3] = {0}, torque[3] = {0}, point[3], moment[3];
    for (int i = 0; i < 3; i++) {
        point[i] = l->p.e[i].c[0];
        for (int j = 0; j < 3; j++) {
            real R = w->world_axes ? i == j : l->R.e[i][j].c[0];
            force[i] += R * w->force[j];
            torque[i] += R * w->torque[j];
            point[i] += l->R.e[i][j].c[0] * w->point[j];
        }
    }
    cross(point, force, moment);
    for (int i = 0; i < 3; i++) {
        f[i] -= force[i];
        f[3 + i] -= torque[i] + moment[i];
    }
}

/* Computes the force that the motion of body k requires from the joints, I a + v x* I v - I a_g - W. If `drive` is
 * false, a lacks J qdd. */
void body_force(const reference *r, size_t k, const reference_scene *scene, bool drive, real f[6])
{
    const body *b = &r->b[k];
    real        a[6];
    for (int i = 0; i < 6; i++)
        a[i] = b->drift[i] + (drive ? b->drive[i] : 0);
    apply6(b->I, a, f);
    add_gyroscopic(b, f);
    add_antigravity(b, scene->gravity, f);
    for (size_t i = 0; i < scene->n_wrenches; i++)
        if (scene->wrench[i].link + 1 == (int)k) subtract_wrench(&r->m.link[k], &scene->wrench[i], f);
}
