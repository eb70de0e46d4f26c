/* rigid_contact_solver.c - solves for the forces of planes at rigid points of a robot (rigid_contact_solver.h). */
#include "rigid_newton.h"
#include <lapacke.h>
#include <math.h>
#include <string.h>

#define NEGLIGIBLE 1e-10 /* part of the largest |b|: rounding errors of pulling forces, negative gaps and cones */
#define CONSISTENT 1e-5  /* part of the largest |b|: residual up to which dependent equations count as consistent */

/* Part of the largest diagonal entry of A: if the entry of a row is smaller, forces do not move the point along that
 * row. */
#define IMMOBILE 1e-14

#define LESS      1e-3 /* relative reduction of the friction coefficients at the start of the last searches */
#define MUCH_LESS 1e-2

enum {
    SWEEPS = 50, /* Gauss-Seidel sweeps of the first round; each later round has four times as many */
    ROUNDS = 5,
    STARTS = 200,      /* random starts of Newton's method, fewer if there are many rows */
    SOLVES = 10000000, /* bound of starts x rows^3, which takes some seconds */
    CHECK  = 1 << 17   /* entries of A between two checks of the deadline: less than a millisecond */
};

/* The rows along which the acceleration a must vanish: equations of the linear system. */
typedef struct row_list {
    size_t n, row[DYN_RIGID_MOST_ROWS];
} row_list;

/* --- arrays ------------------------------------------------------------------------------------------------------- */

size_t dyn_rigid_problem_entries(size_t nv, size_t n)
{
    const size_t k = DYN_RIGID_ROWS * n;
    return nv * nv + nv * k + 2 * k * k + 4 * k + nv + (4 * k + 1);
}

void dyn_rigid_problem_lay_out(dyn_rigid_problem *p, size_t n, double *room)
{
    const size_t k = DYN_RIGID_ROWS * n;
    p->L           = room;
    p->X           = p->L + p->nv * p->nv;
    p->A           = p->X + p->nv * k;
    p->system      = p->A + k * k;
    p->b           = p->system + k * k;
    p->force       = p->b + k;
    p->left        = p->force + k;
    p->right       = p->left + k;
    p->change      = p->right + k;
    p->work        = p->change + p->nv;
}

bool dyn_rigid_problem_factor(dyn_rigid_problem *p)
{
    const size_t     nv = p->nv, k = dyn_rigid_rows(p);
    const lapack_int rows = (lapack_int)nv, columns = (lapack_int)k;
    if (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', rows, p->L, rows) != 0) return false;
    if (k > 0 && LAPACKE_dtrtrs_work(LAPACK_COL_MAJOR, 'L', 'N', 'N', rows, columns, p->L, rows, p->X, rows) != 0)
        return false;
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = 0;
            for (size_t v = 0; v < nv; v++)
                sum += p->X[v + nv * i] * p->X[v + nv * j];
            if (!isfinite(sum)) return false;
            p->A[i + k * j] = p->A[j + k * i] = sum;
        }
    return true;
}

void dyn_rigid_problem_add_change(const dyn_rigid_problem *p, double *x, size_t stride)
{
    const size_t     nv   = p->nv;
    const lapack_int rows = (lapack_int)nv;
    for (size_t v = 0; v < nv; v++) {
        double sum = 0;
        for (size_t a = 0; a < dyn_rigid_rows(p); a++)
            sum += p->X[v + nv * a] * p->force[a];
        p->change[v] = sum;
    }
    LAPACKE_dtrtrs_work(LAPACK_COL_MAJOR, 'L', 'T', 'N', rows, 1, p->L, rows, p->change, rows);
    for (size_t v = 0; v < nv; v++)
        x[v * stride] += p->change[v];
}

/* Returns entry a of A f + b: the acceleration or, in an impact, the velocity along row a. */
static double left_at(const dyn_rigid_problem *p, size_t a)
{
    const size_t k   = dyn_rigid_rows(p);
    double       sum = p->b[a];
    for (size_t c = 0; c < k; c++)
        sum += p->A[a + k * c] * p->force[c];
    return sum;
}

void dyn_rigid_find_left(const dyn_rigid_problem *p)
{
    for (size_t a = 0; a < dyn_rigid_rows(p); a++)
        p->left[a] = left_at(p, a);
}

/* Returns the largest |b|. */
static double largest_right_side(const dyn_rigid_problem *p)
{
    double size = 0;
    for (size_t a = 0; a < dyn_rigid_rows(p); a++)
        size = fmax(size, fabs(p->b[a]));
    return size;
}

bool dyn_rigid_is_mobile(const dyn_rigid_problem *p, size_t a)
{
    const size_t k     = dyn_rigid_rows(p);
    double       scale = 0;
    for (size_t c = 0; c < k; c++)
        scale = fmax(scale, p->A[c + k * c]);
    return p->A[a + k * a] > IMMOBILE * scale;
}

/* --- the linear system -------------------------------------------------------------------------------------------- */

static row_list list_equations(const dyn_rigid_problem *p, const bool *bears)
{
    row_list list = {.n = 0};
    for (size_t i = 0; i < p->n; i++) {
        if (!bears[i]) continue;
        list.row[list.n++] = 3 * i + 2;
        if (p->mode[i] != DYN_RIGID_STICKS) continue;
        list.row[list.n++] = 3 * i;
        list.row[list.n++] = 3 * i + 1;
    }
    return list;
}

double dyn_rigid_drag(const dyn_rigid_problem *p, size_t a, size_t j)
{
    const size_t i = a / DYN_RIGID_ROWS;
    return a % DYN_RIGID_ROWS == 2 && p->mode[i] == DYN_RIGID_SLIDES ? -p->friction[i] * p->direction[i][j] : 0;
}

static void fill_system(const dyn_rigid_problem *p, const row_list *list)
{
    const size_t k = dyn_rigid_rows(p);
    for (size_t c = 0; c < list->n; c++) {
        const size_t a = list->row[c], first = a - a % DYN_RIGID_ROWS;
        for (size_t r = 0; r < list->n; r++) {
            const double *row = p->A + list->row[r];
            p->system[r + list->n * c] =
                row[k * a] + dyn_rigid_drag(p, a, 0) * row[k * first] + dyn_rigid_drag(p, a, 1) * row[k * (first + 1)];
        }
        p->right[c] = -p->b[a];
    }
}

/* Sets f to the forces of least norm that give a = 0 in the listed rows, and computes all of a. Returns false if the
 * equations contradict each other. */
static bool balance_rows(dyn_rigid_problem *p, const row_list *list, double size)
{
    const lapack_int n = (lapack_int)list->n, room = 4 * n + 1;
    lapack_int       pivot[DYN_RIGID_MOST_ROWS] = {0}, rank = 0;
    memset(p->force, 0, dyn_rigid_rows(p) * sizeof *p->force);
    fill_system(p, list);
    if (n > 0 && LAPACKE_dgelsy_work(LAPACK_COL_MAJOR, n, n, 1, p->system, n, p->right, n, pivot, DYN_RIGID_DEPENDENT,
                                     &rank, p->work, room) != 0)
        return false;
    for (size_t c = 0; c < list->n; c++) {
        const size_t a = list->row[c], first = a - a % DYN_RIGID_ROWS;
        p->force[a] += p->right[c];
        p->force[first] += dyn_rigid_drag(p, a, 0) * p->right[c];
        p->force[first + 1] += dyn_rigid_drag(p, a, 1) * p->right[c];
    }
    dyn_rigid_find_left(p);
    bool consistent = true;
    for (size_t c = 0; c < list->n; c++)
        consistent = consistent && fabs(p->left[list->row[c]]) <= CONSISTENT * size;
    return consistent;
}

bool dyn_rigid_problem_hold(dyn_rigid_problem *p)
{
    bool bears[DYN_MAX_RIGID] = {false};
    for (size_t i = 0; i < p->n; i++) {
        bears[i]       = true;
        p->friction[i] = 0;
    }
    const row_list list = list_equations(p, bears);
    balance_rows(p, &list, largest_right_side(p));
    for (size_t a = 0; a < dyn_rigid_rows(p); a++)
        if (!isfinite(p->force[a])) return false;
    return true;
}

/* --- inequalities ------------------------------------------------------------------------------------------------- */

/* Returns the contact whose normal violates its condition most: its force pulls, or it has no force and its point
 * accelerates into the ground. Returns p->n if there is none. */
static size_t find_worst_normal(const dyn_rigid_problem *p, const bool *bears, double size)
{
    const size_t k     = dyn_rigid_rows(p);
    size_t       worst = p->n;
    double       least = -NEGLIGIBLE * size;
    for (size_t i = 0; i < p->n; i++) {
        const size_t a     = 3 * i + 2;
        const double value = bears[i] ? p->force[a] * p->A[a + k * a] : p->left[a];
        if (!(value < least) || !dyn_rigid_is_mobile(p, a)) continue;
        least = value;
        worst = i;
    }
    return worst;
}

static bool are_in_cones(const dyn_rigid_problem *p, double size)
{
    const size_t k = dyn_rigid_rows(p);
    for (size_t i = 0; i < p->n; i++) {
        const double *f = p->force + 3 * i, stiffness = p->A[3 * i * (k + 1)] + p->A[(3 * i + 1) * (k + 1)];
        if (p->mode[i] != DYN_RIGID_STICKS) continue;
        if (!((hypot(f[0], f[1]) - p->friction[i] * f[2]) * stiffness <= NEGLIGIBLE * size)) return false;
    }
    return true;
}

/* Finds forces from linear systems. Removes one by one contacts whose force would pull, or adds contacts whose point
 * would enter the ground. Returns false if no solution is found, if the force of a contact is outside its friction
 * cone, or if the deadline passes. */
static bool solve_linear(dyn_rigid_problem *p, double size, dyn_deadline deadline)
{
    bool bears[DYN_MAX_RIGID] = {false};
    for (size_t i = 0; i < p->n; i++)
        bears[i] = true;
    for (size_t turn = 0; turn <= 2 * p->n && dyn_may_continue(deadline); turn++) {
        const row_list list = list_equations(p, bears);
        if (!balance_rows(p, &list, size)) return false;
        const size_t worst = find_worst_normal(p, bears, size);
        if (worst == p->n) return are_in_cones(p, size);
        bears[worst] = !bears[worst];
    }
    return false;
}

/* --- projected Gauss-Seidel --------------------------------------------------------------------------------------- */

/* Sets force a to `to`. Returns the magnitude of the change of entry a of A f + b that this causes. */
static double move_force(const dyn_rigid_problem *p, size_t a, double to)
{
    const double change = to - p->force[a];
    p->force[a]         = to;
    return fabs(change) * p->A[a * (dyn_rigid_rows(p) + 1)];
}

/* Updates the normal force of contact i so that a_n = 0 or f_n = 0; if the contact slides, also its friction. Returns
 * the change of a that this causes; infinity if no normal force keeps the contact closed. */
static double update_normal(const dyn_rigid_problem *p, size_t i)
{
    const size_t k = dyn_rigid_rows(p), a = 3 * i + 2;
    const double x = dyn_rigid_drag(p, a, 0), y = dyn_rigid_drag(p, a, 1),
                 stiffness = p->A[a + k * a] + x * p->A[a + k * (a - 2)] + y * p->A[a + k * (a - 1)];
    if (!dyn_rigid_is_mobile(p, a)) return 0;
    if (!(stiffness > 0)) return HUGE_VAL;
    const double normal = fmax(0, p->force[a] - left_at(p, a) / stiffness), moved = move_force(p, a, normal);
    if (p->mode[i] == DYN_RIGID_SLIDES) {
        p->force[a - 2] = x * normal;
        p->force[a - 1] = y * normal;
    }
    return moved;
}

double dyn_rigid_friction_stiffness(const dyn_rigid_problem *p, size_t i)
{
    const size_t k = dyn_rigid_rows(p), a = 3 * i;
    const double xx = p->A[a + k * a], yy = p->A[(a + 1) * (k + 1)], xy = p->A[a + k * (a + 1)];
    return 0.5 * (xx + yy) + hypot(0.5 * (xx - yy), xy);
}

/* Updates the friction of a sticking contact: takes a gradient step against a_t and projects the result on the friction
 * cone. Returns the change of a that this causes. */
static double update_friction(const dyn_rigid_problem *p, size_t i)
{
    const size_t a         = 3 * i;
    const double stiffness = dyn_rigid_friction_stiffness(p, i), most = p->friction[i] * p->force[a + 2];
    if (p->mode[i] != DYN_RIGID_STICKS || (!dyn_rigid_is_mobile(p, a) && !dyn_rigid_is_mobile(p, a + 1))) return 0;
    const double x = p->force[a] - left_at(p, a) / stiffness, y = p->force[a + 1] - left_at(p, a + 1) / stiffness,
                 size = hypot(x, y), part = size > most ? most / size : 1;
    return move_force(p, a, part * x) + move_force(p, a + 1, part * y);
}

/* Projects all forces on their friction cones; the result is the start of the sweeps. */
static void project_forces(const dyn_rigid_problem *p)
{
    for (size_t i = 0; i < p->n; i++) {
        double *f = p->force + 3 * i, most = p->friction[i] * fmax(f[2], 0), size = hypot(f[0], f[1]);
        if (!isfinite(f[2]) || !isfinite(size)) f[0] = f[1] = f[2] = most = size = 0;
        f[2] = fmax(f[2], 0);
        for (int j = 0; j < 2; j++)
            f[j] *= size > most ? most / size : 1;
    }
}

/* Does projected Gauss-Seidel sweeps over all contacts, at most `sweeps`. Returns false if with friction no normal
 * force keeps a sliding contact closed, or if the deadline passes. */
static bool relax(dyn_rigid_problem *p, double size, int sweeps, dyn_deadline deadline)
{
    const int between = 1 + CHECK / (int)(dyn_rigid_rows(p) * dyn_rigid_rows(p));
    for (int sweep = 0; sweep < sweeps; sweep++) {
        double change = 0;
        if (sweep % between == 0 && !dyn_may_continue(deadline)) return false;
        for (size_t i = 0; i < p->n; i++) {
            change = fmax(change, update_normal(p, i));
            change = fmax(change, update_friction(p, i));
        }
        if (!isfinite(change)) return false;
        if (change <= DYN_RIGID_RESIDUAL * size) return true;
    }
    return true;
}

/* Refines the forces with all friction coefficients reduced by the fraction `part`, then with the true coefficients
 * from there. If sticking contacts reach their cones together, the residual has minima above zero close to the solution
 * in which one of them slides. */
static bool refine_from_less_friction(dyn_rigid_problem *p, double part, dyn_deadline deadline)
{
    double friction[DYN_MAX_RIGID];
    memcpy(friction, p->friction, p->n * sizeof *friction);
    for (size_t i = 0; i < p->n; i++)
        p->friction[i] *= 1 - part;
    project_forces(p);
    const bool refined = dyn_rigid_refine(p, deadline);
    memcpy(p->friction, friction, p->n * sizeof *friction);
    return refined && dyn_rigid_refine(p, deadline);
}

/* Draws a number from 0 to 1 from a linear congruential generator. */
static double draw_unit(uint64_t *state)
{
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    return (double)(*state >> 11) * 0x1p-53;
}

/* Refines forces that are drawn at random, the same ones in each call. This is the last resort: the residual has minima
 * above zero, at which Newton's method ends from most starts, and from the forces that the sweeps reach. */
static bool refine_from_random_forces(dyn_rigid_problem *p, double size, dyn_deadline deadline)
{
    const size_t k       = dyn_rigid_rows(p);
    uint64_t     state   = 1;
    double       largest = 0;
    for (size_t a = 0; a < k; a++)
        largest = fmax(largest, p->A[a + k * a]);
    for (size_t start = 0; start < STARTS && start * k * k * k < SOLVES && dyn_may_continue(deadline); start++) {
        const double scale = size / largest * ldexp(0.125, (int)(14 * draw_unit(&state)));
        for (size_t a = 0; a < k; a++)
            p->force[a] = scale * (draw_unit(&state) - (a % DYN_RIGID_ROWS == 2 ? 0.3 : 0.5));
        project_forces(p);
        if (dyn_rigid_refine(p, deadline)) return true;
    }
    return false;
}

static bool iterate(dyn_rigid_problem *p, double size, dyn_deadline deadline)
{
    double relaxed[DYN_RIGID_MOST_ROWS];
    project_forces(p);
    for (int round = 0, sweeps = SWEEPS; round < ROUNDS; round++, sweeps *= 4) {
        if (!relax(p, size, sweeps, deadline)) return false;
        memcpy(relaxed, p->force, dyn_rigid_rows(p) * sizeof *relaxed);
        if (dyn_rigid_refine(p, deadline)) return true;
        memcpy(p->force, relaxed, dyn_rigid_rows(p) * sizeof *relaxed);
    }
    if (refine_from_less_friction(p, LESS, deadline)) return true;
    memcpy(p->force, relaxed, dyn_rigid_rows(p) * sizeof *relaxed);
    return refine_from_less_friction(p, MUCH_LESS, deadline) || refine_from_random_forces(p, size, deadline);
}

bool dyn_rigid_problem_solve(dyn_rigid_problem *p, dyn_deadline deadline)
{
    const double size = largest_right_side(p);
    memset(p->force, 0, dyn_rigid_rows(p) * sizeof *p->force);
    dyn_rigid_find_left(p);
    if (!isfinite(size)) return false;
    return !(size > 0) || solve_linear(p, size, deadline) || iterate(p, size, deadline);
}
