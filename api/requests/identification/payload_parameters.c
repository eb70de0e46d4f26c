/* payload_parameters.c - see payload_parameters.h. */
#include "payload_parameters.h"
#include <lapacke.h>
#include <math.h>

#define DENSITY 1000 /* kg/m^3, of a supposed payload */

bool api_payload_is_consistent(const double payload[DYN_PER_BODY])
{
    double J[16];
    dyn_pseudo_inertia(payload, J);
    return LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'L', 4, J, 4) == 0;
}

/* Returns the estimate of a parameter that the rows show alone; NaN otherwise. `deviation` may be NULL. */
static double shown_alone(const dyn_estimate *t, size_t parameter, double *deviation)
{
    const dyn_base *b = t->base;
    for (size_t i = 0; i < b->first[b->n]; i++)
        if (b->term[i].parameter == parameter) return NAN;
    for (size_t k = 0; k < b->n; k++) {
        if (b->parameter[k] != parameter || b->first[k + 1] > b->first[k]) continue;
        if (deviation) *deviation = t->deviation[k];
        return t->unknowns.x[k];
    }
    return NAN;
}

static double mean_mass(const dyn_model *m)
{
    double sum = 0;
    for (size_t i = 0; i < m->n_bodies; i++)
        sum += fmax(m->body[i].moments.mass, 0);
    return sum > 0 ? sum / (double)m->n_rows : 1;
}

void api_payload_suppose(const dyn_estimate *t, const api_chosen_unknowns *chosen, double payload[DYN_PER_BODY])
{
    const size_t first     = DYN_PER_BODY * (size_t)chosen->row;
    double       deviation = 0, shown = shown_alone(t, first, &deviation), mean = mean_mass(t->robot.tree);
    double       mass = shown > 0 ? shown : isnan(shown) ? mean : fmax(deviation, 1e-3 * mean), c[3], J[16] = {0};
    double       square =
        pow(mass / (DENSITY * 4 * M_PI / 3), 2.0 / 3) / 5; /* mean of x^2 over a ball of this mass: radius^2 / 5 */
    for (size_t i = 0; i < 3; i++) {
        double moment = shown_alone(t, first + 1 + i, NULL);
        c[i]          = shown > 0 && !isnan(moment) ? moment / mass : chosen->origin[i];
    }
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++)
            J[4 * i + k] = mass * (c[i] * c[k] + (i == k ? square : 0));
        J[4 * i + 3] = J[12 + i] = mass * c[i];
    }
    J[15] = mass;
    dyn_pseudo_inertia_parameters(J, payload);
}
