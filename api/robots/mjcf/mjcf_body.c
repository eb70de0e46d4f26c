/* mjcf_body.c - read <worldbody>: the tree of bodies with their joints, geoms and sites.
 *
 * Poses are local to the body, or to a <frame> in it, or with coordinate="global" those in the world at the reference
 * position. The nesting limit of the parser bounds all recursion. */
#include "mjcf_reader.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The place of an element: its body, the pose of the frame around it in that body, and the class of its defaults. */
typedef struct place {
    int      body;
    dyn_pose X;
    int      class_index;
} place;

/* --- names -------------------------------------------------------------------------------------------------------- */

/* Adds a name to `index`, the map in which references of other elements are looked up. */
static bool enter(api_mjcf *m, const xmlNode *element, json_t *index, const char *name, size_t value)
{
    if (json_object_get(index, name))
        return api_xml_fail(&m->xml, element, API_DUPLICATE_NAME, "another <%.40s> has this name",
                            (const char *)element->name);
    return api_xml_set_field(&m->xml, index, name, json_integer((json_int_t)value));
}

/* Reads the name of a body or joint; *given is NULL if it has none. */
static bool read_name(api_mjcf *m, const xmlNode *element, json_t *index, size_t value, const char **given)
{
    *given = NULL;
    if (!api_xml_text(&m->xml, element, "name", API_OPTIONAL, given)) return false;
    if (*given && **given) return enter(m, element, index, *given, value);
    *given = NULL;
    if (m->n_unnamed++ == 0) m->unnamed = element;
    return true;
}

/* --- joints ------------------------------------------------------------------------------------------------------- */

static bool check_free(api_mjcf *m, const api_mjcf_joint *joint)
{
    const api_mjcf_body *body = &m->bodies[joint->body];
    if (body->parent >= 0)
        return api_xml_fail(&m->xml, joint->element, API_BAD_VALUE,
                            "a free joint is in a body of the world, not in a body of another body");
    return body->n_joints == 1 ||
           api_xml_fail(&m->xml, joint->element, API_BAD_VALUE, "a body with a free joint has no other joint");
}

/* Reads the position and the axis of a joint, in the frame of its body. */
static bool read_axis(api_mjcf *m, const place *at, api_mjcf_joint *joint)
{
    dyn_pose to_body = m->compilers[0].global ? dyn_pose_inverse(&m->bodies[at->body].X_wb) : at->X;
    double   pos[3] = {0}, axis[3] = {0, 0, 1};
    if (m->compilers[0].global) memcpy(pos, m->bodies[at->body].X_wb.p, sizeof pos);
    if (!api_mjcf_numbers(m, &joint->item, "pos", pos, 3) || !api_mjcf_numbers(m, &joint->item, "axis", axis, 3) ||
        !api_mjcf_normalise(m, api_mjcf_with(m, &joint->item, "axis"), "axis", axis, 3))
        return false;
    for (int i = 0; i < 3; i++) {
        joint->axis[i] = dyn_dot(to_body.R[i], axis) + 0.0;
        joint->pos[i]  = dyn_dot(to_body.R[i], pos) + to_body.p[i] + 0.0;
    }
    return true;
}

static bool read_joint(api_mjcf *m, const xmlNode *element, const place *at, api_mjcf_joint *joint)
{
    int type = API_MJCF_HINGE;
    *joint   = (api_mjcf_joint){.element = element, .body = at->body, .leader = -1, .axis = {0, 0, 1}, .multiplier = 1};
    if (api_xml_is(element, "freejoint")) {
        joint->item = (api_mjcf_item){element, API_MJCF_JOINT, API_MJCF_NO_CLASS};
        joint->type = API_MJCF_FREE;
        return true;
    }
    if (!api_mjcf_open_item(m, element, API_MJCF_JOINT, at->class_index, &joint->item) ||
        !api_mjcf_choice(m, &joint->item, "type", api_mjcf_joint_names, &type))
        return false;
    joint->type = (api_mjcf_joint_type)type;
    if (joint->type == API_MJCF_FREE) return true;
    if (!read_axis(m, at, joint)) return false;
    if (joint->type != API_MJCF_BALL && !api_mjcf_numbers(m, &joint->item, "ref", &joint->ref, 1)) return false;
    if (joint->type == API_MJCF_HINGE && !api_mjcf_compiler_of(m, element)->radians) joint->ref *= M_PI / 180;
    return true;
}

static bool add_joint(api_mjcf *m, const xmlNode *element, const place *at)
{
    api_mjcf_joint *joint = &m->joints[m->n_joints];
    if (at->body < 0) return api_xml_fail(&m->xml, element, API_BAD_VALUE, "the world has no joints");
    if (!read_joint(m, element, at, joint) || !read_name(m, element, m->joint_index, m->n_joints, &joint->given_name))
        return false;
    m->n_joints++;
    m->bodies[at->body].n_joints++;
    return true;
}

/* --- the content of a body ---------------------------------------------------------------------------------------- */

/* Converts a pose of the file to the body frame. */
static dyn_pose in_body(const api_mjcf *m, const place *at, const dyn_pose *X)
{
    if (!m->compilers[0].global) return dyn_pose_compose(&at->X, X);
    if (at->body < 0) return *X;
    dyn_pose X_bw = dyn_pose_inverse(&m->bodies[at->body].X_wb);
    return dyn_pose_compose(&X_bw, X);
}

static bool add_geom(api_mjcf *m, const xmlNode *element, const place *at)
{
    api_mjcf_item geom;
    dyn_pose      X;
    double        half_length;
    if (!api_mjcf_open_item(m, element, API_MJCF_GEOM, at->class_index, &geom) ||
        !api_mjcf_read_pose(m, &geom, &X, &half_length))
        return false;
    if (at->body < 0) return true; /* the world does not move */
    X = in_body(m, at, &X);
    return api_mjcf_add_visual(m, &geom, &X, half_length, &m->bodies[at->body]) &&
           api_mjcf_add_geom(m, &geom, &X, half_length, &m->bodies[at->body]);
}

/* A site has a name only to be referred to; one without is left out. */
static bool add_site(api_mjcf *m, const xmlNode *element, const place *at)
{
    api_mjcf_site *site = &m->sites[m->n_sites];
    api_mjcf_item  item;
    dyn_pose       X;
    double         half_length;
    *site = (api_mjcf_site){.element = element, .body = at->body};
    if (!api_mjcf_open_item(m, element, API_MJCF_SITE, at->class_index, &item) ||
        !api_mjcf_read_pose(m, &item, &X, &half_length) ||
        !api_xml_text(&m->xml, element, "name", API_OPTIONAL, &site->given_name))
        return false;
    if (!site->given_name || !*site->given_name) return true;
    site->X_bs = in_body(m, at, &X);
    return enter(m, element, m->site_index, site->given_name, m->n_sites++);
}

static bool open_frame(api_mjcf *m, const xmlNode *frame, const place *at, place *inner)
{
    dyn_pose X;
    *inner = *at;
    if (m->compilers[0].global)
        return api_xml_fail(&m->xml, frame, API_NOT_SUPPORTED, "<frame> needs coordinate=\"local\"");
    if (!api_mjcf_read_plain_pose(m, frame, &X) || !api_mjcf_find_class(m, frame, "childclass", &inner->class_index))
        return false;
    inner->X = dyn_pose_compose(&at->X, &X);
    return true;
}

/* <composite> and <flexcomp> make many bodies of cables, cloths and soft bodies. */
static bool report_generator(api_mjcf *m, const xmlNode *element)
{
    m->generates = true;
    return api_xml_report(&m->xml, element, "warning", "not-held",
                          "<%.40s> generates bodies that are not part of the model", (const char *)element->name);
}

bool api_mjcf_names_generated(const api_mjcf *m, const xmlNode *element)
{
    const struct {
        const char   *attribute;
        const json_t *names;
    } references[] = {{"body1", m->body_index},   {"body2", m->body_index},  {"joint1", m->joint_index},
                      {"joint2", m->joint_index}, {"joint", m->joint_index}, {"site1", m->site_index},
                      {"site2", m->site_index}};
    for (size_t i = 0; m->generates && i < sizeof references / sizeof *references; i++) {
        xmlChar *name    = xmlGetNoNsProp(element, (const xmlChar *)references[i].attribute);
        bool     unknown = name && strcmp((const char *)name, "world") != 0 &&
                       !json_object_get(references[i].names, (const char *)name);
        xmlFree(name);
        if (unknown) return true;
    }
    return false;
}

/* The last <inertial> of a body counts, as in MuJoCo, which allows one in the body and one in each of its frames. */
static bool set_inertial(api_mjcf *m, const xmlNode *element, const place *at)
{
    if (at->body < 0) return api_xml_fail(&m->xml, element, API_BAD_VALUE, "the world has no <inertial>");
    api_mjcf_body *body  = &m->bodies[at->body];
    bool           again = body->inertial != NULL;
    body->inertial       = element;
    body->X_bi           = at->X;
    return !again || api_xml_report(&m->xml, body->element, "warning", "repeated",
                                    "the body has more than one <inertial>: the last one counts");
}

/* Reads joints, geoms, sites and the inertial of a body, also those inside <frame> elements. */
static bool read_content(api_mjcf *m, const xmlNode *in, const place *at)
{
    for (const xmlNode *e = in->children; e; e = e->next) {
        bool  ok = true;
        place inner;
        if (api_xml_is(e, "joint") || api_xml_is(e, "freejoint"))
            ok = add_joint(m, e, at);
        else if (api_xml_is(e, "geom"))
            ok = add_geom(m, e, at);
        else if (api_xml_is(e, "site"))
            ok = add_site(m, e, at);
        else if (api_xml_is(e, "inertial"))
            ok = set_inertial(m, e, at);
        else if (api_xml_is(e, "frame"))
            ok = open_frame(m, e, at, &inner) && read_content(m, e, &inner);
        else if (api_xml_is(e, "composite") || api_xml_is(e, "flexcomp"))
            ok = report_generator(m, e);
        if (!ok) return false;
    }
    return true;
}

/* --- bodies ------------------------------------------------------------------------------------------------------- */

/* With global coordinates, MuJoCo places a body without `pos` at its centre of mass, which is known only when its geoms
 * are read: the body is refused here. */
static bool read_body_pose(api_mjcf *m, const place *at, api_mjcf_body *body)
{
    dyn_pose X;
    if (!api_mjcf_read_plain_pose(m, body->element, &X)) return false;
    body->stated = X;
    if (!m->compilers[0].global) {
        body->X_pb = dyn_pose_compose(&at->X, &X);
        body->X_wb = at->body < 0 ? body->X_pb : dyn_pose_compose(&m->bodies[at->body].X_wb, &body->X_pb);
        return true;
    }
    if (!api_xml_has(body->element, "pos"))
        return api_xml_fail(&m->xml, body->element, API_MISSING_FIELD,
                            "with coordinate=\"global\" a <body> needs \"pos\" here");
    dyn_pose X_pw = at->body < 0 ? dyn_pose_identity() : dyn_pose_inverse(&m->bodies[at->body].X_wb);
    body->X_wb    = X;
    body->X_pb    = dyn_pose_compose(&X_pw, &X);
    return true;
}

static bool open_body(api_mjcf *m, const xmlNode *element, const place *at, size_t index)
{
    static const char *const values[] = {"false", "true", NULL};
    api_mjcf_body           *body     = &m->bodies[index];
    int                      mocap    = 0;
    *body                             = (api_mjcf_body){
                                    .element = element, .parent = at->body, .class_index = at->class_index, .first_joint = m->n_joints};
    if (!api_xml_choice(&m->xml, element, "mocap", values, &mocap)) return false;
    body->mocap = mocap == 1;
    return api_mjcf_find_class(m, element, "childclass", &body->class_index) &&
           read_name(m, element, m->body_index, index, &body->given_name) && read_body_pose(m, at, body) &&
           api_xml_numbers(&m->xml, element, "gravcomp", API_OPTIONAL, &body->gravcomp, 1);
}

static bool read_children(api_mjcf *m, const xmlNode *in, const place *at);

static bool read_body(api_mjcf *m, const xmlNode *element, const place *at)
{
    size_t index = m->n_bodies++;
    if (!open_body(m, element, at, index)) return false;
    api_mjcf_body *body = &m->bodies[index];
    place          own  = {.body = (int)index, .X = dyn_pose_identity(), .class_index = body->class_index};
    if (!read_content(m, element, &own)) return false;
    body->moves = body->n_joints > 0 || (at->body >= 0 && m->bodies[at->body].moves);
    for (size_t i = 0; i < body->n_joints; i++)
        if (m->joints[body->first_joint + i].type == API_MJCF_FREE && !check_free(m, &m->joints[body->first_joint + i]))
            return false;
    return read_children(m, element, &own);
}

/* Reads the bodies in a body or frame. */
static bool read_children(api_mjcf *m, const xmlNode *in, const place *at)
{
    for (const xmlNode *e = in->children; e; e = e->next) {
        place inner;
        if (api_xml_is(e, "body") && !read_body(m, e, at)) return false;
        if (api_xml_is(e, "frame") && !(open_frame(m, e, at, &inner) && read_children(m, e, &inner))) return false;
    }
    return true;
}

/* --- the world ---------------------------------------------------------------------------------------------------- */

static void count_elements(const xmlNode *in, size_t *bodies, size_t *joints, size_t *sites)
{
    for (const xmlNode *e = in->children; e; e = e->next) {
        *bodies += api_xml_is(e, "body");
        *joints += api_xml_is(e, "joint") || api_xml_is(e, "freejoint");
        *sites += api_xml_is(e, "site");
        if (api_xml_is(e, "body") || api_xml_is(e, "frame")) count_elements(e, bodies, joints, sites);
    }
}

/* Counts the <connect> elements: each may close a loop with a rod, whose ball joint becomes three hinges. */
static size_t count_connects(const api_mjcf *m)
{
    size_t n = 0;
    for (const xmlNode *e = api_xml_child(m->xml.root, "equality"); e; e = api_xml_next(e, "equality"))
        for (const xmlNode *c = api_xml_child(e, "connect"); c; c = api_xml_next(c, "connect"))
            n++;
    return n;
}

static bool take_arrays(api_mjcf *m)
{
    size_t bodies = 0, joints = 0, sites = 0;
    size_t added = 2 * count_connects(m);
    for (const xmlNode *e = api_xml_child(m->xml.root, "worldbody"); e; e = api_xml_next(e, "worldbody"))
        count_elements(e, &bodies, &joints, &sites);
    if (bodies > m->xml.max_links || joints > m->xml.max_links || sites > m->xml.max_links)
        return api_fail(m->xml.base.problem, API_MODEL_TOO_LARGE, NULL,
                        "the model has %zu bodies, %zu joints and %zu sites; the limit is %zu of each", bodies, joints,
                        sites, m->xml.max_links);
    m->bodies = api_arena_take(m->xml.base.arena, bodies, sizeof *m->bodies);
    m->joints = api_arena_take(m->xml.base.arena, joints + added, sizeof *m->joints);
    m->sites  = api_arena_take(m->xml.base.arena, sites, sizeof *m->sites);
    /* most links: one for each joint, and two for each body (its own, and one that the document adds, see
     * xml_document.h) */
    return (m->bodies && m->joints && m->sites &&
            api_xml_document_open(&m->document, &m->xml, 2 * bodies + joints + added)) ||
           api_reader_no_memory(&m->xml.base);
}

static bool fail_without_bodies(api_mjcf *m)
{
    const bool is_part = !api_xml_child(m->xml.root, "worldbody");
    return api_xml_fail(&m->xml, m->xml.root, API_BAD_MODEL, "the world has no <body>%s",
                        m->generates ? " but those that <composite> or <flexcomp> makes: bodies that bend are not "
                                       "part of a model, only rigid ones"
                        : is_part    ? ": a file without <worldbody> is a part, send the file that includes it"
                                     : "");
}

bool api_mjcf_read_bodies(api_mjcf *m)
{
    const place world = {.body = -1, .X = dyn_pose_identity(), .class_index = m->main_class};
    if (!take_arrays(m)) return false;
    for (const xmlNode *e = api_xml_child(m->xml.root, "worldbody"); e; e = api_xml_next(e, "worldbody")) {
        place inner = world;
        if (!api_mjcf_find_class(m, e, "childclass", &inner.class_index) || !read_content(m, e, &inner) ||
            !read_children(m, e, &inner))
            return false;
    }
    return m->n_bodies > 0 || fail_without_bodies(m);
}
