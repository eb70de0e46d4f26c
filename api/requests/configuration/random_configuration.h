/* random_configuration.h - draws configurations within the position limits of the joints.
 *
 * Each coordinate is uniform between its limits, and each quaternion uniform over all rotations (Shoemake 1992). An
 * angle without limits is between -pi and pi, a length without limits between -range and range; with one limit the
 * interval of that width begins there. The motor of an elastic joint is where the spring is unwound, at q - rest.
 * Numbers depend on the seed, the row and the entry alone, and have the same bits on every processor. */
#pragma once
#include "api/requests/fields/query.h"
#include "dynamics/motion/configuration.h"

typedef struct api_random_configuration {
    uint64_t      seed;
    const double *lower, *upper; /* [nq] bounds of the coordinates, for models without loops */
} api_random_configuration;

/* Lists the bounds of all coordinates; `range` in m. False with a problem: the limits of a joint and of a mimic joint
 * that follows it exclude each other. */
bool api_random_configuration_prepare(api_query *q, double range, api_random_configuration *r);

/* Draws the configuration of a row; its entries are `stride` apart. */
void api_random_configuration_draw(const api_random_configuration *r, const api_model *model, size_t row, size_t stride,
                                   double *q);
