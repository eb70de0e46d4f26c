/* closed_newton.c - closing loops: passive coordinates from actuated ones by Newton's method, one state beside the
 * other, each going its own way.
 *
 * A step is the least-squares solution of J_p dq = -r, of least norm where J_p has no full rank, halved until it takes
 * the loops nearer to closing. When they are closed it goes on as long as that makes them much better: to rounding.
 * Columns of J_p are scaled to length one, so that units of coordinates do not matter to its rank. */
#include "closed_state.h"
#include "coordinates.h"
#include <lapacke.h>
#include <math.h>
#include <string.h>

enum { MOST_STEPS = 200 };
#define CLOSED   1e-9    /* of the model's length, and rad */
#define SINGULAR 1e-6    /* of the largest: where loops are closed to rounding, singular ones show no more than that */
#define SHORTEST 0x1p-30 /* of a step */
#define BETTER   0.25    /* of what is open, to go on when closed */

typedef struct search {
    double open; /* of the base */
    double part; /* of the step */
    bool   begun, going;
} search;

/* --- positions -------------------------------------------------------------------------------------------------- */

static void begin(api_closed *c, const double *q, const double *guess)
{
    const api_loops *l = c->loops;
    size_t           W = c->W;
    for (size_t i = 0; i < c->model->nq; i++)
        memcpy(c->q + (size_t)l->active_q[i] * W, q + i * W, W * sizeof *q);
    for (size_t i = 0; i < l->n_passive_q; i++)
        for (size_t lane = 0; lane < W; lane++)
            c->q[(size_t)l->passive_q[i] * W + lane] = guess ? guess[i * W + lane] : l->home[l->passive_q[i]];
}

static void copy_lane(const api_closed *c, const double *from, size_t lane, double *to)
{
    for (size_t i = 0; i < c->loops->nq; i++)
        to[i * c->W + lane] = from[i * c->W + lane];
}

/* q = base + part step: along the coordinates. */
static void move(const api_closed *c, size_t lane, double part)
{
    const dyn_model *m = c->model->dyn;
    size_t           W = c->W;
    copy_lane(c, c->base, lane, c->q);
    for (size_t i = 0; i < m->n_bodies; i++) {
        const dyn_body *b = &m->body[i];
        if (b->mimic || c->loops->place_q[b->q] >= 0) continue;
        api_coordinates_move(b, c->q + (size_t)b->q * W + lane, W, c->step + (size_t)b->v * W + lane, part);
    }
}

/* --- one state -------------------------------------------------------------------------------------------------- */

/* Root of the sum of the squares; c->B has the rows, negative. */
static double look(api_closed *c, size_t lane)
{
    const api_loops *l   = c->loops;
    size_t           W   = c->W;
    double           sum = 0;
    c->widest_open[lane] = 0;
    for (size_t k = 0; k < l->n; k++) {
        double y[3], R[9], open = 0, *rows = c->B + l->loop[k].first;
        for (size_t i = 0; i < 3; i++)
            y[i] = c->y[(3 * k + i) * W + lane];
        for (size_t i = 0; i < 9; i++)
            R[i] = c->R[(9 * k + i) * W + lane];
        api_loop_residual(l, k, y, R, rows);
        for (size_t i = 0; i < l->loop[k].rows; i++) {
            open += rows[i] * rows[i];
            rows[i] = -rows[i];
        }
        sum += open;
        if (!(open <= c->widest_open[lane])) {
            c->widest_open[lane] = open;
            c->widest[lane]      = k;
        }
    }
    c->widest_open[lane] = sqrt(c->widest_open[lane]);
    return sqrt(sum);
}

/* J_p into c->A, its columns of length one, c->norm what they were. False: not finite. */
static bool scale_columns(api_closed *c, size_t lane)
{
    bool finite = true;
    for (size_t k = 0; k < c->np; k++) {
        double sum = 0, *column = c->A + k * c->nr;
        for (size_t i = 0; i < c->nr; i++) {
            column[i] = c->J[(i * c->nvt + (size_t)c->loops->passive_v[k]) * c->W + lane];
            sum += column[i] * column[i];
        }
        c->norm[k] = sum > 0 ? sqrt(sum) : 1;
        for (size_t i = 0; i < c->nr; i++)
            column[i] /= c->norm[k];
        finite = finite && isfinite(sum);
    }
    return finite;
}

/* c->B, of so many columns, becomes the least-squares solution; the rank of J_p. */
static bool solve(api_closed *c, size_t lane, size_t columns)
{
    lapack_int rank, nr = (lapack_int)c->nr, np = (lapack_int)c->np, ldb = nr > np ? nr : np;
    lapack_int room = (lapack_int)api_closed_work(c->nr, c->np);
    if (!scale_columns(c, lane)) return false;
    memset(c->pivot, 0, c->np * sizeof *c->pivot);
    if (LAPACKE_dgelsy_work(LAPACK_COL_MAJOR, nr, np, (lapack_int)columns, c->A, nr, c->B, ldb, c->pivot, SINGULAR,
                            &rank, c->work, room) != 0)
        return false;
    c->rank[lane] = (size_t)rank;
    return true;
}

/* The step from where the lane is, none of whose parts is longer than a radian or the model's length. */
static bool find_step(api_closed *c, size_t lane)
{
    double longest = 1;
    if (!solve(c, lane, 1)) return false;
    for (size_t k = 0; k < c->np; k++) {
        double *step = &c->step[(size_t)c->loops->passive_v[k] * c->W + lane];
        *step        = c->B[k] / c->norm[k];
        longest      = fmax(longest, fabs(*step) / c->unit[k]);
    }
    for (size_t k = 0; k < c->np; k++)
        c->step[(size_t)c->loops->passive_v[k] * c->W + lane] /= longest;
    return isfinite(longest);
}

static void advance(api_closed *c, size_t lane, search *s)
{
    double open = look(c, lane), before = s->open;
    if (s->begun && !(open < before)) {
        s->part *= 0.5;
        s->going = before > CLOSED && s->part >= SHORTEST;
        move(c, lane, s->going ? s->part : 0);
        return;
    }
    copy_lane(c, c->q, lane, c->base);
    s->open  = open;
    s->going = !(s->begun && open <= CLOSED && open > BETTER * before) && open > 0 && find_step(c, lane);
    s->begun = true;
    s->part  = 1;
    if (s->going) move(c, lane, 1);
}

/* --- what follows ------------------------------------------------------------------------------------------------ */

/* K, and G from it. */
static bool find_follower(api_closed *c, size_t lane)
{
    size_t W = c->W, ldb = c->nr > c->np ? c->nr : c->np;
    memset(c->B, 0, ldb * c->nr * sizeof *c->B);
    for (size_t i = 0; i < c->nr; i++)
        c->B[i * ldb + i] = 1;
    if (!solve(c, lane, c->nr)) return false;
    for (size_t k = 0; k < c->np; k++)
        for (size_t i = 0; i < c->nr; i++)
            c->K[(k * c->nr + i) * W + lane] = c->B[i * ldb + k] / c->norm[k];
    return true;
}

static void find_G(api_closed *c)
{
    size_t W = c->W;
    memset(c->G, 0, c->nvt * c->nv * W * sizeof *c->G);
    for (size_t j = 0; j < c->nv; j++) {
        size_t v = (size_t)c->loops->active_v[j];
        for (size_t lane = 0; lane < W; lane++)
            c->G[(v * c->nv + j) * W + lane] = 1;
        for (size_t i = 0; i < c->nr; i++)
            memcpy(c->across + (i * c->nv + j) * W, c->J + (i * c->nvt + v) * W, W * sizeof *c->J);
    }
    api_closed_follow(c, c->nv, c->across, c->G);
}

/* Whether the loops let each actuated coordinate move by itself: J G = 0 as good as J_a. */
static bool moves(const api_closed *c, size_t lane)
{
    for (size_t j = 0; j < c->nv; j++) {
        double left = 0, all = 0;
        for (size_t i = 0; i < c->nr; i++) {
            double sum = 0;
            for (size_t v = 0; v < c->nvt; v++)
                sum += c->J[(i * c->nvt + v) * c->W + lane] * c->G[(v * c->nv + j) * c->W + lane];
            left = fmax(left, fabs(sum));
            all  = fmax(all, fabs(c->across[(i * c->nv + j) * c->W + lane]));
        }
        if (left > SINGULAR * all) return false;
    }
    return true;
}

static void kinematics(api_closed *c, const dyn_scene *scene)
{
    dyn_closure io = {.q         = c->q,
                      .n_pairs   = c->loops->n,
                      .pairs     = c->loops->pair,
                      .positions = c->y,
                      .rotations = c->R,
                      .jacobian  = c->motion};
    c->tree->closure(scene, c->workspace, &io, 1);
    api_closed_rows(c, c->motion, c->J);
}

static bool judge(api_closed *c, const search *s)
{
    bool good = true;
    for (size_t lane = 0; lane < c->W; lane++) {
        c->residual[lane] = s[lane].open;
        c->status[lane]   = API_CLOSED;
        look(c, lane);
        if (!(s[lane].open <= CLOSED) || !find_follower(c, lane))
            c->status[lane] = API_LOOP_LEFT_OPEN;
        else if (c->rank[lane] < c->np)
            c->status[lane] = API_LOOP_LOOSE;
    }
    find_G(c);
    for (size_t lane = 0; lane < c->W; lane++) {
        if (c->status[lane] == API_CLOSED && !moves(c, lane)) c->status[lane] = API_LOOP_STUCK;
        good = good && c->status[lane] == API_CLOSED;
    }
    return good;
}

bool api_closed_solve(api_closed *c, const dyn_scene *scene, const double *q, const double *guess)
{
    search s[DYN_MAX_LANES] = {0};
    bool   going            = true;
    begin(c, q, guess);
    for (size_t lane = 0; lane < c->W; lane++)
        s[lane].going = true;
    for (int k = 0; k < MOST_STEPS && going; k++) {
        kinematics(c, scene);
        going = false;
        for (size_t lane = 0; lane < c->W; lane++) {
            if (s[lane].going) advance(c, lane, &s[lane]);
            going = going || s[lane].going;
        }
    }
    for (size_t lane = 0; lane < c->W; lane++)
        if (s[lane].going) copy_lane(c, c->base, lane, c->q);
    kinematics(c, scene);
    return judge(c, s);
}
