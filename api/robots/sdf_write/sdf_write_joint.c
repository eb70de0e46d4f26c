/* sdf_write_joint.c - write the joints of an SDF file: a planar joint becomes two slides and a revolute joint, a
 * helical one a screw, a floating one that is not free in the world three slides and a ball. */
#include "sdf_write.h"
#include <math.h>
#include <string.h>

bool api_sdf_is_free(const api_document *document, const api_document_link *link)
{
    return link->dyn.joint == DYN_FLOATING && link->parent_index == DYN_WORLD && !document->floating &&
           dyn_pose_is_identity(&link->dyn.before) && dyn_pose_is_identity(&link->dyn.after);
}

/* --- one joint of the file ---------------------------------------------------------------------------------------- */

/* The pitch of a screw is in m per turn from version 1.10 on, before in rad/m with the opposite sign. */
static void put_thread_pitch(api_sdf_writer *s, xmlNode *joint, double pitch)
{
    if (s->newer)
        api_sdf_put_number(s, joint, "screw_thread_pitch", 2 * M_PI * pitch);
    else
        api_sdf_put_number(s, joint, "thread_pitch", -1 / pitch);
}

/* Appends a joint element up to its axis. */
static xmlNode *put_joint_element(api_sdf_writer *s, const api_sdf_part *part, const char *type)
{
    xmlNode *joint = api_xml_put(&s->w, s->model, "joint");
    api_xml_put_text(&s->w, joint, "name", part->name);
    api_xml_put_text(&s->w, joint, "type", type);
    api_sdf_put_pose(s, joint, part->parent, &part->X);
    api_sdf_put(s, joint, "parent", part->parent);
    api_sdf_put(s, joint, "child", part->child);
    if (part->kind == DYN_HELICAL && part->pitch != 0) put_thread_pitch(s, joint, part->pitch);
    return joint;
}

xmlNode *api_sdf_put_part(api_sdf_writer *s, const api_sdf_part *part, const char *type)
{
    xmlNode *joint = put_joint_element(s, part, type);
    if (part->kind == DYN_FIXED || part->kind == DYN_SPHERICAL) return NULL;
    xmlNode *axis = api_xml_put(&s->w, joint, "axis");
    api_xml_put_content_numbers(&s->w, api_xml_put(&s->w, axis, "xyz"), part->axis, 3);
    return axis;
}

/* Writes the limits of position, effort and velocity, damping, friction and spring of a joint with one coordinate. */
static void put_axis_figures(api_sdf_writer *s, xmlNode *axis, const api_document_link *link)
{
    const dyn_friction *friction = &link->dyn.friction;
    const dyn_spring   *spring   = &link->dyn.spring;
    double              damping  = friction->viscous + spring->damping;
    if (link->has_position_limits || link->limits.has_velocity || link->limits.has_effort) {
        xmlNode *limit = api_xml_put(&s->w, axis, "limit");
        if (link->has_position_limits) api_sdf_put_number(s, limit, "lower", link->lower);
        if (link->has_position_limits) api_sdf_put_number(s, limit, "upper", link->upper);
        if (link->limits.has_effort) api_sdf_put_number(s, limit, "effort", link->limits.effort);
        if (link->limits.has_velocity) api_sdf_put_number(s, limit, "velocity", link->limits.velocity);
    }
    if (damping == 0 && friction->positive == 0 && spring->stiffness == 0) return;
    xmlNode *dynamics = api_xml_put(&s->w, axis, "dynamics");
    api_sdf_put_number(s, dynamics, "damping", damping);
    api_sdf_put_number(s, dynamics, "friction", friction->positive);
    if (spring->stiffness == 0) return;
    api_sdf_put_number(s, dynamics, "spring_reference", spring->rest);
    api_sdf_put_number(s, dynamics, "spring_stiffness", spring->stiffness);
}

static void put_axis_mimic(api_sdf_writer *s, xmlNode *axis, const api_document_link *link)
{
    xmlNode *mimic = api_xml_put(&s->w, axis, "mimic");
    api_xml_put_text(&s->w, mimic, "joint", s->joint[link->leader]);
    api_sdf_put_number(s, mimic, "multiplier", link->dyn.ratio);
    api_sdf_put_number(s, mimic, "offset", link->dyn.offset);
    api_sdf_put_number(s, mimic, "reference", 0);
}

/* Type in the file of a joint with one coordinate. */
static const char *type_in_file(const api_document_link *link)
{
    if (link->dyn.joint == DYN_PRISMATIC) return "prismatic";
    if (link->dyn.joint == DYN_HELICAL && link->dyn.pitch != 0) return "screw";
    return link->has_position_limits ? "revolute" : "continuous";
}

/* Appends a joint with one coordinate. Drake's extension holds the inertia of its rotor. */
static void put_single_joint(api_sdf_writer *s, const api_document_link *link, const api_sdf_part *part)
{
    xmlNode *axis = api_sdf_put_part(s, part, type_in_file(link));
    put_axis_figures(s, axis, link);
    if (link->dyn.mimic) put_axis_mimic(s, axis, link);
    if (link->dyn.rotor_inertia != 0 && axis)
        api_sdf_put_number(s, axis->parent, "drake:rotor_inertia", link->dyn.rotor_inertia);
}

/* --- joints of several coordinates -------------------------------------------------------------------------------- */

/* Appends a part of a joint, and the massless link that this part moves; the next part begins at that link. */
static void put_massless_step(api_sdf_writer *s, api_sdf_part *part, const char *name, const char *type)
{
    dyn_pose here = dyn_pose_identity();
    part->name    = api_sdf_take_reported_name(s, "joint", "/links", name);
    part->child   = api_sdf_take_name(s, api_xml_join(&s->w, name, "link"), "link");
    api_sdf_put_link(s, part->child, part->name, &here, NULL);
    api_sdf_put_part(s, part, type);
    part->parent = part->child;
    part->X      = here;
}

static void put_planar_parts(api_sdf_writer *s, size_t i, api_sdf_part *part)
{
    const api_document_link *link = &s->w.document->links[i];
    dyn_link                 expanded[DYN_MAX_PARTS];
    const char              *last = part->child;
    dyn_joint_types[DYN_PLANAR].expand(&link->dyn, expanded);
    part->kind = DYN_PRISMATIC;
    for (int k = 0; k < 2; k++) {
        memcpy(part->axis, expanded[k].axis, sizeof part->axis);
        put_massless_step(s, part, api_xml_join(&s->w, link->joint, k == 0 ? "x" : "y"), "prismatic");
    }
    part->kind  = DYN_REVOLUTE;
    part->name  = s->joint[i];
    part->child = last;
    memcpy(part->axis, link->dyn.axis, sizeof part->axis);
    api_sdf_put_part(s, part, "continuous");
}

static void put_floating_parts(api_sdf_writer *s, size_t i, api_sdf_part *part)
{
    static const char *const suffix[3] = {"x", "y", "z"};
    const api_document_link *link      = &s->w.document->links[i];
    const char              *last      = part->child;
    part->kind                         = DYN_PRISMATIC;
    for (int k = 0; k < 3; k++) {
        memcpy(part->axis, (double[3]){k == 0, k == 1, k == 2}, sizeof part->axis);
        put_massless_step(s, part, api_xml_join(&s->w, link->joint, suffix[k]), "prismatic");
    }
    part->kind  = DYN_SPHERICAL;
    part->name  = s->joint[i];
    part->child = last;
    api_sdf_put_part(s, part, "ball");
    api_xml_joint_not_held(&s->w, i, "type");
}

const char *api_sdf_last_part_name(api_sdf_writer *s, const api_document_link *link)
{
    switch (link->dyn.joint) {
    case DYN_PLANAR: return api_xml_join(&s->w, link->joint, "angle");
    case DYN_FLOATING: return api_xml_join(&s->w, link->joint, "turn");
    case DYN_FIXED:
    case DYN_REVOLUTE:
    case DYN_PRISMATIC:
    case DYN_HELICAL:
    case DYN_SPHERICAL:
    case DYN_JOINT_KINDS: break;
    }
    return link->joint;
}

/* --- all joints --------------------------------------------------------------------------------------------------- */

/* True if a joint has a home other than the position zero, at which SDF gives the poses. */
static bool has_own_home(const api_document_link *link)
{
    int  n      = dyn_joint_nq(link->dyn.joint);
    bool turned = dyn_joint_has_quaternion(link->dyn.joint), any = false;
    for (int k = 0; link->has_home && k < n; k++)
        any |= link->home[k] != (turned && k == n - 1 ? 1 : 0);
    return any;
}

static void report_unheld_joint(api_sdf_writer *s, size_t i)
{
    const api_document_link *link = &s->w.document->links[i];
    if (has_own_home(link)) api_xml_joint_not_held(&s->w, i, "home");
    if (!link->actuated) api_xml_joint_not_held(&s->w, i, "actuated");
    api_xml_report_motion_limits(&s->w, i);
}

void api_sdf_put_joint(api_sdf_writer *s, size_t i)
{
    const api_document_link *link = &s->w.document->links[i];
    api_sdf_part             part = {.name   = s->joint[i],
                                     .parent = api_sdf_link_name(s, link->parent_index),
                                     .child  = s->link[i],
                                     .X      = link->dyn.before,
                                     .kind   = link->dyn.joint,
                                     .pitch  = link->dyn.pitch};
    memcpy(part.axis, link->dyn.axis, sizeof part.axis);
    switch (link->dyn.joint) {
    case DYN_FIXED: api_sdf_put_part(s, &part, "fixed"); return;
    case DYN_REVOLUTE:
    case DYN_PRISMATIC:
    case DYN_HELICAL: put_single_joint(s, link, &part); break;
    case DYN_SPHERICAL: api_sdf_put_part(s, &part, "ball"); break;
    case DYN_PLANAR: put_planar_parts(s, i, &part); break;
    case DYN_FLOATING: put_floating_parts(s, i, &part); break;
    case DYN_JOINT_KINDS: return;
    }
    report_unheld_joint(s, i);
}
