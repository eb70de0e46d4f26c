/* mjcf_tendon_forces.c - write the forces that fixed tendons exert by themselves, and report those of tendons that the
 * model lacks.
 *
 * With L = sum of c q, armature a, damping d and dry friction f add c (a L'' + d L' + f sign(L')) to the efforts of the
 * joints. For one joint that is a rotor, a damper and friction of the joint itself, and the spring of the tendon is one
 * of the joint. For several joints it is a motor of a coupled transmission, whose rate is L'; the other motors of that
 * transmission are the rates of all joints but one, without any effort. A document has no spring of several joints. */
#include "mjcf_tendon.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define MOST_COEFFICIENT 1e6

/* The rate of a tendon in terms of joints that follow no other: L' = sum of c q'. */
typedef struct rate {
    size_t n;
    int    joint[DYN_MAX_DRIVEN];
    double c[DYN_MAX_DRIVEN];
    double constant; /* part of L of locked joints and offsets */
    bool   too_many; /* more joints than a transmission takes */
} rate;

static void add_tendon_term(rate *r, int joint, double c)
{
    size_t i = 0;
    while (i < r->n && r->joint[i] != joint)
        i++;
    if (i == DYN_MAX_DRIVEN) {
        r->too_many = true;
        return;
    }
    if (i == r->n) r->c[r->n++] = 0;
    r->joint[i] = joint;
    r->c[i] += c;
}

/* Resolves followers into their leaders, and leaves out joints whose coefficients cancel. */
static rate tendon_rate(const api_mjcf *m, const api_mjcf_tendon *t)
{
    rate   r    = {0};
    size_t kept = 0;
    for (size_t i = 0; i < t->n; i++) {
        int    joint = t->joint[i];
        double c     = t->coefficient[i];
        for (; m->joints[joint].leader >= 0; joint = m->joints[joint].leader) {
            r.constant += c * m->joints[joint].offset;
            c *= m->joints[joint].multiplier;
        }
        if (m->joints[joint].locked)
            r.constant += c * m->joints[joint].offset;
        else if (c != 0)
            add_tendon_term(&r, joint, c);
    }
    for (size_t i = 0; i < r.n; i++)
        if (r.c[i] != 0) {
            r.joint[kept] = r.joint[i];
            r.c[kept++]   = r.c[i];
        }
    r.n = kept;
    return r;
}

/* --- one joint ---------------------------------------------------------------------------------------------------- */

/* Adds the tendon to its only joint: c (k (c q + constant - rest)) is the force of its spring. */
static bool fold(api_mjcf *m, api_mjcf_tendon *t, const rate *r)
{
    api_mjcf_joint *joint = &m->joints[r->joint[0]];
    const double    c     = r->c[0];
    joint->motor_armature += t->armature == 0 ? 0 : c * c * t->armature; /* c^2 may be infinite */
    joint->motor_damping += t->damping == 0 ? 0 : c * c * t->damping;
    joint->tendon_friction += fabs(c) * t->friction;
    t->armature = t->damping = t->friction = 0;
    if (t->stiffness == 0 || isnan(t->rest)) return true;
    joint->tendon_stiffness += c * c * t->stiffness;
    joint->tendon_effort += c * t->stiffness * (t->rest - r->constant);
    t->stiffness = 0;
    return api_mjcf_check_finite(m, t->element, "stiffness at the joint", joint->tendon_stiffness) &&
           api_mjcf_check_finite(m, t->element, "effort at the joint", joint->tendon_effort);
}

/* --- several joints ----------------------------------------------------------------------------------------------- */

/* Puts the joint with the largest coefficient first. */
static void order(rate *r)
{
    for (size_t i = 1; i < r->n; i++)
        if (fabs(r->c[i]) > fabs(r->c[0])) {
            const double c     = r->c[0];
            const int    joint = r->joint[0];
            r->c[0]            = r->c[i];
            r->joint[0]        = r->joint[i];
            r->c[i]            = c;
            r->joint[i]        = joint;
        }
}

/* Writes the matrix that converts the rates of the motors to those of the joints. The rate of the first motor is L',
 * those of the others are the rates of the joints after the first. */
static bool write_matrix(api_mjcf *m, const rate *r, json_t *transmission)
{
    json_t *matrix = json_array();
    if (!api_xml_set_field(&m->xml, transmission, "matrix", matrix)) return false;
    for (size_t i = 0; i < r->n; i++) {
        double  row[DYN_MAX_DRIVEN] = {0};
        json_t *array               = json_array();
        for (size_t j = 0; i == 0 && j < r->n; j++)
            row[j] = j == 0 ? 1 / r->c[0] : -r->c[j] / r->c[0];
        if (i > 0) row[i] = 1;
        if (json_array_append_new(matrix, array)) return api_reader_no_memory(&m->xml.base);
        if (!api_xml_append_numbers(&m->xml, array, "matrix", row, r->n)) return false;
    }
    return true;
}

static bool write_figures(api_mjcf *m, const api_mjcf_tendon *t, json_t *motor)
{
    json_t *friction = json_object();
    return api_xml_set_number(&m->xml, motor, "rotor_inertia", t->armature) &&
           api_xml_set_field(&m->xml, motor, "friction", friction) &&
           api_xml_set_number(&m->xml, friction, "viscous", t->damping) &&
           api_xml_set_number(&m->xml, friction, "coulomb", t->friction);
}

/* Writes the motors; the first has the armature, damping and friction of the tendon. */
static bool write_motors(api_mjcf *m, api_mjcf_tendon *t, const rate *r, json_t *transmission)
{
    json_t *motors = json_array();
    if (!api_xml_set_field(&m->xml, transmission, "motors", motors)) return false;
    for (size_t i = 0; i < r->n; i++) {
        char        wanted[300];
        json_t     *motor = json_object();
        const char *base  = t->name ? t->name : "tendon";
        snprintf(wanted, sizeof wanted, i == 0 ? "%.140s" : "%.140s.%.140s", base, m->joints[r->joint[i]].name);
        const char *name = api_xml_reserve_name(&m->document, m->document.joints, wanted);
        if (!name || json_array_append_new(motors, motor)) return api_reader_no_memory(&m->xml.base);
        if (!api_xml_set_field(&m->xml, motor, "name", json_string(name)) || (i == 0 && !write_figures(m, t, motor)))
            return false;
    }
    return true;
}

static bool write_tendon_joints(api_mjcf *m, const rate *r, json_t *transmission)
{
    json_t *joints = json_array();
    if (!api_xml_set_field(&m->xml, transmission, "joints", joints)) return false;
    for (size_t i = 0; i < r->n; i++)
        if (json_array_append_new(joints, json_string(m->joints[r->joint[i]].name)))
            return api_reader_no_memory(&m->xml.base);
    return true;
}

static bool write_transmission(api_mjcf *m, api_mjcf_tendon *t, rate *r)
{
    json_t *list = json_object_get(m->document.document, "transmissions"), *transmission = json_object();
    if (!list) {
        list = json_array();
        if (!api_xml_set_field(&m->xml, m->document.document, "transmissions", list)) {
            json_decref(transmission);
            return false;
        }
    }
    if (!transmission || json_array_append_new(list, transmission)) return api_reader_no_memory(&m->xml.base);
    order(r);
    return write_tendon_joints(m, r, transmission) && write_matrix(m, r, transmission) &&
           write_motors(m, t, r, transmission);
}

static bool carries(const api_mjcf *m, int body, int other)
{
    while (other > body)
        other = m->bodies[other].parent;
    return other == body;
}

/* Reports the first two joints of an armature of which neither moves the other: MuJoCo 3.14 has no entry for them in
 * its mass matrix. */
static bool report_branches(api_mjcf *m, const api_mjcf_tendon *t, const rate *r)
{
    const char *name = t->name ? t->name : "";
    for (size_t i = 0; t->armature != 0 && i < r->n; i++)
        for (size_t j = 0; j < i; j++) {
            const api_mjcf_joint *a = &m->joints[r->joint[j]], *b = &m->joints[r->joint[i]];
            if (carries(m, a->body, b->body) || carries(m, b->body, a->body)) continue;
            return api_xml_report(
                &m->xml, t->element, "warning", "not-held",
                "MuJoCo's mass matrix for the armature of <fixed>%s%.*s%s is not part of the model: it "
                "leaves out that joints of different branches are coupled, as \"%.*s\" and \"%.*s\" "
                "are here",
                *name ? " \"" : "", api_text_shown(name), name, *name ? "\"" : "", api_text_shown(a->name), a->name,
                api_text_shown(b->name), b->name);
        }
    return true;
}

/* Writes a transmission unless a joint is in one already, or the coefficients are beyond the range that the document
 * tells apart from a singular matrix. */
static bool couple_joints(api_mjcf *m, api_mjcf_tendon *t, rate *r)
{
    if (t->armature == 0 && t->damping == 0 && t->friction == 0) return true;
    for (size_t i = 0; i < r->n; i++)
        if (m->joints[r->joint[i]].in_tendon || fabs(r->c[i]) > MOST_COEFFICIENT) return true;
    for (size_t i = 0; i < r->n; i++)
        m->joints[r->joint[i]].in_tendon = true;
    if (!report_branches(m, t, r) || !write_transmission(m, t, r)) return false;
    t->armature = t->damping = t->friction = 0;
    return true;
}

/* --- the report --------------------------------------------------------------------------------------------------- */

/* Reports a quantity that tendons have and the model lacks. Names the first such tendon, and counts the others. */
static bool report_figure(api_mjcf *m, const char *figure, double (*value)(const api_mjcf *, const api_mjcf_tendon *))
{
    const api_mjcf_tendon *first    = NULL;
    size_t                 n        = 0;
    char                   more[60] = "";
    for (size_t i = 0; i < m->n_tendons; i++)
        if (value(m, &m->tendons[i]) != 0 && n++ == 0) first = &m->tendons[i];
    if (!first) return true;
    const char *name = first->name ? first->name : "";
    if (n > 1) snprintf(more, sizeof more, ", and that of %zu other tendons", n - 1);
    return api_xml_report(
        &m->xml, first->element, "warning", "not-held", "%s of <%.40s>%s%.*s%s is not part of the model%s", figure,
        (const char *)first->element->name, *name ? " \"" : "", api_text_shown(name), name, *name ? "\"" : "", more);
}

static double lost_stiffness(const api_mjcf *m, const api_mjcf_tendon *t)
{
    return m->option.no_springs ? 0 : t->stiffness;
}

static double lost_damping(const api_mjcf *m, const api_mjcf_tendon *t)
{
    return m->option.no_dampers ? 0 : t->damping;
}

static double lost_armature(const api_mjcf *m, const api_mjcf_tendon *t)
{
    (void)m;
    return t->armature;
}

static double lost_friction(const api_mjcf *m, const api_mjcf_tendon *t)
{
    return m->option.no_friction ? 0 : t->friction;
}

static double lost_range(const api_mjcf *m, const api_mjcf_tendon *t)
{
    return t->limited && !m->option.no_limits;
}

static bool report_tendons(api_mjcf *m)
{
    size_t         idle  = 0;
    const xmlNode *first = NULL;
    for (size_t i = 0; i < m->n_tendons; i++) {
        const api_mjcf_tendon *t     = &m->tendons[i];
        const bool             force = t->stiffness != 0 || t->damping != 0 || t->armature != 0 || t->friction != 0;
        if (!force && !t->limited && !t->drives && idle++ == 0) first = t->element;
    }
    return (!first || api_xml_report(&m->xml, first, "info", "dropped",
                                     "tendons that exert no force by themselves, %zu, have no part in the dynamics but "
                                     "for their actuators and equalities",
                                     idle)) &&
           report_figure(m, "stiffness", lost_stiffness) && report_figure(m, "damping", lost_damping) &&
           report_figure(m, "armature", lost_armature) && report_figure(m, "frictionloss", lost_friction) &&
           report_figure(m, "range", lost_range);
}

bool api_mjcf_write_tendons(api_mjcf *m)
{
    for (size_t i = 0; i < m->n_tendons; i++) {
        api_mjcf_tendon *t = &m->tendons[i];
        if (!t->fixed) continue;
        rate r    = tendon_rate(m, t);
        t->drives = t->stiffness != 0 || t->damping != 0 || t->armature != 0 || t->friction != 0;
        if (m->option.no_dampers) t->damping = 0;
        if (m->option.no_friction) t->friction = 0;
        if (r.too_many) continue;
        if (r.n == 0) t->stiffness = t->damping = t->armature = t->friction = 0;
        if (r.n == 1 && !fold(m, t, &r)) return false;
        if (r.n > 1 && !couple_joints(m, t, &r)) return false;
    }
    return report_tendons(m);
}
