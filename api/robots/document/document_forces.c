/* document_forces.c - read the internal forces of a joint: friction (also of motors), a spring, and the elasticity
 * between a joint and its motor. */
#include "document.h"
#include <stdio.h>

/* Reads a magnitude of friction, "coulomb" or "breakaway": one for both directions of motion, or one for each. */
static bool read_magnitudes(const api_entry *friction, const char *key, double *positive, double *negative)
{
    static const char *const fields[] = {"positive", "negative", NULL};
    api_entry                both;
    if (!json_is_object(json_object_get(friction->input, key))) {
        bool ok   = api_entry_not_negative(friction, key, API_OPTIONAL, positive);
        *negative = *positive;
        return ok;
    }
    if (!api_entry_open(&both, friction, key, fields) ||
        !api_entry_not_negative(&both, "positive", API_OPTIONAL, positive) ||
        !api_entry_not_negative(&both, "negative", API_OPTIONAL, negative))
        return false;
    api_entry_close(&both, false);
    return true;
}

/* rad/s or m/s. Derivatives of friction have its square in the denominator. */
#define LEAST_STRIBECK_VELOCITY 1e-9

/* Reads Stribeck's curve: "breakaway" and "stribeck_velocity", both or none. */
static bool read_stribeck(const api_entry *friction, dyn_friction *out)
{
    bool breakaway = api_entry_has(friction, "breakaway"), velocity = api_entry_has(friction, "stribeck_velocity");
    if (!breakaway && !velocity) return true;
    if (!breakaway || !velocity)
        return api_entry_fail(friction, breakaway ? "stribeck_velocity" : "breakaway", API_MISSING_FIELD,
                              "friction has breakaway and stribeck_velocity together, or neither");
    if (!read_magnitudes(friction, "breakaway", &out->breakaway_positive, &out->breakaway_negative) ||
        !api_entry_not_negative(friction, "stribeck_velocity", API_REQUIRED, &out->stribeck_velocity))
        return false;
    if (!(out->stribeck_velocity >= LEAST_STRIBECK_VELOCITY))
        return api_entry_fail(friction, "stribeck_velocity", API_BAD_VALUE,
                              "the stribeck_velocity %.9g is less than %g rad/s or m/s", out->stribeck_velocity,
                              LEAST_STRIBECK_VELOCITY);
    if (out->breakaway_positive < out->positive || out->breakaway_negative < out->negative)
        return api_entry_fail(friction, "breakaway", API_BAD_VALUE,
                              "the breakaway friction is less than the Coulomb friction of fast motion");
    return true;
}

/* Reads a damping coefficient. A negative coefficient adds energy to the motion: it is accepted but reported. */
static bool read_damping(const api_entry *entry, const char *key, double *value)
{
    if (!api_entry_number(entry, key, API_OPTIONAL, value)) return false;
    if (*value >= 0) return true;
    return api_entry_report(entry, key, "warning", "suspicious", "\"%s\" is negative: it drives the joint", key);
}

/* Reads "load", the coefficient of friction that grows with the effort in the joint. */
static bool read_load(const api_entry *friction, double *load)
{
    if (!api_entry_not_negative(friction, "load", API_OPTIONAL, load)) return false;
    if (*load < 1) return true;
    return api_entry_fail(friction, "load", API_BAD_VALUE,
                          "the load coefficient %.9g is not less than 1: the friction would exceed the load", *load);
}

bool api_document_read_friction(const api_entry *owner, dyn_friction *out)
{
    static const char *const fields[] = {"viscous", "coulomb", "coulomb_velocity", "breakaway", "stribeck_velocity",
                                         "load",    NULL};
    api_entry                friction;
    if (!api_entry_has(owner, "friction")) return true;
    if (!api_entry_open(&friction, owner, "friction", fields) || !read_damping(&friction, "viscous", &out->viscous) ||
        !read_magnitudes(&friction, "coulomb", &out->positive, &out->negative) ||
        !api_entry_not_negative(&friction, "coulomb_velocity", API_OPTIONAL, &out->coulomb_velocity) ||
        !read_stribeck(&friction, out) || !read_load(&friction, &out->load))
        return false;
    api_entry_close(&friction, false);
    return true;
}

/* Refuses fields that the spring of a joint with a quaternion does not have. */
static bool check_free_spring(const api_entry *spring, dyn_joint_kind kind)
{
    static const char *const polynomials[] = {"stiffness_polynomial", "damping_polynomial"};
    for (size_t i = 0; i < 2; i++)
        if (api_entry_has(spring, polynomials[i]))
            return api_entry_fail(spring, polynomials[i], API_BAD_VALUE,
                                  "the spring of a joint with a quaternion is linear: it has no \"%s\"",
                                  polynomials[i]);
    if (kind == DYN_FLOATING && api_entry_has(spring, "stiffness"))
        return api_entry_fail(spring, "stiffness", API_BAD_VALUE,
                              "the spring of a floating joint or base has \"damping\" alone");
    return !api_entry_has(spring, "rest") ||
           api_entry_fail(spring, "rest", API_BAD_VALUE,
                          "the spring of a joint with a quaternion has no \"rest\": it is at rest without rotation");
}

/* Reads the coefficients of the second and third power. A damper with a negative one may drive the joint. */
static bool read_polynomials(const api_entry *spring, dyn_spring *out)
{
    double k[2] = {0, 0}, d[2] = {0, 0};
    if (!api_entry_vector(spring, "stiffness_polynomial", API_OPTIONAL, k, 2) ||
        !api_entry_vector(spring, "damping_polynomial", API_OPTIONAL, d, 2))
        return false;
    out->stiffness2 = k[0];
    out->stiffness3 = k[1];
    out->damping2   = d[0];
    out->damping3   = d[1];
    if (d[0] >= 0 && d[1] >= 0) return true;
    return api_entry_report(spring, "damping_polynomial", "warning", "suspicious",
                            "\"damping_polynomial\" has a negative number: it drives the joint at some speeds");
}

bool api_document_read_spring(const api_entry *joint, dyn_joint_kind kind, dyn_spring *out)
{
    static const char *const fields[] = {"stiffness",          "damping", "rest", "stiffness_polynomial",
                                         "damping_polynomial", NULL};
    api_entry                spring;
    if (!api_entry_has(joint, "spring")) return true;
    if (!api_entry_open(&spring, joint, "spring", fields) ||
        (dyn_joint_has_quaternion(kind) && !check_free_spring(&spring, kind)) ||
        !api_entry_number(&spring, "stiffness", API_OPTIONAL, &out->stiffness) ||
        !read_damping(&spring, "damping", &out->damping) ||
        !api_entry_number(&spring, "rest", API_OPTIONAL, &out->rest) || !read_polynomials(&spring, out))
        return false;
    api_entry_close(&spring, false);
    return true;
}

/* Reads "elastic", the spring and damper between joint position q and motor position theta. Their effort is
 * stiffness (q - theta - rest) + damping (q' - theta'). The stiffness must be positive, or else the joint would be
 * free. */
bool api_document_read_elastic(const api_entry *joint, dyn_link *link)
{
    static const char *const fields[] = {"stiffness", "damping", "rest", NULL};
    api_entry                elastic;
    dyn_spring              *out = &link->elasticity;
    link->elastic                = api_entry_has(joint, "elastic");
    if (!link->elastic) return true;
    if (link->mimic)
        return api_entry_fail(joint, "elastic", API_BAD_VALUE,
                              "a joint that mimics another has no coordinate of its own to be elastic in");
    if (!api_entry_open(&elastic, joint, "elastic", fields) ||
        !api_entry_number(&elastic, "stiffness", API_REQUIRED, &out->stiffness) ||
        !read_damping(&elastic, "damping", &out->damping) ||
        !api_entry_number(&elastic, "rest", API_OPTIONAL, &out->rest))
        return false;
    if (out->stiffness > 0) return true;
    return api_entry_fail(&elastic, "stiffness", API_BAD_VALUE,
                          "the stiffness %.9g of an elastic joint is not positive", out->stiffness);
}

/* --- load coefficients ------------------------------------------------------------------------------------------- */

static bool fail_load(const api_document *document, api_reader *reader, size_t link, api_code code, const char *reason)
{
    char        pointer[64];
    const char *joint = document->links[link].joint;
    snprintf(pointer, sizeof pointer, "/links/%zu/joint/friction/load", link);
    return api_fail(reader->problem, code, pointer, "joint \"%.*s\" %s", api_text_shown(joint), joint, reason);
}

bool api_document_check_loads(const api_document *document, api_reader *reader)
{
    for (size_t i = 0; i < document->n_links; i++) {
        const dyn_link *link = &document->links[i].dyn;
        const double    own = link->friction.load, motor = link->motor.present ? link->motor.friction.load : 0;
        if (own == 0 && motor == 0) continue;
        if (document->n_loops > 0 && !document->links[i].actuated)
            return fail_load(document, reader, i, API_NOT_SUPPORTED,
                             "is passive and has friction that depends on its load: the load of passive joints is not "
                             "determined, since several loops may share it");
        if (document->n_loops > 0 && document->n_transmissions > 0)
            return fail_load(document, reader, i, API_NOT_SUPPORTED,
                             "has friction that depends on its load, which models with both loops and transmissions do "
                             "not take");
        if (link->mimic)
            return fail_load(document, reader, i, API_NOT_SUPPORTED,
                             "mimics another, whose friction alone may depend on the load");
        if (link->elastic && own > 0)
            return fail_load(
                document, reader, i, API_NOT_SUPPORTED,
                "is elastic: give the load coefficient to the friction of its motor, whose effort its spring "
                "transmits");
        if (!(own + motor < 1))
            return fail_load(document, reader, i, API_BAD_VALUE,
                             "and its motor have load coefficients whose sum is not less than 1");
    }
    return true;
}
