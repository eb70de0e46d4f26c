/* inertia.c - see inertia.h: eigenvalues, solids, sums. The moments of the solids are the standard integrals (e.g.
 * Symon, Mechanics, ch. 10). */
#include "inertia.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Index of entry i,j of a symmetric matrix in the order xx xy xz yy yz zz. */
static const int tensor_index[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};

/* One Jacobi rotation J in the plane p, q, which makes A[p][q] zero (Golub & Van Loan 2013, 8.5): A <- J^T A J,
 * V <- V J. */
static void annihilate(double A[3][3], double V[3][3], int p, int q)
{
    if (A[p][q] == 0) return;
    double theta = (A[q][q] - A[p][p]) / (2 * A[p][q]);
    double t     = copysign(1, theta) / (fabs(theta) + sqrt(theta * theta + 1));
    double c = 1 / sqrt(t * t + 1), s = t * c;
    for (int k = 0; k < 3; k++) { /* A <- A J, V <- V J */
        double a = A[k][p], b = A[k][q], v = V[k][p], w = V[k][q];
        A[k][p] = c * a - s * b;
        A[k][q] = s * a + c * b;
        V[k][p] = c * v - s * w;
        V[k][q] = s * v + c * w;
    }
    for (int k = 0; k < 3; k++) { /* A <- J^T A */
        double a = A[p][k], b = A[q][k];
        A[p][k] = c * a - s * b;
        A[q][k] = s * a + c * b;
    }
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The tensor is first scaled to entries of at most 1, so that no square overflows. Each sweep of the cyclic Jacobi
 * method squares the off-diagonal part: eight sweeps suffice. */
void api_tensor_principal(const double T[6], double moments[3], double axes[3][3])
{
    double scale = 0, A[3][3];
    for (int i = 0; i < 6; i++)
        scale = fmax(scale, fabs(T[i]));
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            A[i][j]    = scale > 0 ? T[tensor_index[i][j]] / scale : 0;
            axes[i][j] = i == j;
        }
    for (int sweep = 0; sweep < 8; sweep++) {
        annihilate(A, axes, 0, 1);
        annihilate(A, axes, 0, 2);
        annihilate(A, axes, 1, 2);
    }
    for (int i = 0; i < 3; i++)
        moments[i] = scale * A[i][i];
}

/* Eigenvalues of a symmetric tensor in ascending order. */
static void eigenvalues(const double T[6], double lambda[3])
{
    double axes[3][3];
    api_tensor_principal(T, lambda, axes);
    qsort(lambda, 3, sizeof *lambda, ascending);
}

#define ROUNDING 1e-12 /* m^2: squared radius of gyration of a micrometre, below which a moment is rounding */

/* True if a principal moment is negative beyond rounding. */
static bool has_negative_moment(const dyn_inertia *inertia, double lambda[3])
{
    eigenvalues(inertia->about_com, lambda);
    return lambda[0] < -1e-9 * lambda[2] - ROUNDING * inertia->mass;
}

const char *api_inertia_refusal(const dyn_inertia *inertia, char reason[160])
{
    double lambda[3];
    if (!isfinite(inertia->mass)) {
        snprintf(reason, 160, "the mass is not a finite number");
        return reason;
    }
    if (inertia->mass < 0) {
        snprintf(reason, 160, "the mass %.6g kg is negative", inertia->mass);
        return reason;
    }
    for (int i = 0; i < 6; i++)
        if (!isfinite(inertia->about_com[i])) {
            snprintf(reason, 160, "the inertia tensor is not finite");
            return reason;
        }
    if (!has_negative_moment(inertia, lambda)) return NULL;
    snprintf(reason, 160,
             "the inertia tensor about the centre of mass has the negative principal moment %.6g kg m^2 "
             "(the largest is %.6g)",
             lambda[0], lambda[2]);
    return reason;
}

bool api_inertia_is_indefinite(const dyn_inertia *inertia)
{
    double lambda[3];
    bool   finite = isfinite(inertia->mass) && inertia->mass >= 0;
    for (int i = 0; i < 6; i++)
        finite = finite && isfinite(inertia->about_com[i]);
    return finite && has_negative_moment(inertia, lambda);
}

const char *api_inertia_suspicion(const dyn_inertia *inertia, char reason[160])
{
    double lambda[3];
    eigenvalues(inertia->about_com, lambda);
    if (inertia->mass == 0 && lambda[2] > 0) {
        snprintf(reason, 160, "an inertia tensor without a mass");
        return reason;
    }
    /* The principal moments of a flat body satisfy l0 + l1 = l2 exactly; the margin covers rounding. */
    if (lambda[0] + lambda[1] >= lambda[2] * (1 - 1e-9) - ROUNDING * inertia->mass) return NULL;
    snprintf(reason, 160,
             "the principal moments %.6g, %.6g, %.6g kg m^2 violate the triangle inequality: no real body has them",
             lambda[0], lambda[1], lambda[2]);
    return reason;
}

const api_solid_form *api_solid_form_of(api_solid solid)
{
    static const api_solid_form forms[API_SOLIDS] = {
        [API_BOX]       = {"box", 3, "[edge x, edge y, edge z]"},
        [API_CYLINDER]  = {"cylinder", 2, "[radius, length along z]"},
        [API_SPHERE]    = {"sphere", 1, "[radius]"},
        [API_ELLIPSOID] = {"ellipsoid", 3, "[semi-axis x, semi-axis y, semi-axis z]"},
        [API_CAPSULE]   = {"capsule", 2, "[radius, length of the cylindrical part along z]"},
    };
    return &forms[solid];
}

double api_solid_volume(api_solid solid, const double *size)
{
    double r = size[0];
    switch (solid) {
    case API_BOX: return size[0] * size[1] * size[2];
    case API_CYLINDER: return M_PI * r * r * size[1];
    case API_SPHERE: return 4 * M_PI / 3 * r * r * r;
    case API_ELLIPSOID: return 4 * M_PI / 3 * size[0] * size[1] * size[2];
    case API_CAPSULE: return M_PI * r * r * (size[1] + 4 * r / 3);
    case API_SOLIDS: break;
    }
    return 0;
}

/* A capsule is a cylinder and two half balls, with masses in proportion to their volumes, L : 4r/3. The centre of
 * mass of a half ball lies 3r/8 above its flat face, so its transverse moment about the capsule's centre is m (2/5
 * r^2 + L^2/4 + 3/8 L r). */
static void capsule_moments(double r, double L, double mass, double I[3])
{
    double whole    = L + 4 * r / 3;
    double cylinder = whole > 0 ? mass * (L / whole) : 0;
    double ends     = whole > 0 ? mass * (4 * r / 3 / whole) : 0;
    I[0] = I[1] = cylinder * (3 * r * r + L * L) / 12 + ends * (0.4 * r * r + L * L / 4 + 0.375 * L * r);
    I[2]        = cylinder * r * r / 2 + ends * 0.4 * r * r;
}

/* Computes the principal moments of a solid about its centre, along its own axes. */
static void moments(api_solid solid, const double *size, double mass, double I[3])
{
    double r = size[0];
    switch (solid) {
    case API_BOX:
        for (int i = 0; i < 3; i++) {
            double u = size[(i + 1) % 3], v = size[(i + 2) % 3];
            I[i] = mass * (u * u + v * v) / 12;
        }
        break;
    case API_CYLINDER:
        I[0] = I[1] = mass * (3 * r * r + size[1] * size[1]) / 12;
        I[2]        = mass * r * r / 2;
        break;
    case API_SPHERE: I[0] = I[1] = I[2] = 0.4 * mass * r * r; break;
    case API_ELLIPSOID:
        for (int i = 0; i < 3; i++) {
            double u = size[(i + 1) % 3], v = size[(i + 2) % 3];
            I[i] = mass * (u * u + v * v) / 5;
        }
        break;
    case API_CAPSULE: capsule_moments(r, size[1], mass, I); break;
    case API_SOLIDS: break;
    }
}

dyn_inertia api_solid_inertia(api_solid solid, const double *size, double mass, const dyn_pose *X)
{
    double I[3] = {0};
    moments(solid, size, mass, I);
    return api_principal_inertia(mass, I, X);
}

dyn_inertia api_principal_inertia(double mass, const double I[3], const dyn_pose *X)
{
    const double T[6]    = {[0] = I[0], [3] = I[1], [5] = I[2]};
    dyn_inertia  inertia = {.mass = mass};
    api_tensor_rotate((const double(*)[3])X->R, T, inertia.about_com);
    memcpy(inertia.com, X->p, sizeof inertia.com);
    return inertia;
}

void api_tensor_rotate(const double R[3][3], const double T[6], double turned[6])
{
    double RT[3][3];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            RT[i][j] =
                R[i][0] * T[tensor_index[0][j]] + R[i][1] * T[tensor_index[1][j]] + R[i][2] * T[tensor_index[2][j]];
    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3; j++)
            turned[tensor_index[i][j]] = RT[i][0] * R[j][0] + RT[i][1] * R[j][1] + RT[i][2] * R[j][2];
}

/* Adds inertia tensors about the centres of mass: T += T' + m m' / (m + m') (d.d 1 - d d^T), where m, m' are the
 * masses of the two bodies, and d points from one centre of mass to the other. */
void api_inertia_add(dyn_inertia *sum, const dyn_inertia *other)
{
    double mass = sum->mass + other->mass, share = mass > 0 ? other->mass / mass : 0, d[3], square = 0;
    for (int i = 0; i < 3; i++) {
        d[i] = other->com[i] - sum->com[i];
        square += d[i] * d[i];
        sum->com[i] += share * d[i];
    }
    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3; j++)
            sum->about_com[tensor_index[i][j]] +=
                other->about_com[tensor_index[i][j]] + sum->mass * share * ((i == j ? square : 0) - d[i] * d[j]);
    sum->mass = mass;
}

/* --- what simulators refuse ----------------------------------------------------------------------------------------
 */

#define LEAST_DIFFERENCE 1e-9

bool api_inertia_is_impossible(const dyn_inertia *inertia)
{
    double I[3], axes[3][3];
    bool   impossible = false;
    api_tensor_principal(inertia->about_com, I, axes);
    double largest = fmax(I[0], fmax(I[1], I[2]));
    for (int i = 0; i < 3; i++)
        impossible |=
            I[i] < -LEAST_DIFFERENCE * largest || I[(i + 1) % 3] + I[(i + 2) % 3] < I[i] * (1 - LEAST_DIFFERENCE);
    return impossible;
}

bool api_inertia_is_plate(const dyn_inertia *inertia)
{
    double I[3], axes[3][3];
    bool   plate = false;
    api_tensor_principal(inertia->about_com, I, axes);
    for (int i = 0; i < 3; i++) {
        double others = I[(i + 1) % 3] + I[(i + 2) % 3];
        plate |= I[i] > 0 && others >= I[i] * (1 - LEAST_DIFFERENCE) && others <= I[i] * (1 + LEAST_DIFFERENCE);
    }
    return plate;
}

void api_inertia_round_moments(double I[3])
{
    double largest = fmax(I[0], fmax(I[1], I[2]));
    for (int i = 0; i < 3; i++)
        if (I[i] < 0 && I[i] >= -LEAST_DIFFERENCE * largest) I[i] = 0;
    for (int i = 0; i < 3; i++) {
        double others = I[(i + 1) % 3] + I[(i + 2) % 3];
        if (others < I[i] && others >= I[i] * (1 - LEAST_DIFFERENCE)) I[i] = others;
    }
}
