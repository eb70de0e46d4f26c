/* mjcf_write_joint.c - write joints, the equalities that couple them, and motors. A planar joint becomes two slides and
 * a hinge; a helical joint a slide and a hinge, coupled; a floating joint that is not free three slides and a ball. */
#include "mjcf_write.h"
#include <math.h>
#include <string.h>

/* --- the reference ------------------------------------------------------------------------------------------------ */

double api_mjcf_reference_of(const api_document *document, const api_document_link *link)
{
    if (link->dyn.mimic)
        return link->dyn.ratio * api_mjcf_reference_of(document, &document->links[link->leader]) + link->dyn.offset;
    return link->has_home ? link->home[0] : 0;
}

static dyn_pose slide_by(const double axis[3], double by)
{
    return dyn_pose_translation(by * axis[0], by * axis[1], by * axis[2]);
}

static dyn_pose reference_turn(const double axis[3], double angle)
{
    return angle == 0 ? dyn_pose_identity() : dyn_pose_about(axis, angle);
}

/* The smallest rotation that turns z to the axis turns x and y to those of the plane; about x if the axis is -z. */
void api_mjcf_plane_axes(const double axis[3], double e_x[3], double e_y[3])
{
    double x = axis[0], y = axis[1], z = axis[2], across = x * x + y * y;
    bool   opposite = z < 0 && across == 0;
    double k        = opposite ? 0 : z < 0 ? (1 - z) / across : 1 / (1 + z);
    memcpy(e_x, (double[3]){1 - k * x * x, -k * x * y, -x}, 3 * sizeof *e_x);
    memcpy(e_y, (double[3]){-k * x * y, opposite ? -1 : 1 - k * y * y, -y}, 3 * sizeof *e_y);
}

static dyn_pose planar_motion(const api_document_link *link)
{
    double e_x[3], e_y[3];
    if (!link->has_home) return dyn_pose_identity();
    api_mjcf_plane_axes(link->dyn.axis, e_x, e_y);
    dyn_pose x = slide_by(e_x, link->home[0]), y = slide_by(e_y, link->home[1]);
    dyn_pose turn = dyn_pose_about(link->dyn.axis, link->home[2]);
    x             = dyn_pose_compose(&x, &y);
    return dyn_pose_compose(&x, &turn);
}

dyn_pose api_mjcf_reference_motion(const api_document *document, const api_document_link *link)
{
    const double *axis = link->dyn.axis, ref = api_mjcf_reference_of(document, link);
    switch (link->dyn.joint) {
    case DYN_REVOLUTE: return reference_turn(axis, ref);
    case DYN_PRISMATIC: return slide_by(axis, ref);
    case DYN_HELICAL: {
        dyn_pose turn = reference_turn(axis, ref), slide = slide_by(axis, link->dyn.pitch * ref);
        return dyn_pose_compose(&slide, &turn);
    }
    case DYN_PLANAR: return planar_motion(link);
    case DYN_FIXED:
    case DYN_SPHERICAL:
    case DYN_FLOATING:
    case DYN_JOINT_KINDS: break;
    }
    return dyn_pose_identity();
}

/* --- joints ------------------------------------------------------------------------------------------------------- */

/* One joint of the file. */
typedef struct mjcf_part {
    const char         *name;
    api_mjcf_joint_type type;
    double              axis[3]; /* in the joint frame */
    double              ref;
    const char         *coordinate; /* `coordinate`, `scale` and `offset`: see api_mjcf_position */
    double              scale, offset;
} mjcf_part;

/* Stores the data that a keyframe needs in `_private` of the element of a joint. */
static void attach_position(api_xml_writer *w, xmlNode *joint, const api_mjcf_position *position)
{
    api_mjcf_position *to = api_arena_take(w->reader->arena, 1, sizeof *to);
    if (!to) w->failed = !api_reader_no_memory(w->reader);
    if (!to || !joint) return;
    *to             = *position;
    joint->_private = to;
}

/* Pose in the body of the joint frame, displaced by the joint's reference. */
static dyn_pose in_body(const api_mjcf_chain *chain, size_t k)
{
    dyn_pose X_bp = dyn_pose_inverse(&chain->X_pb);
    return dyn_pose_compose(&X_bp, &chain->J[k]);
}

static xmlNode *put_part(const api_mjcf_chain *chain, size_t k, const mjcf_part *part)
{
    static const double origin[3];
    api_xml_writer     *w     = chain->w;
    dyn_pose            C     = in_body(chain, k);
    xmlNode            *joint = api_xml_put(w, chain->body, "joint");
    double              axis[3];
    for (int i = 0; i < 3; i++)
        axis[i] = dyn_dot(C.R[i], part->axis);
    api_xml_put_text(w, joint, "name", part->name);
    api_xml_put_text(w, joint, "type", api_mjcf_joint_names[part->type]);
    if (memcmp(C.p, origin, sizeof origin) != 0 && part->type != API_MJCF_SLIDE)
        api_xml_put_numbers(w, joint, "pos", C.p, 3);
    if (part->type != API_MJCF_BALL) api_xml_put_numbers(w, joint, "axis", axis, 3);
    if (part->ref != 0) api_xml_put_number(w, joint, "ref", part->ref);
    attach_position(w, joint, &(api_mjcf_position){part->type, part->coordinate, part->scale, part->offset, C});
    return joint;
}

static void put_armature(api_xml_writer *w, xmlNode *joint, double damping, double rotor_inertia)
{
    if (damping != 0) api_xml_put_number(w, joint, "damping", damping);
    if (rotor_inertia != 0) api_xml_put_number(w, joint, "armature", rotor_inertia);
}

/* Writes one coefficient, or those of all three powers. */
static void put_polynomial(api_xml_writer *w, xmlNode *joint, const char *attribute, const double c[3])
{
    if (c[1] != 0 || c[2] != 0)
        api_xml_put_numbers(w, joint, attribute, c, 3);
    else if (c[0] != 0)
        api_xml_put_number(w, joint, attribute, c[0]);
}

static void put_figures(api_xml_writer *w, xmlNode *joint, size_t i)
{
    const api_document_link *link    = &w->document->links[i];
    const dyn_link          *dyn     = &link->dyn;
    const dyn_spring        *s       = &dyn->spring;
    const bool               springs = s->stiffness != 0 || s->stiffness2 != 0 || s->stiffness3 != 0;
    if (link->has_position_limits && link->lower < link->upper)
        api_xml_put_numbers(w, joint, "range", (double[2]){link->lower, link->upper}, 2);
    else if (link->has_position_limits)
        api_xml_joint_not_held(w, i, "limits/position");
    put_polynomial(w, joint, "damping", (const double[]){dyn->friction.viscous + s->damping, s->damping2, s->damping3});
    put_armature(w, joint, 0, dyn->rotor_inertia);
    if (dyn->friction.positive != 0) api_xml_put_number(w, joint, "frictionloss", dyn->friction.positive);
    put_polynomial(w, joint, "stiffness", (const double[]){s->stiffness, s->stiffness2, s->stiffness3});
    if (springs && s->rest != 0) api_xml_put_number(w, joint, "springref", s->rest);
    if (link->limits.has_velocity) api_xml_joint_not_held(w, i, "limits/velocity");
    api_xml_report_motion_limits(w, i);
}

static void put_planar(const api_mjcf_chain *chain, size_t k, const api_document_link *link)
{
    api_xml_writer *w = chain->w;
    mjcf_part       x = {.name = api_xml_join(w, link->joint, "x"), .type = API_MJCF_SLIDE, .ref = link->home[0]};
    mjcf_part       y = {.name = api_xml_join(w, link->joint, "y"), .type = API_MJCF_SLIDE, .ref = link->home[1]};
    mjcf_part       a = {.name = api_xml_join(w, link->joint, "angle"), .type = API_MJCF_HINGE, .ref = link->home[2]};
    x.scale = y.scale = a.scale = 1;
    x.coordinate                = x.name;
    y.coordinate                = y.name;
    a.coordinate                = a.name;
    double e_x[3], e_y[3];
    api_mjcf_plane_axes(link->dyn.axis, e_x, e_y);
    /* in the document the slides come before the rotation to the reference, in the file after it */
    dyn_pose back = dyn_pose_about(link->dyn.axis, -link->home[2]);
    for (int i = 0; i < 3; i++) {
        x.axis[i] = dyn_dot(back.R[i], e_x);
        y.axis[i] = dyn_dot(back.R[i], e_y);
    }
    memcpy(a.axis, link->dyn.axis, sizeof a.axis);
    put_part(chain, k, &x);
    put_part(chain, k, &y);
    put_part(chain, k, &a);
}

static bool is_turned(const dyn_pose *X)
{
    for (int i = 0; i < 3; i++)
        if (fabs(X->R[i][i] - 1) > 1e-12) return true;
    return false;
}

/* Writes a part of a joint whose rotor inertia and damping belong to each coordinate. */
static xmlNode *put_free_part(const api_mjcf_chain *chain, size_t k, const mjcf_part *part)
{
    const dyn_link *dyn   = &chain->w->document->links[chain->links[k]].dyn;
    xmlNode        *joint = put_part(chain, k, part);
    put_armature(chain->w, joint, dyn->spring.damping, dyn->rotor_inertia);
    return joint;
}

/* The document has a stiffness only for spherical joints. */
static void put_ball(const api_mjcf_chain *chain, size_t k, const char *name)
{
    const double stiffness = chain->w->document->links[chain->links[k]].dyn.spring.stiffness;

    mjcf_part ball = {
        .name = name, .type = API_MJCF_BALL, .coordinate = chain->w->document->links[chain->links[k]].joint};
    dyn_pose C     = in_body(chain, k);
    xmlNode *joint = put_free_part(chain, k, &ball);
    if (stiffness != 0) api_xml_put_number(chain->w, joint, "stiffness", stiffness);
    if (is_turned(&C)) api_xml_joint_not_held(chain->w, (size_t)chain->links[k], "origin");
}

void api_mjcf_put_free(api_xml_writer *w, xmlNode *body, const api_mjcf_free *free)
{
    const bool plain = free->damping == 0 && free->rotor_inertia == 0;
    xmlNode   *joint = api_xml_put(w, body, plain ? "freejoint" : "joint");
    api_xml_put_text(w, joint, "name", free->name);
    if (!plain) api_xml_put_text(w, joint, "type", "free");
    put_armature(w, joint, free->damping, free->rotor_inertia);
    attach_position(w, joint,
                    &(api_mjcf_position){.type = API_MJCF_FREE, .name = free->coordinate, .C = dyn_pose_identity()});
}

static void put_floating(const api_mjcf_chain *chain, size_t k, const api_document_link *link)
{
    static const char *const suffix[3] = {"x", "y", "z"};
    api_xml_writer          *w         = chain->w;
    if (chain->free) {
        api_mjcf_put_free(w, chain->body,
                          &(api_mjcf_free){.name          = link->joint,
                                           .coordinate    = link->joint,
                                           .damping       = link->dyn.spring.damping,
                                           .rotor_inertia = link->dyn.rotor_inertia});
        return;
    }
    for (int i = 0; i < 3; i++) {
        mjcf_part slide  = {.name = api_xml_join(w, link->joint, suffix[i]), .type = API_MJCF_SLIDE, .scale = 1};
        slide.coordinate = slide.name;
        slide.axis[i]    = 1;
        put_free_part(chain, k, &slide);
    }
    put_ball(chain, k, api_xml_join(w, link->joint, "turn"));
    api_xml_joint_not_held(w, (size_t)chain->links[k], "type");
}

static void put_joint(const api_mjcf_chain *chain, size_t k)
{
    api_xml_writer          *w    = chain->w;
    size_t                   i    = (size_t)chain->links[k];
    const api_document_link *link = &w->document->links[i];
    mjcf_part                part = {.name = link->joint, .type = API_MJCF_HINGE}, slide = {.type = API_MJCF_SLIDE};
    memcpy(part.axis, link->dyn.axis, sizeof part.axis);
    memcpy(slide.axis, link->dyn.axis, sizeof slide.axis);
    part.coordinate = slide.coordinate = link->dyn.mimic ? api_xml_leader_of(w->document, link) : link->joint;
    part.scale                         = link->dyn.ratio;
    part.offset                        = link->dyn.offset;
    slide.scale                        = link->dyn.pitch * link->dyn.ratio;
    slide.offset                       = link->dyn.pitch * link->dyn.offset;
    switch (link->dyn.joint) {
    case DYN_FIXED: return;
    case DYN_PLANAR: put_planar(chain, k, link); return;
    case DYN_SPHERICAL: put_ball(chain, k, link->joint); return;
    case DYN_FLOATING: put_floating(chain, k, link); return;
    case DYN_PRISMATIC: part.type = API_MJCF_SLIDE; break;
    case DYN_HELICAL:
        slide.name = api_xml_join(w, link->joint, "slide");
        slide.ref  = link->dyn.pitch * api_mjcf_reference_of(w->document, link);
        put_part(chain, k, &slide);
        break;
    case DYN_REVOLUTE: break;
    case DYN_JOINT_KINDS: return;
    }
    part.ref = api_mjcf_reference_of(w->document, link);
    put_figures(w, put_part(chain, k, &part), i);
}

void api_mjcf_put_joints(const api_mjcf_chain *chain)
{
    for (size_t k = 0; k < chain->n; k++) {
        const api_document_link *link = &chain->w->document->links[chain->links[k]];
        put_joint(chain, k);
        if (link->has_home && link->dyn.joint == DYN_SPHERICAL)
            api_xml_joint_not_held(chain->w, (size_t)chain->links[k], "home");
    }
}

/* --- couplings and motors ----------------------------------------------------------------------------------------- */

/* Both joints satisfy the coupling in their references, so the constant coefficient is 0. */
static void put_coupling(api_xml_writer *w, xmlNode *equality, const char *joint, const char *leader, double ratio)
{
    xmlNode *coupling = api_xml_put(w, equality, "joint");
    api_xml_put_text(w, coupling, "joint1", joint);
    api_xml_put_text(w, coupling, "joint2", leader);
    api_xml_put_numbers(w, coupling, "polycoef", (double[5]){0, ratio, 0, 0, 0}, 5);
}

void api_mjcf_put_couplings(api_xml_writer *w, xmlNode *equality)
{
    for (size_t i = 0; i < w->document->n_links; i++) {
        const api_document_link *link = &w->document->links[i];
        if (link->dyn.joint == DYN_HELICAL)
            put_coupling(w, equality, api_xml_join(w, link->joint, "slide"), link->joint, link->dyn.pitch);
        if (link->dyn.mimic)
            put_coupling(w, equality, link->joint, api_xml_leader_of(w->document, link), link->dyn.ratio);
    }
}

/* A motor in the file means that a joint is driven. In a model with loops the other joints get none, whatever their
 * limits. */
void api_mjcf_put_motors(api_xml_writer *w, xmlNode *root)
{
    xmlNode *actuator = NULL;
    bool     loops    = w->document->n_loops > 0;
    for (size_t i = 0; i < w->document->n_links; i++) {
        const api_document_link *link     = &w->document->links[i];
        const bool               undriven = link->dyn.mimic || (loops && !link->actuated);
        if (undriven && link->limits.has_effort) api_xml_joint_not_held(w, i, "limits/effort");
        if (!loops && !link->actuated) api_xml_joint_not_held(w, i, "actuated");
        if (dyn_joint_nv(link->dyn.joint) != 1 || undriven || (!link->limits.has_effort && !loops)) continue;
        if (!actuator) actuator = api_xml_put(w, root, "actuator");
        xmlNode *motor = api_xml_put(w, actuator, "motor");
        api_xml_put_text(w, motor, "name", link->joint);
        api_xml_put_text(w, motor, "joint", link->joint);
        if (!link->limits.has_effort) continue;
        if (link->limits.effort > 0)
            api_xml_put_numbers(w, motor, "ctrlrange", (double[2]){-link->limits.effort, link->limits.effort}, 2);
        else
            api_xml_joint_not_held(w, i, "limits/effort");
    }
}
