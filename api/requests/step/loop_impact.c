/* loop_impact.c - computes impacts of mechanisms with loops (loop_impact.h). */
#include "loop_impact.h"
#include "dynamics/loops/lane_matrix.h"
#include <string.h>

size_t api_loop_impact_lay_out(api_loop_impact *impact, double *lanes)
{
    const size_t   nv = impact->at->nv, W = impact->at->W, square = nv * nv;
    double **const arrays[] = {&impact->v,    &impact->change, &impact->row,      &impact->v_q,
                               &impact->v_qd, &impact->K,      &impact->regressor};
    const size_t   sizes[]  = {nv, nv, nv, square, square, square, nv * impact->columns};
    size_t         entries  = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; entries += sizes[i++])
        if (lanes) *arrays[i] = lanes + entries * W;
    return entries;
}

/* Sets dv/dqd = 1 - Jbar J (nv x nv), with v the velocities after the impact. */
static void set_v_qd(const api_loop_impact *impact)
{
    const api_loop_constraints *s  = impact->at;
    const size_t                nv = s->nv, W = s->W;
    const dyn_lanes             lanes = api_loop_constraints_lanes(s);
    memset(impact->v_qd, 0, nv * nv * W * sizeof *impact->v_qd);
    for (size_t v = 0; v < nv; v++)
        for (size_t lane = 0; lane < W; lane++)
            impact->v_qd[v * (nv + 1) * W + lane] = 1;
    dyn_matrix_mul(&lanes, nv, s->k, nv, s->Jbar, s->J, -1, impact->v_qd);
}

void api_loop_impact_find(api_loop_impact *impact, const double *q, const double *qd, bool differentiates)
{
    api_loop_constraints        *s     = impact->at;
    const size_t                 n     = s->nv * s->W;
    const dyn_scene              still = {.model = s->scene->model, .deadline = s->scene->deadline};
    const api_constrained_motion at    = {q, NULL, impact->change, impact->v};
    memset(impact->change, 0, n * sizeof *impact->change);
    api_loop_constraints_set_rows(s, q, NULL);
    api_loop_constraints_solve(s, qd, impact->change, true);
    for (size_t i = 0; i < n; i++)
        impact->v[i] = (qd ? qd[i] : 0) + impact->change[i];
    if (!differentiates) return;
    api_loop_constraints_differentiate(s, &still, &at, impact->v_q, NULL, impact->K);
    set_v_qd(impact);
    dyn_regressor inertial = {.q = q, .qdd = impact->change, .regressor = impact->regressor};
    if (impact->columns > 0) s->kernels->regressor(&still, s->closed, &inertial, 1);
}

void api_loop_impact_chain(const api_loop_impact *impact, const dyn_step *io)
{
    const size_t    nv = impact->at->nv, W = impact->at->W, columns = impact->columns;
    const dyn_lanes lanes = api_loop_constraints_lanes(impact->at);
    double         *row   = impact->row;
    for (size_t r = 0; r < 2 * nv; r++) {
        double *by_q = io->state_matrix + r * 2 * nv * W, *by_v = by_q + nv * W;
        if (columns > 0) {
            dyn_matrix_mul(&lanes, 1, nv, nv, by_v, impact->K, 0, row);
            dyn_matrix_mul(&lanes, 1, nv, columns, row, impact->regressor, -1, io->parameter_matrix + r * columns * W);
        }
        dyn_matrix_mul(&lanes, 1, nv, nv, by_v, impact->v_q, 1, by_q);
        dyn_matrix_mul(&lanes, 1, nv, nv, by_v, impact->v_qd, 0, row);
        memcpy(by_v, row, nv * W * sizeof *row);
    }
}
