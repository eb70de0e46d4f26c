/* mesh_measure.c - integrate mass, centre of mass and inertia over the triangles of a mesh.
 *
 * With a reference point r, each face with corners a, b, c spans a tetrahedron of the signed volume (a - r) . (b - r) x
 * (c - r) / 6; the integral of x_i x_j over it is V/20 (sum over pairs of corners of their products, each corner with
 * itself twice), with r at the origin, and A/12 of the same sum for the triangle itself (Blow & Binstock 2004). The
 * reference is the centroid of the faces, and then the centre of mass, as in MuJoCo: the rule `legacy` depends on it.
 */
#include "mesh.h"
#include <math.h>
#include <string.h>

#define LEAST_SIZE 1e-15 /* m^3 or m^2; MuJoCo's mjMINVAL */

/* The corners of a face, from the reference point. */
typedef struct triangle {
    double corner[3][3];
    double area, volume; /* m^2; m^3, positive if the face is seen from outside */
} triangle;

static inline void cross_product_of(const double a[3], const double b[3], double c[3])
{
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

static inline double dot_product_of(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Called three times for each face of a mesh; inlined and unrolled it takes a third of the time. */
static inline triangle triangle_from(const api_mesh *mesh, size_t face, const double reference[3])
{
    triangle t;
    double   u[3], v[3], normal[3];
#pragma GCC unroll 3
    for (int k = 0; k < 3; k++) {
        const double *vertex = &mesh->vertex[3 * (size_t)mesh->face[3 * face + (size_t)k]];
#pragma GCC unroll 3
        for (int i = 0; i < 3; i++)
            t.corner[k][i] = vertex[i] - reference[i];
    }
#pragma GCC unroll 3
    for (int i = 0; i < 3; i++) {
        u[i] = t.corner[1][i] - t.corner[0][i];
        v[i] = t.corner[2][i] - t.corner[0][i];
    }
    cross_product_of(u, v, normal);
    t.area   = sqrt(dot_product_of(normal, normal)) / 2;
    t.volume = dot_product_of(t.corner[0], normal) / 6;
    return t;
}

static double signed_weight(const triangle *t, api_mesh_rule rule)
{
    if (rule == API_MESH_SHELL) return t->area;
    return rule == API_MESH_LEGACY ? fabs(t->volume) : t->volume;
}

/* Sets `centre` to the centroid of the faces, which is the centre of mass of a shell. */
static double find_centroid(const api_mesh *mesh, double centre[3])
{
    static const double origin[3] = {0};
    double              sum[3] = {0}, area = 0;
    for (size_t f = 0; f < mesh->n_faces; f++) {
        triangle t = triangle_from(mesh, f, origin);
        area += t.area;
        for (int i = 0; i < 3; i++)
            sum[i] += t.area * (t.corner[0][i] + t.corner[1][i] + t.corner[2][i]) / 3;
    }
    for (int i = 0; i < 3; i++)
        centre[i] = area > 0 ? sum[i] / area : 0;
    return area;
}

/* Moves `centre` from the reference of the tetrahedra to their centre of mass. */
static double find_centre(const api_mesh *mesh, api_mesh_rule rule, double centre[3])
{
    double sum[3] = {0}, volume = 0;
    for (size_t f = 0; f < mesh->n_faces; f++) {
        triangle t      = triangle_from(mesh, f, centre);
        double   weight = signed_weight(&t, rule);
        volume += weight;
        for (int i = 0; i < 3; i++)
            sum[i] += weight * (t.corner[0][i] + t.corner[1][i] + t.corner[2][i]) / 4;
    }
    for (int i = 0; i < 3; i++)
        centre[i] += volume > 0 ? sum[i] / volume : 0;
    return volume;
}

/* Integral of x_i x_j, per volume or area, times 20 or 12. */
static double product(const triangle *t, int i, int j)
{
    double all_i = 0, all_j = 0, same = 0;
    for (int k = 0; k < 3; k++) {
        all_i += t->corner[k][i];
        all_j += t->corner[k][j];
        same += t->corner[k][i] * t->corner[k][j];
    }
    return same + all_i * all_j;
}

/* Sets size and tensor about the centre of mass. */
static void find_tensor(const api_mesh *mesh, api_mesh_rule rule, api_mesh_body *body)
{
    static const int pair[6][2] = {{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 2}};
    const double     part       = rule == API_MESH_SHELL ? 12 : 20;
    double           P[6]       = {0};
    body->size                  = 0;
    for (size_t f = 0; f < mesh->n_faces; f++) {
        triangle t      = triangle_from(mesh, f, body->com);
        double   weight = signed_weight(&t, rule);
        body->size += weight;
        for (int k = 0; k < 6; k++)
            P[k] += weight / part * product(&t, pair[k][0], pair[k][1]);
    }
    memcpy(body->tensor, (double[6]){P[3] + P[5], -P[1], -P[2], P[0] + P[5], -P[4], P[0] + P[3]}, sizeof body->tensor);
}

const char *api_mesh_measure(const api_mesh *mesh, api_mesh_rule rule, api_mesh_body *body,
                             char reason[API_MESH_REASON])
{
    double area = find_centroid(mesh, body->com);
    if (!(area >= LEAST_SIZE)) return api_mesh_fail(reason, "the surface of the mesh is %.3g m^2, too small", area);
    double volume = rule == API_MESH_SHELL ? area : find_centre(mesh, rule, body->com);
    if (volume < 0)
        return api_mesh_fail(reason, "the volume of the mesh is %.6g m^3, negative: its faces are turned inside out",
                             volume);
    if (!isfinite(volume)) return api_mesh_fail(reason, "the mesh is too large: its volume is not finite");
    if (!(volume >= LEAST_SIZE))
        return api_mesh_fail(reason, "the volume of the mesh is %.3g m^3, too small; a shell has a mass by its surface",
                             volume);
    find_tensor(mesh, rule, body);
    double sum = body->size;
    for (int k = 0; k < 6; k++)
        sum += fabs(body->tensor[k]);
    return isfinite(sum) ? NULL : api_mesh_fail(reason, "the mesh is too large: its inertia is not finite");
}
