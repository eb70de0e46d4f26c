/* mjcf_gravity.c - read gravity and its compensation by <body gravcomp>. Compensation that is the same for all bodies
 * is a smaller gravity; a document holds no other. */
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

/* Sets *share to that of all moving bodies with a mass. Returns the first body whose share differs from those before,
 * or NULL. */
static const xmlNode *find_different(const api_mjcf *m, double *share)
{
    *share = NAN;
    for (size_t i = 0; i < m->n_bodies; i++) {
        const api_mjcf_body *body = &m->bodies[i];
        if (!body->moves || body->inertia.mass == 0) continue;
        if (isnan(*share)) *share = body->gravcomp;
        if (body->gravcomp != *share) return body->element;
    }
    return NULL;
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

static bool not_held(api_mjcf *m, const xmlNode *element, const char *reason)
{
    return api_xml_report(&m->xml, element, "warning", "not-held",
                          "gravcomp is not part of the model, which has the gravity of the file: %s", reason);
}

bool api_mjcf_read_gravity(api_mjcf *m, double gravity[3])
{
    double                share = 0;
    const api_mjcf_joint *first = NULL;
    bool                  some  = is_compensated(m);
    for (int i = 0; i < 3; i++)
        gravity[i] = m->option.gravity[i] + 0.0;
    if (!some) return true;
    const xmlNode *different = find_different(m, &share);
    size_t         n         = count_compensating(m, &first);
    if (different) return not_held(m, different, "it differs between bodies");
    if (isnan(share) || share == 0) return true;
    if (n == m->n_joints)
        return api_xml_report(
            &m->xml, first->element, "warning", "not-held",
            "actuatorgravcomp of all joints: efforts of the model include the compensation of gravity, "
            "which MuJoCo adds to the forces of the actuators beside their ranges");
    if (n > 0) return not_held(m, first->element, "the actuators of some joints compensate, those of others do not");
    for (int i = 0; i < 3; i++) {
        gravity[i] = (1 - share) * m->option.gravity[i] + 0.0;
        if (!api_mjcf_check_finite(m, m->xml.root, "gravity with its compensation", gravity[i])) return false;
    }
    return api_xml_report(&m->xml, m->xml.root, "info", "compensated",
                          "gravcomp %.9g of all bodies: gravity is %.9g times that of the file", share, 1 - share);
}
