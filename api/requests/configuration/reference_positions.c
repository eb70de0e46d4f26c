/* reference_positions.c - reads positions with unit quaternions: see reference_positions.h. */
#include "reference_positions.h"
#include "api/robots/registry/registry.h"
#include "dynamics/math/geometry.h"
#include "dynamics/model/coordinates.h"

/* Orders positions by the model, where the request has "joints". */
static bool order_like_model(const api_query *q, size_t states, double *positions)
{
    const size_t nq   = q->model->nq;
    double      *copy = q->order_q ? api_take(q->pool, nq * sizeof *copy) : NULL;
    if (q->order_q && !copy) return false;
    for (size_t s = 0; q->order_q && s < states; s++, positions += nq) {
        for (size_t i = 0; i < nq; i++)
            copy[i] = positions[i];
        for (size_t i = 0; i < nq; i++)
            positions[q->order_q[i]] = copy[i];
    }
    return true;
}

/* Normalizes the quaternions. */
static bool check_quaternions(const api_query *q, const api_place *pointer, size_t states, double *positions)
{
    double norm;
    for (size_t s = 0; s < states; s++)
        for (size_t i = 0; i < q->model->dyn->n_bodies; i++) {
            const dyn_body *body   = &q->model->dyn->body[i];
            const int       offset = dyn_quaternion_offset(body), place = api_first_position(q->model, body);
            if (offset < 0 || place < 0) continue;
            double *quaternion = positions + s * q->model->nq + place + offset;
            if (q->normalise ? dyn_quaternion_normalise_any(quaternion, 1, &norm)
                             : dyn_quaternion_normalise(quaternion, 1, &norm))
                continue;
            return api_fail_at(q->problem, pointer, API_BAD_QUATERNION,
                               "a quaternion of state %zu has the norm %.9g, which differs from 1 by more than %g: "
                               "normalise it, or give \"normalise\": true",
                               s, norm, DYN_QUATERNION_TOLERANCE);
        }
    return true;
}

double *api_reference_positions_read(const api_query *q, const api_points *points, const api_place *pointer)
{
    const size_t states    = (points->batch ? q->rows : 1) * points->n;
    double      *positions = api_points_read(q, points);
    return positions && order_like_model(q, states, positions) && check_quaternions(q, pointer, states, positions)
               ? positions
               : NULL;
}
