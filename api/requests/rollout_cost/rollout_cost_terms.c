/* rollout_cost_terms.c - evaluates the cost of a rollout with its gradient, its second derivatives and the rates of the
 * gradient along a direction: see rollout_cost.h. */
#include "rollout_cost.h"
#include "api/robots/registry/registry.h"
#include "dynamics/model/coordinates.h"
#include "dynamics/motion/tangent.h"
#include <string.h>

/* Returns the point of node `node`, from 0, of a row; a single point is that of all nodes. */
static const double *point_of(const api_points *points, const double *numbers, size_t row, size_t node)
{
    return api_points_of(points, numbers, row) + (points->n == 1 ? 0 : node * points->width);
}

/* Adds the derivatives of term t of the quantity x (q, qd or tau) to by_x. Returns its cost. */
static double add_term(const api_cost_term *t, const api_cost_state *s, size_t node, const double *x, double *by_x)
{
    double sum = 0;
    if (!t->weight) return 0;
    const double *weight = api_points_of(&t->weights, t->weight, s->row);
    const double *target = t->target ? point_of(&t->reference, t->target, s->row, node) : NULL;
    for (size_t v = 0; v < s->nv; v++) {
        if (weight[v] == 0) continue;
        const double distance = x[v * s->W] - (target ? target[v] : 0), slope = weight[v] * distance;
        sum += 0.5 * slope * distance;
        by_x[v * s->W] += slope;
    }
    return sum;
}

/* The term of q of one joint with a quaternion: its weights, difference and derivative. */
typedef struct turned_term {
    size_t n, v; /* number of velocities of the joint, and the first of them */
    double weight[DYN_TANGENT_MOST], dx[DYN_TANGENT_MOST], J[DYN_TANGENT_MOST][DYN_TANGENT_MOST];
} turned_term;

/* Sets *to to the term of the joint of body i. Returns false if the joint has no quaternion, or no weight. */
static bool turned_term_of(const api_rollout_cost *cost, int term, const api_cost_state *s, size_t i, turned_term *to)
{
    const api_cost_term *t     = &cost->term[term];
    const dyn_body      *body  = &cost->model->dyn->body[i];
    const int            place = api_first_position(cost->model, body), v = api_first_velocity(cost->model, body);
    if (!t->weight || dyn_quaternion_offset(body) < 0 || place < 0 || v < 0) return false;
    const double *weight = api_points_of(&t->weights, t->weight, s->row) + v;
    const double *reference =
        t->target && cost->whole ? point_of(&t->reference, t->target, s->row, s->node - 1) : cost->home;
    bool any = false;
    to->n    = (size_t)dyn_joint_nv(body->joint.kind);
    to->v    = (size_t)v;
    for (size_t k = 0; k < to->n; k++) {
        to->weight[k] = weight[k];
        any           = any || weight[k] != 0;
    }
    if (!any) return false;
    dyn_tangent_difference(body, reference + place, s->q + (size_t)place * s->W, s->W, to->dx);
    dyn_tangent_derivative(body, to->dx, to->J);
    return true;
}

/* Adds the terms of q of all joints with a quaternion: cost 1/2 dx^T w dx, slope J^T w dx. Returns their cost. */
static double add_turned_terms(const api_rollout_cost *cost, int term, const api_cost_state *s)
{
    double      sum = 0;
    turned_term x;
    for (size_t i = 0; i < cost->model->dyn->n_bodies; i++) {
        if (!turned_term_of(cost, term, s, i, &x)) continue;
        for (size_t k = 0; k < x.n; k++) {
            sum += 0.5 * x.weight[k] * x.dx[k] * x.dx[k];
            for (size_t c = 0; c < x.n; c++)
                s->by_q[(x.v + c) * s->W] += x.J[k][c] * x.weight[k] * x.dx[k];
        }
    }
    return sum;
}

/* Adds the term of q for all joints. Returns its cost. */
static double add_position_term(const api_rollout_cost *cost, int term, const api_cost_state *s)
{
    const api_cost_term *t   = &cost->term[term];
    double               sum = 0;
    if (!t->weight) return 0;
    const double *weight = api_points_of(&t->weights, t->weight, s->row);
    const double *target = t->target ? point_of(&t->reference, t->target, s->row, s->node - 1) : NULL;
    for (size_t v = 0; v < s->nv; v++) {
        if (weight[v] == 0 || cost->position[v] < 0) continue;
        const size_t place    = (size_t)cost->position[v];
        const double distance = s->q[place * s->W] - (target ? target[cost->whole ? place : v] : 0),
                     slope    = weight[v] * distance;
        sum += 0.5 * slope * distance;
        s->by_q[v * s->W] += slope;
    }
    return sum + add_turned_terms(cost, term, s);
}

/* --- matrices of weights ------------------------------------------------------------------------------------------ */

/* A matrix of weights of one state: the weights, the differences and their product. */
typedef struct matrix_term {
    const double *Q; /* n x n weights */
    size_t        n;
    double       *dx, *slope; /* [n] each: differences dx from the references, of q and qd or of tau; Q dx */
} matrix_term;

/* Sets y to Q x, where x is zero before entry `first` and from entry `end` on. */
static void multiply_weights(const matrix_term *t, const double *x, size_t first, size_t end, double *y)
{
    for (size_t i = 0; i < t->n; i++) {
        y[i] = 0;
        for (size_t j = first; j < end; j++)
            y[i] += t->Q[i * t->n + j] * x[j];
    }
}

/* Writes the differences of q and qd from their references. */
static void write_state_differences(const api_rollout_cost *cost, int first, const api_cost_state *s, double *dx)
{
    const api_cost_term *of_q = &cost->term[first], *of_qd = of_q + 1;
    const double        *q_target = of_q->target ? point_of(&of_q->reference, of_q->target, s->row, s->node - 1) : NULL,
                 *qd_target = of_qd->target ? point_of(&of_qd->reference, of_qd->target, s->row, s->node - 1) : NULL;
    for (size_t v = 0; v < s->nv; v++) {
        const int place = cost->position[v];
        dx[v] = place < 0 ? 0 : s->q[(size_t)place * s->W] - (q_target ? q_target[cost->whole ? (size_t)place : v] : 0);
        dx[s->nv + v] = s->qd[v * s->W] - (qd_target ? qd_target[v] : 0);
    }
    const double *reference = q_target && cost->whole ? q_target : cost->home;
    for (size_t i = 0; i < cost->model->dyn->n_bodies; i++) {
        const dyn_body *body  = &cost->model->dyn->body[i];
        const int       place = api_first_position(cost->model, body), v = api_first_velocity(cost->model, body);
        if (dyn_quaternion_offset(body) < 0 || place < 0 || v < 0) continue;
        dyn_tangent_difference(body, reference + place, s->q + (size_t)place * s->W, s->W, dx + v);
    }
}

/* Sets *t to matrix of weights i. Returns false if the matrix is absent, or is that of the last state and the state is
 * another. */
static bool matrix_term_of(const api_rollout_cost *cost, int i, const api_cost_state *s, matrix_term *t)
{
    const api_cost_matrix *matrix = &cost->matrix[i];
    if (!matrix->weight || (i == API_COST_FINAL_MATRIX && s->node < s->steps)) return false;
    if (!dyn_may_continue(cost->deadline)) return false; /* the answer is discarded after the deadline */
    const size_t n = matrix->points.width;
    *t = (matrix_term){matrix->weight + (matrix->points.batch ? s->row * n * n : 0), n, s->scratch, s->scratch + n};
    if (i == API_COST_TAU_MATRIX) return true;
    write_state_differences(cost, i == API_COST_FINAL_MATRIX ? API_COST_FINAL_Q : API_COST_Q, s, t->dx);
    multiply_weights(t, t->dx, 0, t->n, t->slope);
    return true;
}

/* Replaces x, of which the first nv entries are those of q, by J x or JT x, with the derivative J of the differences.
 */
static void turn_entries(const api_rollout_cost *cost, const double *dx, bool transposed, double *x)
{
    double J[DYN_TANGENT_MOST][DYN_TANGENT_MOST], turned[DYN_TANGENT_MOST];
    for (size_t i = 0; i < cost->model->dyn->n_bodies; i++) {
        const dyn_body *body = &cost->model->dyn->body[i];
        const int       v    = api_first_velocity(cost->model, body);
        if (dyn_quaternion_offset(body) < 0 || v < 0) continue;
        const size_t n = (size_t)dyn_joint_nv(body->joint.kind);
        dyn_tangent_derivative(body, dx + v, J);
        for (size_t r = 0; r < n; r++) {
            turned[r] = 0;
            for (size_t c = 0; c < n; c++)
                turned[r] += (transposed ? J[c][r] : J[r][c]) * x[(size_t)v + c];
        }
        memcpy(x + v, turned, n * sizeof *x);
    }
}

/* Adds J'^T slope of joints with a quaternion to the rates, with J' the rate of J along a direction in lanes. */
static void add_turn_rates(const api_rollout_cost *cost, const matrix_term *t, const api_cost_state *s,
                           const double *along_q)
{
    double rate[DYN_TANGENT_MOST][DYN_TANGENT_MOST], e[DYN_TANGENT_MOST];
    for (size_t i = 0; i < cost->model->dyn->n_bodies; i++) {
        const dyn_body *body = &cost->model->dyn->body[i];
        const int       v    = api_first_velocity(cost->model, body);
        if (dyn_quaternion_offset(body) < 0 || v < 0) continue;
        const size_t n = (size_t)dyn_joint_nv(body->joint.kind), first = (size_t)v;
        for (size_t k = 0; k < n; k++)
            e[k] = along_q[(first + k) * s->W];
        dyn_tangent_derivative_rate(body, t->dx + first, e, rate);
        for (size_t k = 0; k < n; k++)
            for (size_t c = 0; c < n; c++)
                s->by_q[(first + c) * s->W] += rate[k][c] * t->slope[first + k];
    }
}

/* Adds the entries of x, q and then qd, to the derivatives by_q and by_qd. */
static void add_to_slopes(const api_cost_state *s, const double *x)
{
    for (size_t v = 0; v < s->nv; v++) {
        s->by_q[v * s->W] += x[v];
        s->by_qd[v * s->W] += x[s->nv + v];
    }
}

/* Adds the term of a matrix of weights of the state. Returns its cost. */
static double add_matrix_term(const api_rollout_cost *cost, int i, const api_cost_state *s)
{
    matrix_term t;
    double      sum = 0;
    if (!matrix_term_of(cost, i, s, &t)) return 0;
    for (size_t k = 0; k < t.n; k++)
        sum += 0.5 * t.dx[k] * t.slope[k];
    turn_entries(cost, t.dx, true, t.slope);
    add_to_slopes(s, t.slope);
    return sum;
}

/* Adds the rates, along a direction, of the derivatives that add_matrix_term adds. */
static void add_matrix_rates(const api_rollout_cost *cost, int i, const api_cost_state *s, const double *along_q,
                             const double *along_qd)
{
    matrix_term t;
    if (!matrix_term_of(cost, i, s, &t)) return;
    double *y = t.slope + t.n;
    add_turn_rates(cost, &t, s, along_q);
    for (size_t v = 0; v < s->nv; v++) {
        y[v]         = along_q[v * s->W];
        y[s->nv + v] = along_qd[v * s->W];
    }
    turn_entries(cost, t.dx, false, y);
    multiply_weights(&t, y, 0, t.n, t.slope);
    turn_entries(cost, t.dx, true, t.slope);
    add_to_slopes(s, t.slope);
}

/* Adds J^T Q J, column by column. Column c of J is zero outside the entries of the joint of coordinate c. */
static void add_matrix_curvature(const api_rollout_cost *cost, int i, const api_cost_state *s, double *matrix,
                                 size_t width)
{
    matrix_term t;
    if (!matrix_term_of(cost, i, s, &t)) return;
    double *y = t.slope + t.n;
    for (size_t c = 0; c < t.n && dyn_may_continue(cost->deadline); c++) {
        const size_t first = c < DYN_TANGENT_MOST ? 0 : c - DYN_TANGENT_MOST, end = c + DYN_TANGENT_MOST;
        memset(y, 0, t.n * sizeof *y);
        y[c] = 1;
        turn_entries(cost, t.dx, false, y);
        multiply_weights(&t, y, first, end < t.n ? end : t.n, t.slope);
        turn_entries(cost, t.dx, true, t.slope);
        for (size_t r = 0; r < t.n; r++)
            matrix[r * width + c] += t.slope[r];
    }
}

/* Adds the term of the matrix of weights of tau; target NULL: zeros. Returns its cost. */
static double add_torque_matrix(const api_rollout_cost *cost, const api_cost_state *s, const double *tau,
                                const double *target, double *by_tau)
{
    matrix_term t;
    double      sum = 0;
    if (!matrix_term_of(cost, API_COST_TAU_MATRIX, s, &t)) return 0;
    for (size_t v = 0; v < s->nv; v++)
        t.dx[v] = tau[v * s->W] - (target ? target[v] : 0);
    multiply_weights(&t, t.dx, 0, t.n, t.slope);
    for (size_t v = 0; v < s->nv; v++) {
        sum += 0.5 * t.dx[v] * t.slope[v];
        by_tau[v * s->W] += t.slope[v];
    }
    return sum;
}

/* --- the cost and its gradient ------------------------------------------------------------------------------------ */

double api_rollout_cost_of_state(const api_rollout_cost *cost, const api_cost_state *s)
{
    const bool last     = s->node == s->steps;
    double    *slopes[] = {s->by_q, s->by_qd};
    double     sum      = add_position_term(cost, API_COST_Q, s);
    sum += add_term(&cost->term[API_COST_QD], s, s->node - 1, s->qd, s->by_qd);
    if (last) sum += add_position_term(cost, API_COST_FINAL_Q, s);
    if (last) sum += add_term(&cost->term[API_COST_FINAL_QD], s, s->node - 1, s->qd, s->by_qd);
    sum += add_matrix_term(cost, API_COST_STATE_MATRIX, s) + add_matrix_term(cost, API_COST_FINAL_MATRIX, s);
    for (int i = 0; i < 2; i++) {
        const api_points *points = &cost->multipliers[i];
        if (!cost->multiplier[i] || (points->n == 1 && !last))
            continue; /* a single point is the multiplier of the last state */
        const double *multipliers = point_of(points, cost->multiplier[i], s->row, s->node - 1);
        for (size_t v = 0; v < s->nv; v++)
            slopes[i][v * s->W] += multipliers[v];
    }
    return sum;
}

double api_rollout_cost_of_torques(const api_rollout_cost *cost, const api_cost_state *s, const double *tau,
                                   double *by_tau)
{
    const api_cost_term *t      = &cost->term[API_COST_TAU];
    const double        *target = t->target ? point_of(&t->reference, t->target, s->row, s->node) : NULL;
    return add_term(t, s, s->node, tau, by_tau) + add_torque_matrix(cost, s, tau, target, by_tau);
}

/* --- second derivatives ------------------------------------------------------------------------------------------- */

/* Adds the weights of a term to the diagonal of a matrix, whose rows are `width` apart. Weights of q of joints with a
 * quaternion are left out: `position` is that of the cost for q, else NULL. */
static void add_weights(const api_rollout_cost *cost, int term, size_t row, const int *position, double *matrix,
                        size_t width)
{
    const api_cost_term *t = &cost->term[term];
    if (!t->weight) return;
    const double *weight = api_points_of(&t->weights, t->weight, row);
    for (size_t v = 0; v < cost->model->nv; v++)
        if (!position || position[v] >= 0) matrix[v * (width + 1)] += weight[v];
}

/* Adds J^T w J of joints with a quaternion to the matrix of second derivatives. */
static void add_turned_weights(const api_rollout_cost *cost, int term, const api_cost_state *s, double *matrix,
                               size_t width)
{
    turned_term x;
    for (size_t i = 0; i < cost->model->dyn->n_bodies; i++) {
        if (!turned_term_of(cost, term, s, i, &x)) continue;
        for (size_t k = 0; k < x.n; k++)
            for (size_t r = 0; r < x.n; r++)
                for (size_t c = 0; c < x.n; c++)
                    matrix[(x.v + r) * width + x.v + c] += x.J[k][r] * x.weight[k] * x.J[k][c];
    }
}

void api_rollout_cost_add_curvature(const api_rollout_cost *cost, const api_cost_state *s, double *matrix, size_t width)
{
    double *of_qd = matrix + s->nv * (width + 1);
    for (int term = API_COST_Q; term <= API_COST_FINAL_QD; term++) {
        const bool final = term >= API_COST_FINAL_Q, of_q = term == API_COST_Q || term == API_COST_FINAL_Q;
        if (term == API_COST_TAU || (final && s->node < s->steps)) continue;
        add_weights(cost, term, s->row, of_q ? cost->position : NULL, of_q ? matrix : of_qd, width);
        if (of_q) add_turned_weights(cost, term, s, matrix, width);
    }
    add_matrix_curvature(cost, API_COST_STATE_MATRIX, s, matrix, width);
    add_matrix_curvature(cost, API_COST_FINAL_MATRIX, s, matrix, width);
}

double api_rollout_cost_torque_curvature(const api_rollout_cost *cost, size_t row, size_t a, size_t b)
{
    const api_cost_term   *t      = &cost->term[API_COST_TAU];
    const api_cost_matrix *matrix = &cost->matrix[API_COST_TAU_MATRIX];
    const size_t           n = matrix->points.width, first = matrix->points.batch ? row * n * n : 0;
    const double           weight = t->weight && a == b ? api_points_of(&t->weights, t->weight, row)[a] : 0;
    return matrix->weight ? weight + matrix->weight[first + a * n + b] : weight;
}

/* --- rates along a direction -------------------------------------------------------------------------------------- */

/* Adds weight * along, the rate of a term's derivative; `position` as of add_weights. */
static void add_term_rates(const api_cost_term *t, const api_cost_state *s, const int *position, const double *along,
                           double *by_x)
{
    if (!t->weight) return;
    const double *weight = api_points_of(&t->weights, t->weight, s->row);
    for (size_t v = 0; v < s->nv; v++)
        if (!position || position[v] >= 0) by_x[v * s->W] += weight[v] * along[v * s->W];
}

/* Adds the rates JT w J e + J'T w dx of the slopes of joints with a quaternion. */
static void add_turned_rates(const api_rollout_cost *cost, int term, const api_cost_state *s, const double *along_q)
{
    turned_term x;
    double      rate[DYN_TANGENT_MOST][DYN_TANGENT_MOST], e[DYN_TANGENT_MOST];
    for (size_t i = 0; i < cost->model->dyn->n_bodies; i++) {
        if (!turned_term_of(cost, term, s, i, &x)) continue;
        for (size_t k = 0; k < x.n; k++)
            e[k] = along_q[(x.v + k) * s->W];
        dyn_tangent_derivative_rate(&cost->model->dyn->body[i], x.dx, e, rate);
        for (size_t k = 0; k < x.n; k++) {
            double change = 0;
            for (size_t c = 0; c < x.n; c++)
                change += x.J[k][c] * e[c];
            for (size_t c = 0; c < x.n; c++)
                s->by_q[(x.v + c) * s->W] += x.weight[k] * (x.J[k][c] * change + rate[k][c] * x.dx[k]);
        }
    }
}

void api_rollout_cost_add_rates(const api_rollout_cost *cost, const api_cost_state *s, const double *along_q,
                                const double *along_qd)
{
    const bool last = s->node == s->steps;
    for (int term = API_COST_Q; term <= (last ? API_COST_FINAL_Q : API_COST_Q); term += API_COST_FINAL_Q) {
        add_term_rates(&cost->term[term], s, cost->position, along_q, s->by_q);
        add_turned_rates(cost, term, s, along_q);
        add_term_rates(&cost->term[term + 1], s, NULL, along_qd, s->by_qd);
    }
    add_matrix_rates(cost, API_COST_STATE_MATRIX, s, along_q, along_qd);
    add_matrix_rates(cost, API_COST_FINAL_MATRIX, s, along_q, along_qd);
}

void api_rollout_cost_add_torque_rates(const api_rollout_cost *cost, const api_cost_state *s, const double *along,
                                       double *by_tau)
{
    matrix_term t;
    add_term_rates(&cost->term[API_COST_TAU], s, NULL, along, by_tau);
    if (!matrix_term_of(cost, API_COST_TAU_MATRIX, s, &t)) return;
    for (size_t v = 0; v < s->nv; v++)
        t.dx[v] = along[v * s->W];
    multiply_weights(&t, t.dx, 0, t.n, t.slope);
    for (size_t v = 0; v < s->nv; v++)
        by_tau[v * s->W] += t.slope[v];
}
