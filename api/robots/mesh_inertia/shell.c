/* shell.c - see shell.h. A surface is a sum of parts, each with its share of the area: plates (box), a tube and two
 * disks (cylinder), a tube and two half spheres (capsule). Moments of the parts are the standard integrals (e.g. Symon,
 * Mechanics, ch. 10), moved to the common centre by the parallel axis theorem. */
#include "shell.h"
#include <math.h>
#include <string.h>

#define THOMSEN   1.6075 /* exponent of Thomsen's approximation of the area of an ellipsoid */
#define THICKNESS 1e-6   /* m, of the shell of an ellipsoid in MuJoCo */

static double ellipsoid_area(const double *s)
{
    double sum = pow(s[0] * s[1], THOMSEN) + pow(s[1] * s[2], THOMSEN) + pow(s[2] * s[0], THOMSEN);
    return 4 * M_PI * pow(sum / 3, 1 / THOMSEN);
}

double api_shell_area(api_solid solid, const double *size)
{
    double r = size[0];
    switch (solid) {
    case API_BOX: return 2 * (size[0] * size[1] + size[1] * size[2] + size[2] * size[0]);
    case API_CYLINDER: return 2 * M_PI * r * (r + size[1]);
    case API_SPHERE: return 4 * M_PI * r * r;
    case API_ELLIPSOID: return ellipsoid_area(size);
    case API_CAPSULE: return 2 * M_PI * r * (2 * r + size[1]);
    case API_SOLIDS: break;
    }
    return 0;
}

/* Adds the two faces normal to axis i. */
static void add_faces(const double *edge, int i, double share, double I[3])
{
    int    j = (i + 1) % 3, k = (i + 2) % 3;
    double u = edge[j] * edge[j] / 12, v = edge[k] * edge[k] / 12, away = edge[i] * edge[i] / 4;
    I[i] += share * (u + v);
    I[j] += share * (v + away);
    I[k] += share * (u + away);
}

static void box_moments(const double *edge, double mass, double I[3])
{
    double area = api_shell_area(API_BOX, edge);
    for (int i = 0; i < 3; i++)
        add_faces(edge, i, mass * (2 * edge[(i + 1) % 3] * edge[(i + 2) % 3] / area), I);
}

static void add_tube(double r, double L, double share, double I[3])
{
    I[0] += share * (6 * r * r + L * L) / 12;
    I[1] = I[0];
    I[2] += share * r * r;
}

static void cylinder_moments(double r, double L, double mass, double I[3])
{
    double disks = mass * (r / (r + L)), across = disks * (r * r + L * L) / 4;
    I[0] += across;
    I[2] += disks * r * r / 2;
    add_tube(r, L, mass - disks, I);
}

/* The centre of mass of a half sphere lies r/2 beyond the end of the tube: its transverse moment about the capsule's
 * centre is m (2/3 r^2 - r^2/4 + (L/2 + r/2)^2). */
static void capsule_moments(double r, double L, double mass, double I[3])
{
    double ends = mass * (2 * r / (2 * r + L)), about_end = 2 * ends * r * r / 3;
    I[0] += about_end + ends * (L * L + 2 * L * r) / 4;
    I[2] += about_end;
    add_tube(r, L, mass - ends, I);
}

/* Difference of two ellipsoids in which neither volumes nor squares cancel. */
static void ellipsoid_moments(const double *s, double mass, double I[3])
{
    double e = THICKNESS, V = s[0] * s[1] * s[2];
    double added = e * (s[0] * s[1] + s[1] * s[2] + s[2] * s[0]) + e * e * (s[0] + s[1] + s[2]) + e * e * e;
    for (int i = 0; i < 3; i++) {
        double u = s[(i + 1) % 3], v = s[(i + 2) % 3];
        double wider = 2 * e * (u + v) + 2 * e * e;
        I[i]         = mass / 5 * (u * u + v * v + wider + V * wider / added);
    }
}

static void moments(api_solid solid, const double *size, double mass, double I[3])
{
    switch (solid) {
    case API_BOX: box_moments(size, mass, I); break;
    case API_CYLINDER: cylinder_moments(size[0], size[1], mass, I); break;
    case API_SPHERE: I[0] = I[1] = I[2] = 2 * mass * size[0] * size[0] / 3; break;
    case API_ELLIPSOID: ellipsoid_moments(size, mass, I); break;
    case API_CAPSULE: capsule_moments(size[0], size[1], mass, I); break;
    case API_SOLIDS: break;
    }
}

dyn_inertia api_shell_inertia(api_solid solid, const double *size, double mass, const dyn_pose *X)
{
    double I[3] = {0};
    moments(solid, size, mass, I);
    return api_principal_inertia(mass, I, X);
}
