/* base_parameters.c - finds base parameters (base_parameters.h). The regressor, sampled at random states, is factored
 * by QR column by column. The diagonal entry of R is, up to its sign, the length of the part of a column that is
 * independent of the columns before it. */
#include "base_parameters.h"
#include "dynamics/model/coordinates.h"
#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PANEL = 64, LOOK = 16 }; /* columns factored, columns copied between two checks of the deadline */
/* Least number of sampled states, and of regressor rows per body: in every state, the columns of the first body have
 * entries in one row only. */
enum { STATES_PER_BODY = 24 };

#define NEGLIGIBLE 1e-8  /* length of the part of a unit column outside the kept columns that counts as zero */
#define ZERO       1e-12 /* length of a column, relative to the longest, that counts as zero */
#define LEFT_OVER  1e-12 /* change of a coefficient, relative to it, that counts as a rounding error */

const size_t dyn_base_order[DYN_PER_BODY] = {4, 5, 6, 7, 8, 9, 1, 2, 3, 0};

/* A regressor over many states, column-major; factored in place. */
typedef struct samples {
    dyn_deadline  deadline;
    size_t        states, rows, columns;
    const size_t *parameter; /* [columns] index of each column's parameter */
    double       *Y;         /* rows x columns: the regressor, then its factor R and below it the reflections */
    double       *length; /* [columns] length of each column before it is scaled to 1; 0: the column is always zero */
    double       *tau;    /* [columns] factors tau of the Householder reflections (LAPACK) */
} samples;

/* Lists the parameters of all columns. Those of a joint come after those of its body, so that an effect that both
 * have is attributed to the body. */
static size_t list_columns(const dyn_mechanism *m, unsigned with, size_t *parameter)
{
    static const unsigned needs[DYN_PER_JOINT] = {DYN_BASE_ROTORS, DYN_BASE_FRICTION, DYN_BASE_FRICTION,
                                                  DYN_BASE_FRICTION};
    size_t                n = 0, fixed = m->tree->floating ? 1 : 0;
    for (size_t i = 0; i < fixed + m->tree->n_movers; i++) { /* motor coordinates come last, without a body */
        for (size_t c = 0; i < m->tree->n_rows && c < DYN_PER_BODY; c++)
            parameter[n++] = DYN_PER_BODY * i + dyn_base_order[c];
        for (size_t c = 0; i >= fixed && dyn_mover_is_estimated(m->tree, i - fixed) && c < DYN_PER_JOINT; c++)
            if (with & needs[c]) parameter[n++] = dyn_joint_parameter(m->tree, i - fixed, c);
    }
    return n;
}

/* Returns the number of states with at least `rows` rows, and a multiple of every lane width, so that every target
 * samples the same states. */
static size_t count_states(const dyn_mechanism *m, size_t rows)
{
    size_t states = m->nv > 0 ? (rows + m->nv - 1) / m->nv : 0;
    if (states < STATES_PER_BODY) states = STATES_PER_BODY;
    return (states + DYN_MAX_LANES - 1) / DYN_MAX_LANES * DYN_MAX_LANES;
}

size_t dyn_base_sample_count(const dyn_mechanism *m)
{
    return count_states(m, STATES_PER_BODY * m->tree->n_rows);
}

size_t dyn_base_candidate_states(const dyn_mechanism *m, size_t n)
{
    return count_states(m, 3 * n);
}

static size_t count_columns(const dyn_mechanism *m, unsigned with)
{
    size_t movers = 0;
    for (size_t j = 0; j < m->tree->n_movers; j++)
        movers += dyn_mover_is_estimated(m->tree, j);
    return DYN_PER_BODY * m->tree->n_rows + ((with & DYN_BASE_ROTORS) ? movers : 0) +
           ((with & DYN_BASE_FRICTION) ? 3 * movers : 0);
}

size_t dyn_base_estimate_bytes(const dyn_mechanism *m, unsigned with)
{
    size_t columns = count_columns(m, with), kernel = DYN_PER_BODY * m->tree->n_rows + 3 * m->tree->n_movers;
    return sizeof(double) *
           (columns * (dyn_base_sample_count(m) * m->nv + 2 * columns) + kernel * m->nv * DYN_MAX_LANES);
}

double dyn_base_estimate_seconds(const dyn_mechanism *m, unsigned with)
{
    double columns = (double)count_columns(m, with);
    return 1e-9 * 2 * columns * columns * (double)(dyn_base_sample_count(m) * m->nv);
}

/* --- sampling ----------------------------------------------------------------------------------------------------- */

/* Returns a random number in [-size, size) from SplitMix64 (Steele, Lea, Flood 2014). */
static double uniform(uint64_t *seed, double size)
{
    uint64_t z = *seed += 0x9E3779B97F4A7C15u;
    z          = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z          = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    z ^= z >> 31;
    return size * ((double)(z >> 11) * 0x1p-52 - 1);
}

static void sample_quaternion(uint64_t *seed, double *q, size_t W)
{
    double norm = 0;
    for (size_t i = 0; i < 4; i++) {
        q[i * W] = uniform(seed, 1);
        norm += q[i * W] * q[i * W];
    }
    for (size_t i = 0; i < 4; i++)
        q[i * W] /= sqrt(norm);
}

/* Samples one state into one lane of q, qd and qdd; entries are W apart. */
static void sample_state(const dyn_mechanism *m, uint64_t *seed, double *q, double *qd, double *qdd, size_t W)
{
    for (size_t i = 0; i < m->nq; i++)
        q[i * W] = uniform(seed, 1);
    for (size_t b = 0; b < m->tree->n_bodies; b++) {
        const dyn_body *body  = &m->tree->body[b];
        int             place = dyn_first_position(m, body), quaternion = dyn_quaternion_offset(body);
        if (place < 0) continue;
        double *coordinates = q + (size_t)place * W;
        if (body->joint.kind == DYN_REVOLUTE && !body->joint.mimic && !m->loops) *coordinates = uniform(seed, 3);
        if (quaternion >= 0) sample_quaternion(seed, coordinates + (size_t)quaternion * W, W);
    }
    for (size_t i = 0; i < m->nv; i++) {
        qd[i * W]  = uniform(seed, 2);
        qdd[i * W] = uniform(seed, 3);
    }
}

/* Arrays of the regressor kernel for W states, in lanes. */
typedef struct block {
    void   *workspace; /* workspace of the kernel; NULL: that of dyn_base_loop_solver is used */
    double *q, *qd, *qdd, *Y, *joint;
} block;

static void *take_aligned(size_t bytes)
{
    return aligned_alloc(DYN_ALIGN, (bytes + DYN_ALIGN) / DYN_ALIGN * DYN_ALIGN);
}

static bool take_block(block *b, const dyn_mechanism *m, const dyn_kernels *kernels, bool closing)
{
    size_t lane = (size_t)kernels->lanes * sizeof(double);
    *b          = (block){.workspace = closing ? NULL : take_aligned(kernels->workspace_size(m->tree)),
                          .q         = take_aligned(m->nq * lane),
                          .qd        = take_aligned(m->nv * lane),
                          .qdd       = take_aligned(m->nv * lane),
                          .Y         = take_aligned(m->nv * DYN_PER_BODY * m->tree->n_rows * lane),
                          .joint     = take_aligned(m->nv * 3 * m->tree->n_movers * lane)};
    return (b->workspace || closing) && b->q && b->qd && b->qdd && b->Y && b->joint;
}

static void free_block(block *b)
{
    free(b->workspace);
    free(b->q);
    free(b->qd);
    free(b->qdd);
    free(b->Y);
    free(b->joint);
}

/* Copies the regressor of one state to rows `row` and following. */
static void copy_state(const dyn_mechanism *m, const dyn_regressor_lane *state, samples *s, size_t row)
{
    for (size_t j = 0; j < s->columns && (j % LOOK > 0 || dyn_may_continue(s->deadline)); j++)
        for (size_t v = 0; v < m->nv; v++)
            s->Y[j * s->rows + row + v] = dyn_parameter_effort(m->tree, state, s->parameter[j], v);
}

static bool sample(const dyn_mechanism *m, const dyn_kernels *kernels, const dyn_base_loop_solver *closing,
                   const double gravity[3], samples *s)
{
    size_t    W     = (size_t)kernels->lanes;
    uint64_t  seed  = 1;
    dyn_scene scene = {.model = m->tree, .deadline = s->deadline};
    block     b;
    memcpy(scene.gravity, gravity, sizeof scene.gravity);
    bool good = take_block(&b, m, kernels, closing != NULL);
    for (size_t first = 0; good && first < s->states && dyn_may_continue(s->deadline); first += W) {
        for (size_t lane = 0; lane < W; lane++)
            sample_state(m, &seed, b.q + lane, b.qd + lane, b.qdd + lane, W);
        good = !closing || closing->close_loops(closing->arg, &scene, b.q);
        if (!good) break;
        dyn_regressor io = {.q = b.q, .qd = b.qd, .qdd = b.qdd, .regressor = b.Y, .joint_regressor = b.joint};
        kernels->regressor(&scene, closing ? closing->workspace : b.workspace, &io, 1);
        for (size_t lane = 0; lane < W; lane++) {
            dyn_regressor_lane state = {.regressor       = b.Y,
                                        .joint_regressor = b.joint,
                                        .rates           = closing ? closing->tree_velocities(closing->arg) : b.qd,
                                        .lanes           = W,
                                        .lane            = lane};
            copy_state(m, &state, s, (first + lane) * m->nv);
        }
    }
    free_block(&b);
    return good;
}

/* --- factoring ---------------------------------------------------------------------------------------------------- */

/* Scales every column of the regressor to length 1. Returns false if a length overflows. */
static bool normalise(samples *s)
{
    double longest = 0;
    bool   finite  = true;
    for (size_t j = 0; j < s->columns; j++) {
        double square = 0;
        for (size_t i = 0; i < s->rows; i++)
            square += s->Y[j * s->rows + i] * s->Y[j * s->rows + i];
        s->length[j] = sqrt(square);
        longest      = fmax(longest, s->length[j]);
        finite &= isfinite(s->length[j]) != 0;
    }
    for (size_t j = 0; j < s->columns; j++) {
        if (s->length[j] < ZERO * longest) s->length[j] = 0;
        for (size_t i = 0; i < s->rows; i++)
            s->Y[j * s->rows + i] = s->length[j] > 0 ? s->Y[j * s->rows + i] / s->length[j] : 0;
    }
    return finite;
}

/* Lists the columns to keep: those whose diagonal entry of R is larger than rounding errors. */
static size_t choose(const samples *s, size_t *kept)
{
    size_t n = 0;
    for (size_t j = 0; j < s->columns; j++)
        if (fabs(s->Y[j * s->rows + j]) > NEGLIGIBLE) kept[n++] = j;
    return n;
}

/* Solves R_kept K = R, where R_kept consists of the kept columns of the QR factor R. Column j of K expresses column
 * j of the regressor, scaled to unit length, by the kept columns. */
static double *solve(const samples *s, const size_t *kept, size_t n)
{
    double *R = calloc(n * n + 1, sizeof *R), *K = calloc(n * s->columns + 1, sizeof *K);
    for (size_t j = 0; R && K && j < s->columns; j++)
        for (size_t i = 0; i < n && kept[i] <= j; i++)
            K[j * n + i] = s->Y[j * s->rows + kept[i]];
    for (size_t j = 0; R && K && j < n; j++)
        memcpy(R + j * n, K + kept[j] * n, n * sizeof *R);
    bool solved = R && K &&
                  (n == 0 || LAPACKE_dtrtrs(LAPACK_COL_MAJOR, 'U', 'N', 'N', (lapack_int)n, (lapack_int)s->columns, R,
                                            (lapack_int)n, K, (lapack_int)n) == 0);
    free(R);
    if (solved) return K;
    free(K);
    return NULL;
}

/* --- grouping ----------------------------------------------------------------------------------------------------- */

double dyn_base_tidy(double coefficient)
{
    char text[40];
    snprintf(text, sizeof text, "%.10g", coefficient);
    double tidied = strtod(text, NULL);
    return fabs(tidied - coefficient) <= LEFT_OVER * fabs(coefficient) ? tidied : coefficient;
}

static bool belongs(const samples *s, const double *K, const dyn_base *base, size_t k, size_t j)
{
    return j > base->parameter[k] && s->length[j] > 0 && fabs(K[j * base->n + k]) >= NEGLIGIBLE;
}

static bool take_groups(const samples *s, const double *K, dyn_base *base)
{
    size_t parts = 0;
    for (size_t k = 0; k < base->n; k++)
        for (size_t j = 0; j < s->columns; j++)
            parts += belongs(s, K, base, k, j);
    base->first     = calloc(base->n + 1, sizeof *base->first);
    base->term      = calloc(parts + 1, sizeof *base->term);
    base->no_effect = calloc(s->columns + 1, sizeof *base->no_effect);
    return base->first && base->term && base->no_effect;
}

/* Converts K to the terms of every base parameter. On entry base->parameter contains indices of columns, on return
 * indices of parameters. */
static bool group(const samples *s, const double *K, dyn_base *base)
{
    size_t parts = 0;
    if (!take_groups(s, K, base)) return false;
    for (size_t k = 0; k < base->n; k++) {
        size_t kept = base->parameter[k];
        for (size_t j = kept + 1; j < s->columns; j++)
            if (belongs(s, K, base, k, j))
                base->term[parts++] = (dyn_base_term){
                    s->parameter[j], dyn_base_tidy(K[j * base->n + k] * s->length[j] / s->length[kept])};
        base->first[k + 1] = parts;
    }
    for (size_t j = 0; j < s->columns; j++)
        if (s->length[j] == 0) base->no_effect[base->n_no_effect++] = s->parameter[j];
    for (size_t k = 0; k < base->n; k++)
        base->parameter[k] = s->parameter[base->parameter[k]];
    return true;
}

double dyn_base_value(const dyn_base *base, size_t k, const double *parameters)
{
    double value = parameters[base->parameter[k]];
    for (size_t i = base->first[k]; i < base->first[k + 1]; i++)
        value += base->term[i].coefficient * parameters[base->term[i].parameter];
    return value;
}

/* --- the whole ---------------------------------------------------------------------------------------------------- */

/* Factors the n columns from `first` on, and applies their reflections to all later columns. The earlier columns are
 * already factored. */
static bool factor_panel(samples *s, size_t first, size_t n)
{
    lapack_int ld = (lapack_int)s->rows, rows = (lapack_int)(s->rows - first), columns = (lapack_int)n;
    double    *panel = s->Y + first * s->rows + first;
    if (LAPACKE_dgeqrf(LAPACK_COL_MAJOR, rows, columns, panel, ld, s->tau + first) != 0) return false;
    for (size_t next = first + n; next < s->columns; next += PANEL) {
        const size_t left   = s->columns - next;
        lapack_int   some   = (lapack_int)(left < PANEL ? left : PANEL);
        double      *others = s->Y + next * s->rows + first;
        if (!dyn_may_continue(s->deadline) ||
            LAPACKE_dormqr(LAPACK_COL_MAJOR, 'L', 'T', rows, some, columns, panel, ld, s->tau + first, others, ld) != 0)
            return false;
    }
    return true;
}

static bool factor(samples *s, bool *too_large)
{
    *too_large = !normalise(s);
    if (*too_large) return false;
    for (size_t first = 0; first < s->columns; first += PANEL) {
        size_t left = s->columns - first;
        if (!dyn_may_continue(s->deadline) || !factor_panel(s, first, left < PANEL ? left : PANEL)) return false;
    }
    return dyn_may_continue(s->deadline);
}

static bool read_factors(const samples *s, dyn_base *base)
{
    base->n    = choose(s, base->parameter);
    double *K  = solve(s, base->parameter, base->n);
    bool    ok = K && group(s, K, base);
    free(K);
    return ok;
}

dyn_base *dyn_base_find_among(const dyn_mechanism *m, const dyn_kernels *kernels, const dyn_base_loop_solver *closing,
                              const dyn_base_candidates *among, dyn_deadline deadline, bool *too_large)
{
    samples   s = {.deadline = deadline, .states = among->states, .columns = among->n, .parameter = among->parameter};
    dyn_base *base = calloc(1, sizeof *base);
    *too_large     = false;
    s.rows         = s.states * m->nv;
    s.Y            = calloc(s.rows * s.columns + 1, sizeof *s.Y);
    s.length       = calloc(s.columns + 1, sizeof *s.length);
    s.tau          = calloc(s.columns + 1, sizeof *s.tau);
    if (base) base->parameter = calloc(s.columns + 1, sizeof *base->parameter);
    bool found = base && base->parameter && s.Y && s.length && s.tau;
    found = found && sample(m, kernels, closing, among->gravity, &s) && factor(&s, too_large) && read_factors(&s, base);
    free(s.Y);
    free(s.length);
    free(s.tau);
    if (found) return base;
    dyn_base_free(base);
    return NULL;
}

dyn_base *dyn_base_find(const dyn_mechanism *m, const dyn_kernels *kernels, const dyn_base_loop_solver *closing,
                        unsigned with, dyn_deadline deadline, bool *too_large)
{
    size_t             *parameter = calloc(count_columns(m, with) + 1, sizeof *parameter);
    dyn_base_candidates among     = {.parameter = parameter, .states = dyn_base_sample_count(m)};
    dyn_base           *base      = NULL;
    *too_large                    = false;
    memcpy(among.gravity, m->tree->gravity, sizeof among.gravity);
    if (parameter) {
        among.n = list_columns(m, with, parameter);
        base    = dyn_base_find_among(m, kernels, closing, &among, deadline, too_large);
    }
    free(parameter);
    return base;
}

void dyn_base_free(dyn_base *base)
{
    if (!base) return;
    free(base->parameter);
    free(base->first);
    free(base->term);
    free(base->no_effect);
    free(base);
}
