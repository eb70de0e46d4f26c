/* mjcf_equality.c - read <equality>: a linear equality of two joints couples them (a mimic joint of the document), as
 * does one of fixed tendons that two joints move; `connect` is a spherical loop, `weld` a fixed one. */
#include "mjcf_reader.h"
#include "mjcf_tendon.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static bool not_held(api_mjcf *m, const xmlNode *element, const char *reason)
{
    return api_xml_report(&m->xml, element, "warning", "not-held", "<%.40s> of <equality> is not part of the model: %s",
                          (const char *)element->name, reason);
}

/* --- joints ------------------------------------------------------------------------------------------------------- */

static bool find_joint(api_mjcf *m, const xmlNode *element, const char *attribute, int need, int *index)
{
    const char *name = NULL;
    *index           = -1;
    if (!api_xml_text(&m->xml, element, attribute, need, &name)) return false;
    if (!name) return true;
    const json_t *found = json_object_get(m->joint_index, name);
    if (!found)
        return api_xml_fail(&m->xml, element, API_UNKNOWN_NAME, "its %s \"%.*s\" is not a joint of this file",
                            attribute, api_text_shown(name), name);
    *index = (int)json_integer_value(found);
    if (!api_mjcf_has_several(&m->joints[*index])) return true;
    return api_xml_fail(&m->xml, element, API_BAD_VALUE, "its %s \"%.*s\" is neither a hinge nor a slide", attribute,
                        api_text_shown(name), name);
}

static bool is_bound(const api_mjcf_joint *joint)
{
    return joint->locked || joint->leader >= 0;
}

/* True if `joint` follows `leader`, directly or by other joints. */
static bool follows(const api_mjcf *m, int joint, int leader)
{
    while (joint != leader && m->joints[joint].leader >= 0)
        joint = m->joints[joint].leader;
    return joint == leader;
}

/* Couples the joints, q1 = c1 q2 + c0: makes one of them follow the other. */
static bool couple(api_mjcf *m, const xmlNode *element, int first, int second, const double c[2])
{
    api_mjcf_joint *a = &m->joints[first], *b = &m->joints[second];
    if (follows(m, second, first) || follows(m, first, second) || (is_bound(a) && is_bound(b)))
        return not_held(m, element, "other equalities couple its joints already");
    if (!is_bound(a)) {
        a->leader     = second;
        a->multiplier = c[1];
        a->offset     = c[0];
    } else {
        b->leader     = first;
        b->multiplier = 1 / c[1];
        b->offset     = -c[0] / c[1];
    }
    return true;
}

static bool lock(api_mjcf *m, const xmlNode *element, api_mjcf_joint *joint, double position)
{
    if (is_bound(joint)) return not_held(m, element, "another equality couples its joint already");
    joint->locked = true;
    joint->offset = position;
    return true;
}

/* q1 - ref1 = a0 + a1 (q2 - ref2) + a2 (q2 - ref2)^2 + ... */
static bool read_joint(api_mjcf *m, const api_mjcf_item *item)
{
    double       a[5] = {0, 1, 0, 0, 0};
    api_xml_span span = {.v = a, .min = 1, .max = 5};
    int          first, second;
    if (!find_joint(m, item->element, "joint1", API_REQUIRED, &first) ||
        !find_joint(m, item->element, "joint2", API_OPTIONAL, &second) || !api_mjcf_span(m, item, "polycoef", &span))
        return false;
    double ref = m->joints[first].ref;
    if (second < 0) return lock(m, item->element, &m->joints[first], ref + a[0]);
    if (a[2] != 0 || a[3] != 0 || a[4] != 0)
        return not_held(m, item->element, "a polynomial of a degree above 1 couples its joints");
    if (first == second) return not_held(m, item->element, "it couples a joint with itself");
    if (a[1] == 0) return lock(m, item->element, &m->joints[first], ref + a[0]);
    const double c[2] = {ref + a[0] - a[1] * m->joints[second].ref, a[1]};
    return couple(m, item->element, first, second, c);
}

/* Joints whose positions an equality of tendons couples: sum of u (q - ref) = 0 but for a constant. */
typedef struct coupling {
    size_t n; /* joints with u != 0, if at most two */
    int    joint[2];
    double u[2];
} coupling;

/* Adds factor times the length of a fixed tendon. Returns false for a third joint. */
static bool add_tendon(const api_mjcf_tendon *t, double factor, coupling *sum)
{
    for (size_t i = 0; i < t->n; i++) {
        size_t k = 0;
        while (k < sum->n && sum->joint[k] != t->joint[i])
            k++;
        if (k == 2) return false;
        if (k == sum->n) sum->u[sum->n++] = 0;
        sum->joint[k] = t->joint[i];
        sum->u[k] += factor * t->coefficient[i];
    }
    return true;
}

/* L1 - L1_0 = a0 + a1 (L2 - L2_0) + ..., where L_0 is the length at the reference. */
static bool couple_tendons(api_mjcf *m, const api_mjcf_item *item)
{
    double           a[5] = {0, 1, 0, 0, 0};
    api_xml_span     span = {.v = a, .min = 1, .max = 5};
    coupling         sum  = {0};
    api_mjcf_tendon *first, *second;
    if (!api_mjcf_find_tendon(m, item->element, "tendon1", API_REQUIRED, &first) ||
        !api_mjcf_find_tendon(m, item->element, "tendon2", API_OPTIONAL, &second) ||
        !api_mjcf_span(m, item, "polycoef", &span))
        return false;
    if (!first || !first->fixed || (second && !second->fixed))
        return not_held(m, item->element, "the length of its tendon is not a sum over joints");
    if (second && (a[2] != 0 || a[3] != 0 || a[4] != 0))
        return not_held(m, item->element, "a polynomial of a degree above 1 couples its tendons");
    if (!add_tendon(first, 1, &sum) || (second && !add_tendon(second, -a[1], &sum)))
        return not_held(m, item->element, "it couples more than two joints");
    if (sum.n == 2 && sum.u[0] == 0) sum = (coupling){1, {sum.joint[1]}, {sum.u[1]}};
    if (sum.n == 0 || sum.u[0] == 0) return not_held(m, item->element, "it couples no joints");
    const double ref = m->joints[sum.joint[0]].ref, c0 = ref + a[0] / sum.u[0];
    if (sum.n == 1 || sum.u[1] == 0) return lock(m, item->element, &m->joints[sum.joint[0]], c0);
    const double ratio = sum.u[1] / sum.u[0], c[2] = {c0 + ratio * m->joints[sum.joint[1]].ref, -ratio};
    return couple(m, item->element, sum.joint[0], sum.joint[1], c);
}

/* A joint that follows a locked one is locked, too. Chains end, as `couple` makes no circle. */
static void lock_followers(api_mjcf *m)
{
    for (size_t n = 0; n < m->n_joints; n++) { /* each round passes one more joint of the longest chain */
        bool changed = false;
        for (size_t i = 0; i < m->n_joints; i++) {
            api_mjcf_joint *joint = &m->joints[i];
            if (joint->leader < 0 || !m->joints[joint->leader].locked) continue;
            joint->locked = changed = true;
            joint->offset += joint->multiplier * m->joints[joint->leader].offset;
            joint->leader = -1;
        }
        if (!changed) break;
    }
}

/* --- loops -------------------------------------------------------------------------------------------------------- */

static bool find_body(api_mjcf *m, const xmlNode *element, const char *attribute, int need, int *body)
{
    const char *name = NULL;
    *body            = -1;
    if (!api_xml_text(&m->xml, element, attribute, need, &name)) return false;
    if (!name || strcmp(name, "world") == 0) return true;
    const json_t *found = json_object_get(m->body_index, name);
    if (found) *body = (int)json_integer_value(found);
    return found || api_xml_fail(&m->xml, element, API_UNKNOWN_NAME, "its %s \"%.*s\" is not a body of this file",
                                 attribute, api_text_shown(name), name);
}

static bool find_site(api_mjcf *m, const xmlNode *element, const char *attribute, api_mjcf_loop *loop, int side)
{
    const char *name = NULL;
    if (!api_xml_text(&m->xml, element, attribute, API_REQUIRED, &name)) return false;
    const json_t *found = json_object_get(m->site_index, name);
    if (!found)
        return api_xml_fail(&m->xml, element, API_UNKNOWN_NAME, "its %s \"%.*s\" is not a site of this file", attribute,
                            api_text_shown(name), name);
    const api_mjcf_site *site = &m->sites[json_integer_value(found)];
    loop->body[side]          = site->body;
    loop->X[side]             = site->X_bs;
    return true;
}

/* X_ab of two bodies at the reference position. */
static dyn_pose between(const api_mjcf *m, int a, int b)
{
    dyn_pose X_wa = api_mjcf_pose_of(m, a), X_wb = api_mjcf_pose_of(m, b), X_aw = dyn_pose_inverse(&X_wa);
    return dyn_pose_compose(&X_aw, &X_wb);
}

/* The anchor is a point of the first body; where it lies in the second follows from the reference position. */
static bool read_anchor(api_mjcf *m, const xmlNode *element, api_mjcf_loop *loop)
{
    dyn_pose X = dyn_pose_identity();
    if (!api_xml_numbers(&m->xml, element, "anchor", API_REQUIRED, X.p, 3)) return false;
    if (m->compilers[0].global) {
        dyn_pose X_wa = api_mjcf_pose_of(m, loop->body[0]), X_aw = dyn_pose_inverse(&X_wa);
        X = dyn_pose_compose(&X_aw, &X);
    }
    dyn_pose X_ba = between(m, loop->body[1], loop->body[0]);
    loop->X[0]    = X;
    loop->X[1]    = dyn_pose_compose(&X_ba, &X);
    return true;
}

/* relpose is the pose in the first body of the frame of the second, moved to the point `anchor`. By default, or with a
 * quaternion of zeros, it is that at the reference position, and the anchor changes nothing. */
static bool read_relative_pose(api_mjcf *m, const xmlNode *element, api_mjcf_loop *loop)
{
    double v[7] = {0}, anchor[3] = {0};
    loop->X[0] = between(m, loop->body[0], loop->body[1]);
    loop->X[1] = dyn_pose_identity();
    if (!api_xml_numbers(&m->xml, element, "relpose", API_OPTIONAL, v, 7) ||
        !api_xml_numbers(&m->xml, element, "anchor", API_OPTIONAL, anchor, 3))
        return false;
    if (v[3] == 0 && v[4] == 0 && v[5] == 0 && v[6] == 0) return true;
    if (!api_mjcf_normalise(m, element, "relpose", v + 3, 4)) return false;
    loop->X[0] = dyn_pose_wxyz(v + 3);
    loop->X[1] = dyn_pose_translation(anchor[0], anchor[1], anchor[2]);
    memcpy(loop->X[0].p, v, 3 * sizeof *v);
    return true;
}

/* Reports torquescale 0, with which MuJoCo's weld constrains a point only; the loop of the model constrains the
 * orientation, too. */
static bool check_torque_scale(api_mjcf *m, const xmlNode *element)
{
    double scale = 1;
    return api_xml_numbers(&m->xml, element, "torquescale", API_OPTIONAL, &scale, 1) &&
           (scale != 0 || api_xml_report(&m->xml, element, "warning", "not-held",
                                         "torquescale 0 of <weld>: the loop of the model holds the orientation, too"));
}

/* Inverts the mark of each joint between a body and the world. Called for both bodies of a loop, this marks the joints
 * between them. */
static void turn_over(const api_mjcf *m, int body, bool *mark)
{
    for (; body >= 0; body = m->bodies[body].parent)
        for (size_t i = 0; i < m->bodies[body].n_joints; i++)
            if (!m->joints[m->bodies[body].first_joint + i].locked)
                mark[m->bodies[body].first_joint + i] = !mark[m->bodies[body].first_joint + i];
}

/* Keeps a loop, and makes its joints passive; api_mjcf_read_actuators makes the driven ones active again. */
static bool mark_passive(api_mjcf *m, const api_mjcf_loop *loop)
{
    bool *mark = api_arena_take(m->xml.base.arena, m->n_joints, sizeof *mark);
    bool  any  = false;
    if (!mark) return api_reader_no_memory(&m->xml.base);
    turn_over(m, loop->body[0], mark);
    turn_over(m, loop->body[1], mark);
    for (size_t i = 0; i < m->n_joints; i++) {
        m->joints[i].passive |= mark[i];
        any |= mark[i];
    }
    m->n_loops += any;
    return any || not_held(m, loop->element, "no joint lies between its two bodies");
}

/* The mocap body that carries a body; NULL: none. */
static const api_mjcf_body *mocap_of(const api_mjcf *m, int body)
{
    while (body >= 0 && !m->bodies[body].mocap)
        body = m->bodies[body].parent;
    return body < 0 ? NULL : &m->bodies[body];
}

/* A program moves the mocap bodies, which pull at a robot by their welds: the robot by itself has no such loop. */
static bool report_mocap(api_mjcf *m, const xmlNode *element, const api_mjcf_body *mocap)
{
    char reason[300];
    snprintf(
        reason, sizeof reason,
        "a program moves the mocap body \"%.*s\"; without mocap=\"true\" the body stands in the world and holds the "
        "robot",
        api_text_shown(mocap->name), mocap->name);
    return not_held(m, element, reason);
}

static bool read_loop(api_mjcf *m, const xmlNode *element, bool weld)
{
    api_mjcf_loop *loop  = &m->loops[m->n_loops];
    bool           sites = api_xml_has(element, "site1");
    char           wanted[40];
    const char    *name = NULL;
    *loop               = (api_mjcf_loop){.element = element, .type = weld ? "fixed" : "spherical"};
    snprintf(wanted, sizeof wanted, "%s%zu", weld ? "weld" : "connect", m->n_loops + 1);
    if (!api_xml_text(&m->xml, element, "name", API_OPTIONAL, &name)) return false;
    loop->name = name && *name ? name : api_arena_text(m->xml.base.arena, wanted);
    if (!loop->name) return api_reader_no_memory(&m->xml.base);
    if (sites) {
        if (!find_site(m, element, "site1", loop, 0) || !find_site(m, element, "site2", loop, 1)) return false;
    } else if (!find_body(m, element, "body1", API_REQUIRED, &loop->body[0]) ||
               !find_body(m, element, "body2", API_OPTIONAL, &loop->body[1]) ||
               !(weld ? read_relative_pose(m, element, loop) : read_anchor(m, element, loop))) {
        return false;
    }
    for (int side = 0; side < 2; side++) {
        const api_mjcf_body *mocap = mocap_of(m, loop->body[side]);
        if (mocap) return report_mocap(m, element, mocap);
    }
    bool done;
    if (!api_mjcf_hold_free_body(m, loop, &done)) return false;
    return done || mark_passive(m, loop);
}

/* --- the section -------------------------------------------------------------------------------------------------- */

static bool read_equality(api_mjcf *m, const xmlNode *element)
{
    static const char *const values[] = {"false", "true", NULL};
    int                      active   = 1;
    bool                     joint = api_xml_is(element, "joint"), weld = api_xml_is(element, "weld"),
         tendon = api_xml_is(element, "tendon");
    api_mjcf_item item;
    if (!joint && !weld && !tendon && !api_xml_is(element, "connect"))
        return true; /* api_mjcf_report_unused reports the element */
    if (!api_mjcf_open_item(m, element, API_MJCF_EQUALITY, m->main_class, &item) ||
        !api_mjcf_choice(m, &item, "active", values, &active))
        return false;
    if (!active || m->option.no_equalities)
        return api_xml_report(&m->xml, element, "info", "dropped", "<%.40s> of <equality> is not active",
                              (const char *)element->name);
    if (m->equality == API_EQUALITY_REFUSE)
        return api_xml_fail(&m->xml, element, API_NOT_SUPPORTED,
                            "the file has an active equality, and equality=refuse was requested");
    if (m->equality == API_EQUALITY_INDEPENDENT) return not_held(m, element, "equality=independent was requested");
    if (api_mjcf_names_generated(m, element))
        return not_held(m, element, "it refers to what <composite> or <flexcomp> makes");
    if (tendon) return couple_tendons(m, &item);
    return joint ? read_joint(m, &item) : (!weld || check_torque_scale(m, element)) && read_loop(m, element, weld);
}

bool api_mjcf_read_equalities(api_mjcf *m)
{
    size_t n = 0;
    for (const xmlNode *s = api_xml_child(m->xml.root, "equality"); s; s = api_xml_next(s, "equality"))
        for (const xmlNode *e = s->children; e; e = e->next)
            if (e->type == XML_ELEMENT_NODE && ++n > m->xml.max_links)
                return api_xml_fail(&m->xml, e, API_MODEL_TOO_LARGE, "there are more than %zu equalities, the limit",
                                    m->xml.max_links);
    m->loops = api_arena_take(m->xml.base.arena, n, sizeof *m->loops);
    if (!m->loops) return api_reader_no_memory(&m->xml.base);
    for (const xmlNode *s = api_xml_child(m->xml.root, "equality"); s; s = api_xml_next(s, "equality"))
        for (const xmlNode *e = s->children; e; e = e->next)
            if (e->type == XML_ELEMENT_NODE && !read_equality(m, e)) return false;
    lock_followers(m);
    return true;
}
