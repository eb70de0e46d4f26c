/* mjcf_gravity.c - read gravity and its compensation by <body gravcomp>. Compensation that is the same for all bodies
 * is a smaller gravity; other compensation is that of each link, "gravity_compensation". */
#include "mjcf_reader.h"
#include <math.h>

/* True if MuJoCo compensates at all: a body asks for some of its weight, there is gravity, and not both springs and
 * dampers are disabled, which skips all passive forces. */
static bool is_compensated(const api_mjcf *m)
{
    const api_mjcf_option *s    = &m->option;
    bool                   some = false;
    for (size_t i = 0; i < m->n_bodies; i++)
        some = some || m->bodies[i].gravcomp > 0;
    return some && !(s->no_springs && s->no_dampers) &&
           (s->gravity[0] != 0 || s->gravity[1] != 0 || s->gravity[2] != 0);
}

/* Sets gravcomp to 0 for bodies that do not move or have no mass. Sets *share to that of the first other body, or NAN;
 * returns true if all others have the same. */
static bool is_uniform(api_mjcf *m, double *share)
{
    bool same = true;
    *share    = NAN;
    for (size_t i = 0; i < m->n_bodies; i++) {
        api_mjcf_body *body = &m->bodies[i];
        if (!body->moves || body->inertia.mass == 0) {
            body->gravcomp = 0;
            continue;
        }
        if (isnan(*share)) *share = body->gravcomp;
        same = same && body->gravcomp == *share;
    }
    return same;
}

static void clear_compensation(api_mjcf *m)
{
    for (size_t i = 0; i < m->n_bodies; i++)
        m->bodies[i].gravcomp = 0;
}

/* Counts the joints whose actuators compensate, which leaves the weight in inverse dynamics; *first is one of them. */
static size_t count_compensating(const api_mjcf *m, const api_mjcf_joint **first)
{
    size_t n = 0;
    for (size_t i = 0; i < m->n_joints; i++) {
        if (!m->joints[i].gravcomp_by_actuators) continue;
        if (n++ == 0) *first = &m->joints[i];
    }
    return n;
}

/* Reports compensation by actuators, which a model does not have: it stays in the efforts. */
static bool report_actuators(api_mjcf *m, const api_mjcf_joint *first, size_t n)
{
    if (n == m->n_joints)
        return api_xml_report(
            &m->xml, first->element, "warning", "not-held",
            "actuatorgravcomp of all joints: efforts of the model include the compensation of gravity, "
            "which MuJoCo adds to the forces of the actuators beside their ranges");
    return api_xml_report(&m->xml, first->element, "warning", "not-held",
                          "gravcomp is not part of the model, which has the gravity of the file: the actuators of some "
                          "joints compensate, those of others do not; let all joints or none have actuatorgravcomp");
}

bool api_mjcf_read_gravity(api_mjcf *m, double gravity[3])
{
    double                share = 0;
    const api_mjcf_joint *first = NULL;
    const bool            some = is_compensated(m), uniform = is_uniform(m, &share);
    const size_t          n       = count_compensating(m, &first);
    const bool            by_link = some && n == 0 && !uniform;
    for (int i = 0; i < 3; i++)
        gravity[i] = m->option.gravity[i] + 0.0;
    if (by_link)
        return api_xml_report(&m->xml, m->xml.root, "info", "compensated",
                              "gravcomp differs between bodies: it is \"gravity_compensation\" of their links");
    clear_compensation(m);
    if (!some || isnan(share) || (uniform && share == 0)) return true;
    if (n > 0) return report_actuators(m, first, n);
    for (int i = 0; i < 3; i++) {
        gravity[i] = (1 - share) * m->option.gravity[i] + 0.0;
        if (!api_mjcf_check_finite(m, m->xml.root, "gravity with its compensation", gravity[i])) return false;
    }
    return api_xml_report(&m->xml, m->xml.root, "info", "compensated",
                          "gravcomp %.9g of all bodies: gravity is %.9g times that of the file", share, 1 - share);
}
