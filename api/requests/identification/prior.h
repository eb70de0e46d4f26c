/* prior.h - read "prior" of identify, and write it as rows of least squares.
 *
 * The parameters of the robot are taken to be independent and normal about those of the model. With P of the base
 * parameters beta = P pi and the variances D of pi, beta has the covariance P D PT = L LT, which gives the rows
 * L^-1 (beta - beta_model) of standard deviation 1.
 *
 *     "bodies"    share r of the body's mass m: mass r m, first moments r m a, inertias r m a^2, with the root mean
 *                 square distance a of the mass from the origin of the link. A body without mass has the means
 *                 of all bodies.
 *     "rotors"    kg m^2 (prismatic: kg)
 *     "friction"  viscous N m s/rad, Coulomb N m (prismatic: N s/m, N) */
#pragma once
#include "dynamics/identification/base_parameters.h"
#include "api/requests/fields/query.h"

typedef struct api_prior {
    double bodies, rotors, friction; /* shares and deviations of the field; 0: the kind is not given */
} api_prior;

/* Reads the field. `with`: set of DYN_BASE_... that are estimated; `bodies`: so are all bodies. Returns false with a
 * problem if a kind is given that is not estimated. */
bool api_prior_read(const api_query *q, unsigned with, bool bodies, api_prior *prior);

/* Writes the rows for those base parameters whose parameters all have a prior: the unknowns are beta less beta_own,
 * with the values `own` of the parameters in the torques that the rows are compared with. Returns the rows,
 * column-major, *rows x (base->n + 1); NULL with a problem. */
double *api_prior_rows(const api_query *q, const api_prior *prior, const dyn_base *base, const double *own,
                       size_t *rows);
