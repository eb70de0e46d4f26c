/* test_identify.c - what identification is made of: parameters by number, base parameters with those of joints, least
 * squares block by block, and parameters of robots that could be built. */
#include "api/identification/consistent.h"
#include "api/identification/triangle.h"
#include "door.h"
#include "models.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double draw(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) * 0x1p-52 - 1; /* [-1, 1) */
}

static double *numbers(size_t n)
{
    size_t  bytes = (n * sizeof(double) / DYN_ALIGN + 1) * DYN_ALIGN;
    double *array = aligned_alloc(DYN_ALIGN, bytes);
    assert_non_null(array);
    memset(array, 0, bytes);
    return array;
}

#define BODY                                                                                                           \
    "'inertial':{'mass':2,'com':[0.1,-0.2,0.3],'inertia':{'xx':0.5,'yy':0.6,'zz':0.7,'xy':0.01,'xz':-0.02,'yz':0.03}}"
#define JOINT(name, type, axis, more)                                                                                  \
    "'joint':{'name':'" name "','type':'" type "','axis':" axis                                                        \
    ",'origin':{'xyz':[0.1,0.2,0.3],'rpy':[0.3,-0.2,0.5]},'friction':{'viscous':0.3,'coulomb':{'positive':2,"          \
    "'negative':3}},'rotor_inertia':0.4" more "}"
#define LINK(name, parent, joint) "{'name':'" name "','parent':'" parent "'," joint "," BODY "}"
/* a merged link, a slide, a joint that mimics with another sense */
#define ROBOT(base)                                                                                                    \
    "{'base':{'type':'" base "','link':'base'," BODY                                                                   \
    "},'links':[" LINK("a", "base", JOINT("ja", "revolute", "[1,2,3]", "")) "," LINK(                                  \
        "b", "a",                                                                                                      \
        JOINT("jb", "prismatic", "[0,1,1]",                                                                            \
              "")) ",{'name':'m','parent':'b','joint':{'name':'jm',"                                                   \
                   "'type':'fixed','origin':{'xyz':[0,0,1]}}," BODY                                                    \
                   "}," LINK("c", "a",                                                                                 \
                             JOINT("jc", "revolute", "[0,0,1]",                                                        \
                                   ",'mimic':{'joint':'ja','multiplier':-2,'offset':0.3}")) "]}"

/* One random state, and the kernels on it in one lane. */
typedef struct motion {
    const dyn_kernels *kernels;
    dyn_scene          scene;
    void              *workspace;
    double            *q, *qd, *qdd, *Y, *joint, *tau;
} motion;

static motion motion_open(const api_model *m)
{
    motion at = {.kernels = dyn_kernels_find("scalar"), .scene = {.model = m->dyn, .terms = DYN_FRICTION}};
    memcpy(at.scene.gravity, m->dyn->gravity, sizeof at.scene.gravity);
    at.workspace = numbers(at.kernels->workspace_size(m->dyn) / sizeof(double) + 1);
    at.q         = numbers(m->nq);
    at.qd        = numbers(m->nv);
    at.qdd       = numbers(m->nv);
    at.tau       = numbers(m->nv);
    at.Y         = numbers(m->nv * 10 * m->n_bodies);
    at.joint     = numbers(m->nv * 3 * m->n_joints);
    return at;
}

static void motion_draw(const api_model *m, motion *at, uint64_t *seed)
{
    double norm = 0;
    for (size_t i = 0; i < m->nq; i++)
        at->q[i] = 2 * draw(seed);
    for (size_t i = 3; m->dyn->floating && i < 7; i++)
        norm += at->q[i] * at->q[i];
    for (size_t i = 3; m->dyn->floating && i < 7; i++)
        at->q[i] /= sqrt(norm);
    for (size_t v = 0; v < m->nv; v++) {
        at->qd[v]  = 2 * draw(seed);
        at->qdd[v] = 3 * draw(seed);
    }
    dyn_regressor io = {.q = at->q, .qd = at->qd, .qdd = at->qdd, .regressor = at->Y, .joint_regressor = at->joint};
    dyn_inverse_dynamics id = {.q = at->q, .qd = at->qd, .qdd = at->qdd, .tau = at->tau};
    at->kernels->regressor(&at->scene, at->workspace, &io, 1);
    at->kernels->inverse_dynamics(&at->scene, at->workspace, &id, 1);
}

static void motion_close(motion *at)
{
    free(at->workspace);
    free(at->q);
    free(at->qd);
    free(at->qdd);
    free(at->tau);
    free(at->Y);
    free(at->joint);
}

static api_regressed regressed(const motion *at)
{
    return (api_regressed){.regressor = at->Y, .joint_regressor = at->joint, .rates = at->qd, .lanes = 1};
}

/* --- parameters ------------------------------------------------------------------------------------------------- */

static void check_own_parameters(const char *document)
{
    api_model *m   = model_of(document);
    motion     at  = motion_open(m);
    size_t     n   = api_parameter_count(m);
    double    *own = numbers(n), *tau = numbers(m->nv);
    uint64_t   seed = 3;
    api_parameters_of(m, own);
    for (int i = 0; i < 20; i++) {
        motion_draw(m, &at, &seed);
        api_regressed r = regressed(&at);
        for (size_t v = 0; v < m->nv; v++) {
            tau[v] = 0;
            for (size_t k = 0; k < n; k++) {
                double effort = api_parameter_effort(m, &r, k, v);
                if (!api_parameter_acts(m, k, v)) assert_true(effort == 0);
                tau[v] += effort * own[k];
            }
        }
        assert_close(tau, at.tau, m->nv, 1e-12);
    }
    motion_close(&at);
    free(own);
    free(tau);
    api_model_release(m);
}

/* A model's own parameters times its columns are its torques, asymmetric friction and all. */
static void own_parameters_make_the_torques(void **state)
{
    check_own_parameters(ROBOT("fixed"));
    check_own_parameters(ROBOT("floating"));
}

static void parameters_have_names(void **state)
{
    static const char *const expected[] = {"base.m", "a.Ixx", "c.Izz", "ja.rotor_inertia", "jc.coulomb_negative"};
    static const size_t      number[]   = {0, 14, 39, 40, 51};
    api_model               *m          = model_of(ROBOT("floating"));
    char                     name[API_PARAMETER_NAME];
    assert_int_equal(api_parameter_count(m), 52);
    for (size_t i = 0; i < 5; i++) {
        api_parameter_name(m, number[i], name);
        assert_string_equal(name, expected[i]);
    }
    assert_int_equal(api_joint_parameter(m, 2, API_COULOMB_NEGATIVE), 51);
    api_model_release(m);
}

static void pseudo_inertia_there_and_back(void **state)
{
    double   p[API_PER_BODY], J[16], again[API_PER_BODY];
    uint64_t seed = 1;
    for (int i = 0; i < API_PER_BODY; i++)
        p[i] = draw(&seed);
    api_pseudo_inertia(p, J);
    api_pseudo_inertia_parameters(J, again);
    assert_close(again, p, API_PER_BODY, 1e-15);
    assert_true(J[0] + J[5] == p[9] || fabs(J[0] + J[5] - p[9]) < 1e-15); /* Izz = int x^2 + y^2 dm */
    assert_true(J[1] == -p[5] && J[3] == p[1] && J[15] == p[0]);
}

/* --- base parameters -------------------------------------------------------------------------------------------- */

/* Whatever the parameters, all columns times them are the kept columns times their groups. */
static void check_base(const char *document, unsigned with)
{
    api_model *m    = model_of(document);
    motion     at   = motion_open(m);
    api_base  *base = api_base_find(m, at.kernels, NULL, with);
    size_t     n    = api_parameter_count(m);
    double    *pi = numbers(n), *whole = numbers(m->nv), *grouped = numbers(m->nv);
    uint64_t   seed = 5;
    assert_non_null(base);
    for (size_t k = 0; k < n; k++) {
        bool   joint = k >= 10 * m->n_bodies, rotor = joint && (k - 10 * m->n_bodies) % 4 == API_ROTOR_INERTIA;
        double x = draw(&seed);
        pi[k]    = !joint || (with & (rotor ? API_BASE_ROTORS : API_BASE_FRICTION)) ? x : 0;
    }
    for (int i = 0; i < 20; i++) {
        motion_draw(m, &at, &seed);
        api_regressed r = regressed(&at);
        for (size_t v = 0; v < m->nv; v++) {
            whole[v] = grouped[v] = 0;
            for (size_t k = 0; k < n; k++)
                whole[v] += api_parameter_effort(m, &r, k, v) * pi[k];
            for (size_t k = 0; k < base->n; k++)
                grouped[v] += api_parameter_effort(m, &r, base->parameter[k], v) * api_base_value(base, k, pi);
            for (size_t k = 0; k < base->n_without; k++)
                assert_true(fabs(api_parameter_effort(m, &r, base->without[k], v)) < 1e-12);
        }
        assert_close(grouped, whole, m->nv, 1e-8);
    }
    api_base_free(base);
    motion_close(&at);
    free(pi);
    free(whole);
    free(grouped);
    api_model_release(m);
}

static void base_parameters_make_the_torques(void **state)
{
    for (unsigned with = 0; with < 4; with++) {
        check_base(ROBOT("fixed"), with);
        check_base(ROBOT("floating"), with);
    }
}

/* Joints that share a coordinate share their rotors and friction; with the ratio -2, positive and negative change
 * places: tau_a = -2 tau_c. */
static void joints_on_one_coordinate(void **state)
{
    api_model *m     = model_of(ROBOT("fixed"));
    api_base  *base  = api_base_find(m, dyn_kernels_find("scalar"), NULL, API_BASE_FRICTION);
    size_t     found = 0;
    assert_non_null(base);
    for (size_t k = 0; k < base->n; k++) {
        static const double coefficient[] = {0, 4, 2, 2};
        size_t              j             = base->parameter[k] - 10 * m->n_bodies;
        if (base->parameter[k] < 10 * m->n_bodies || j >= 4) continue;
        const api_base_part *part  = &base->part[base->first[k]];
        size_t               other = j == API_VISCOUS ? j : API_COULOMB_POSITIVE + API_COULOMB_NEGATIVE - j;
        assert_int_equal(base->first[k + 1] - base->first[k], 1);
        assert_int_equal(part->parameter, api_joint_parameter(m, 2, other));
        assert_true(part->coefficient == coefficient[j]);
        found++;
    }
    assert_int_equal(found, 3);
    api_base_free(base);
    api_model_release(m);
}

/* --- least squares ---------------------------------------------------------------------------------------------- */

enum { N = 7, ROWS = 200 };

/* Rows of unknowns and right side, by columns. */
static void draw_rows(double *rows, uint64_t seed)
{
    for (size_t j = 0; j <= N; j++)
        for (size_t i = 0; i < ROWS; i++)
            rows[j * ROWS + i] = draw(&seed) * pow(10, (double)j - 3);
}

/* Factored in blocks of `block`; the caller frees. */
static double *factor(const double *rows, size_t block)
{
    double *R = numbers((N + 1) * (N + 1)), *scratch = numbers(api_triangle_scratch(N + 1)), part[(N + 1) * ROWS];
    for (size_t first = 0; first < ROWS; first += block) {
        size_t m = ROWS - first < block ? ROWS - first : block;
        for (size_t j = 0; j <= N; j++)
            memcpy(part + j * ROWS, rows + j * ROWS + first, m * sizeof *part);
        assert_true(api_triangle_add(R, N + 1, part, m, ROWS, scratch));
    }
    free(scratch);
    return R;
}

typedef struct solution {
    double x[N], inverse[N * N], condition;
    bool   unseen[N];
} solution;

static api_solved solve(const double *R, solution *s)
{
    double      *scratch = numbers(api_triangle_solve_scratch(N));
    api_unknowns u       = {.n = N, .x = s->x, .inverse = s->inverse, .unseen = s->unseen};
    api_solved   solved  = api_triangle_solve(R, &u, scratch);
    s->condition         = u.condition;
    free(scratch);
    return solved;
}

/* AT (A x - b) = 0, and inverse inverseT AT A = 1. */
static void blocks_make_the_least_squares(void **state)
{
    static const size_t blocks[] = {1, 5, 64, ROWS};
    double             *rows     = numbers((N + 1) * ROWS);
    draw_rows(rows, 1);
    for (size_t b = 0; b < 4; b++) {
        solution s;
        double  *R = factor(rows, blocks[b]), left[ROWS];
        assert_int_equal(solve(R, &s), API_SOLVED);
        for (size_t i = 0; i < ROWS; i++) {
            left[i] = -rows[N * ROWS + i];
            for (size_t j = 0; j < N; j++)
                left[i] += rows[j * ROWS + i] * s.x[j];
        }
        for (size_t j = 0; j < N; j++) {
            double along = 0, size = 0, unit[N] = {0}, square[N] = {0};
            for (size_t i = 0; i < ROWS; i++) {
                along += rows[j * ROWS + i] * left[i];
                size += fabs(rows[j * ROWS + i] * left[i]);
                for (size_t k = 0; k < N; k++)
                    square[k] += rows[k * ROWS + i] * rows[j * ROWS + i];
            }
            assert_true(fabs(along) < 1e-12 * size);
            for (size_t k = 0; k < N; k++)
                for (size_t l = 0; l < N; l++)
                    for (size_t p = 0; p < N; p++)
                        unit[k] += s.inverse[p * N + k] * s.inverse[p * N + l] * square[l];
            for (size_t k = 0; k < N; k++)
                assert_true(fabs(unit[k] - (k == j)) < 1e-9 * pow(10, fabs((double)k - (double)j)));
        }
        free(R);
    }
    free(rows);
}

/* Rows that know only the last columns, factored by themselves and then joined, beside all rows factored at once. */
static void triangles_are_joined(void **state)
{
    enum { FIRST = 3, LEFT = N + 1 - FIRST };
    double *rows = numbers((N + 1) * ROWS), *scratch = numbers(api_triangle_scratch(N + 1)), part[(N + 1) * ROWS];
    draw_rows(rows, 4);
    for (size_t j = 0; j < FIRST; j++)
        memset(rows + j * ROWS + ROWS / 2, 0, ROWS / 2 * sizeof *rows);
    double *all = factor(rows, ROWS), *R = numbers((N + 1) * (N + 1)), *small = numbers(LEFT * LEFT);
    for (size_t j = 0; j <= N; j++)
        memcpy(part + j * ROWS, rows + j * ROWS, ROWS / 2 * sizeof *part);
    assert_true(api_triangle_add(R, N + 1, part, ROWS / 2, ROWS, scratch));
    for (size_t j = 0; j < LEFT; j++)
        memcpy(part + j * ROWS, rows + (FIRST + j) * ROWS + ROWS / 2, ROWS / 2 * sizeof *part);
    assert_true(api_triangle_add(small, LEFT, part, ROWS / 2, ROWS, scratch));
    memset(part, 0, sizeof part);
    memcpy(part + FIRST * LEFT, small, LEFT * LEFT * sizeof *part);
    assert_true(api_triangle_join(R, N + 1, FIRST, part, LEFT, scratch));
    solution joined, whole;
    assert_int_equal(solve(R, &joined), API_SOLVED);
    assert_int_equal(solve(all, &whole), API_SOLVED);
    for (size_t j = 0; j < N; j++)
        assert_true(fabs(joined.x[j] - whole.x[j]) <= 1e-11 * fabs(whole.x[j]));
    assert_true(fabs(joined.condition / whole.condition - 1) < 1e-12);
    assert_true(fabs(fabs(R[N * (N + 1) + N] / all[N * (N + 1) + N]) - 1) < 1e-12); /* what is left */
    free(rows);
    free(scratch);
    free(all);
    free(R);
    free(small);
}

/* Columns of any length count alike: two at an angle of cosine c have the condition sqrt((1 + c) / (1 - c)). */
static void condition_is_of_unit_columns(void **state)
{
    double *rows = numbers((N + 1) * ROWS), c = 0.6;
    for (size_t j = 0; j < N; j++)
        rows[j * ROWS + j] = pow(10, (double)j - 3);
    rows[0]        = 5;
    rows[ROWS]     = 0.1 * c;
    rows[ROWS + 1] = 0.1 * sqrt(1 - c * c);
    double  *R     = factor(rows, 3);
    solution s;
    assert_int_equal(solve(R, &s), API_SOLVED);
    assert_true(fabs(s.condition - sqrt((1 + c) / (1 - c))) < 1e-12);
    free(R);
    free(rows);
}

static void what_rows_do_not_tell(void **state)
{
    double  *rows = numbers((N + 1) * ROWS);
    solution s;
    draw_rows(rows, 2);
    for (size_t i = 0; i < ROWS; i++) {
        rows[2 * ROWS + i] = 0;
        rows[5 * ROWS + i] = 3 * rows[ROWS + i] - 2 * rows[3 * ROWS + i];
    }
    double *R = factor(rows, 64);
    assert_int_equal(solve(R, &s), API_DEFICIENT);
    static const bool expected[N] = {false, true, true, true, false, true, false};
    for (size_t j = 0; j < N; j++)
        assert_int_equal(s.unseen[j], expected[j]);
    free(R);

    draw_rows(rows, 3);
    rows[3 * ROWS] = 1e200;
    R              = factor(rows, 64);
    assert_int_equal(solve(R, &s), API_UNSOLVED);
    free(R);
    free(rows);
}

/* --- consistent parameters -------------------------------------------------------------------------------------- */

/* log det of a 4 x 4 matrix by Gauss; NaN unless it is positive definite. */
static double log_determinant(const double from[16])
{
    double A[4][4], sum = 0;
    memcpy(A, from, sizeof A);
    for (int k = 0; k < 4; k++) {
        if (!(A[k][k] > 0)) return NAN;
        sum += log(A[k][k]);
        for (int i = k + 1; i < 4; i++)
            for (int j = 3; j >= k; j--)
                A[i][j] -= A[i][k] / A[k][k] * A[k][j];
    }
    return sum;
}

/* X with J0 X = J, by Gauss and Jordan; its trace. */
static double trace_of_quotient(const double J0[16], const double J[16])
{
    double A[4][8], trace = 0;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            A[i][j]     = J0[4 * i + j];
            A[i][4 + j] = J[4 * i + j];
        }
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < 4; i++)
            for (int j = 7; i != k && j >= k; j--)
                A[i][j] -= A[i][k] / A[k][k] * A[k][j];
    for (int k = 0; k < 4; k++)
        trace += A[k][4 + k] / A[k][k];
    return trace;
}

/* What consistent.h says is least, written down as it stands there. */
static double objective(const api_consistent *c, const double *own, const double *pi)
{
    const api_base *base = c->base;
    double          sum = 0, d = 0, J0[16], J[16];
    for (size_t i = 0; i < base->n; i++) {
        double row = 0;
        for (size_t k = i; k < base->n; k++)
            row += c->R[k * (base->n + 1) + i] / c->s * (api_base_value(base, k, pi) - c->beta[k]);
        sum += row * row / 2;
    }
    for (size_t i = 0; i < c->model->n_bodies; i++) {
        api_pseudo_inertia(own + 10 * i, J0);
        api_pseudo_inertia(pi + 10 * i, J);
        d += trace_of_quotient(J0, J) - (log_determinant(J) - log_determinant(J0)) - 4;
    }
    for (size_t j = 0; j < c->model->n_joints; j++) {
        size_t rotor = api_joint_parameter(c->model, j, API_ROTOR_INERTIA);
        d += pi[rotor] / own[rotor] - log(pi[rotor] / own[rotor]) - 1;
        for (size_t k = API_VISCOUS; k < API_PER_JOINT; k++)
            d += pow(pi[rotor + k] - own[rotor + k], 2) / 2;
    }
    return sum + API_CONSISTENT_WEIGHT * d;
}

static bool always(void *arg)
{
    return true;
}

static bool never(void *arg)
{
    return false;
}

/* Base parameters of a robot that cannot be: the least value lies at no border, and every step away is uphill. */
static void nothing_fits_better(void **state)
{
    enum { WITH = API_BASE_ROTORS | API_BASE_FRICTION };
    api_model *m    = model_of(ROBOT("fixed"));
    api_base  *base = api_base_find(m, dyn_kernels_find("scalar"), NULL, WITH);
    size_t     n = api_parameter_count(m), nb = base->n;
    double    *own = numbers(n), *found = numbers(n), *near = numbers(n), *beta = numbers(nb),
           *R = numbers((nb + 1) * (nb + 1)), *scratch = numbers(api_consistent_scratch(m, base, WITH));
    uint64_t seed = 7;
    api_parameters_of(m, own);
    for (size_t k = 0; k < nb; k++) {
        beta[k] = api_base_value(base, k, own) * (1 + draw(&seed)) - 0.5;
        for (size_t i = 0; i <= k; i++)
            R[k * (nb + 1) + i] = 10 * draw(&seed) + 50 * (i == k);
    }
    api_consistent c = {
        .model = m, .base = base, .with = WITH, .R = R, .s = 0.5, .beta = beta, .parameters = found, .go_on = always};
    assert_true(api_consistent_find(&c, scratch));
    double least = objective(&c, own, found);
    assert_true(isfinite(least) && least < objective(&c, own, own));
    for (int i = 0; i < 2000; i++) {
        double size = pow(10, -1 - 5 * fabs(draw(&seed)));
        for (size_t k = 0; k < n; k++)
            near[k] = found[k] + size * draw(&seed) * fabs(i % 2 ? found[k] : own[k]);
        assert_false(objective(&c, own, near) < least * (1 - 1e-13));
    }
    c.go_on = never;
    assert_false(api_consistent_find(&c, scratch));
    free(own);
    free(found);
    free(near);
    free(beta);
    free(R);
    free(scratch);
    api_base_free(base);
    api_model_release(m);
}

/* --- limits ----------------------------------------------------------------------------------------------------- */

/* Rows of the robot `arm`, whatever their torques. */
static char *rows_of_arm(size_t n)
{
    char    *body = malloc(200 + 4 * n * 100), *to = body;
    uint64_t seed = 1;
    for (int f = 0; f < 4; f++) {
        static const char *const names[] = {"q", "qd", "qdd", "tau"};
        to += sprintf(to, "%s'%s':[", f ? "," : "{", names[f]);
        for (size_t i = 0; i < n; i++)
            to += sprintf(to, "%s[%.3f,%.3f,%.3f,%.3f]", i ? "," : "", draw(&seed), draw(&seed), draw(&seed),
                          draw(&seed));
        to += sprintf(to, "]");
    }
    strcpy(to, "}");
    return body;
}

static void memory_is_counted(void **state)
{
    char      *body  = rows_of_arm(200);
    api_limits tight = door_limits;
    size_t     least = 0, most = door_limits.memory;
    while (most - least > most / 50) { /* the least memory with which it is answered */
        tight.memory = (least + most) / 2;
        door_open(&tight);
        unsigned status = post("arm/identify", body)->status;
        if (status != 200) assert_problem(503, "memory-full", NULL, -1);
        *(status == 200 ? &most : &least) = tight.memory;
        door_close();
    }
    assert_in_range(most, 200 * 1024, 4 * 1024 * 1024);
    free(body);
}

static void the_answer_is_measured_first(void **state)
{
    char      *body  = rows_of_arm(200);
    api_limits tight = door_limits;
    door_open(NULL);
    assert_int_equal(post("arm/identify", body)->status, 200);
    tight.answer = ask("POST", "/v1/models/arm/identify", body)->length / 2;
    door_close();
    door_open(&tight);
    post("arm/identify", body);
    assert_problem(413, "answer-too-large", NULL, -1);
    door_close();
    free(body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_parameters_make_the_torques),
        cmocka_unit_test(parameters_have_names),
        cmocka_unit_test(pseudo_inertia_there_and_back),
        cmocka_unit_test(base_parameters_make_the_torques),
        cmocka_unit_test(joints_on_one_coordinate),
        cmocka_unit_test(blocks_make_the_least_squares),
        cmocka_unit_test(triangles_are_joined),
        cmocka_unit_test(condition_is_of_unit_columns),
        cmocka_unit_test(what_rows_do_not_tell),
        cmocka_unit_test(nothing_fits_better),
        cmocka_unit_test(memory_is_counted),
        cmocka_unit_test(the_answer_is_measured_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
