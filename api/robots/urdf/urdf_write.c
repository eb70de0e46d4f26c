/* urdf_write.c - write a document as a URDF file, and report what URDF cannot hold.
 *
 * Frames become links without mass. A helical joint becomes a revolute one and a slide that mimics it, a rotor a
 * transmission of its joint, as ROS writes them. Spherical joints are an extension of URDF. A link whose frame is not
 * that of its joint, as with standard Denavit-Hartenberg parameters, is fixed to a link `link.joint` that the joint
 * carries. Rotations of version 1.0 are angles, of 1.2 quaternions. */
#include "urdf_write.h"
#include "urdf.h"
#include <math.h>
#include <string.h>

/* A joint of the file. */
typedef struct urdf_part {
    const char *name, *type, *parent, *child;
    dyn_pose    X;
    double      axis[3];
    bool        has_axis;
} urdf_part;

void api_urdf_put_origin(api_urdf_file *f, xmlNode *element, const dyn_pose *X)
{
    double turn[4];
    if (dyn_pose_is_identity(X)) return;
    xmlNode *origin = api_xml_put(&f->w, element, "origin");
    api_xml_put_numbers(&f->w, origin, "xyz", X->p, 3);
    if (f->quaternions) {
        dyn_quaternion_of((const double(*)[3])X->R, turn);
        api_xml_put_numbers(&f->w, origin, "quat_xyzw", turn, 4);
    } else {
        dyn_rpy_of((const double(*)[3])X->R, turn);
        api_xml_put_numbers(&f->w, origin, "rpy", turn, 3);
    }
}

static void put_link(api_urdf_file *f, const char *name, const dyn_inertia *inertia,
                     const api_document_visuals *visuals)
{
    static const char *const entries[6] = {"ixx", "ixy", "ixz", "iyy", "iyz", "izz"};
    xmlNode                 *link       = api_xml_put(&f->w, f->robot, "link");
    api_xml_put_text(&f->w, link, "name", name);
    if (visuals) api_urdf_put_visuals(f, link, visuals);
    if (!inertia) return;
    bool zero = inertia->mass == 0;
    for (int i = 0; i < 6; i++)
        zero = zero && inertia->about_com[i] == 0;
    if (zero) return;
    xmlNode *inertial = api_xml_put(&f->w, link, "inertial");
    dyn_pose X        = dyn_pose_translation(inertia->com[0], inertia->com[1], inertia->com[2]);
    api_urdf_put_origin(f, inertial, &X);
    api_xml_put_number(&f->w, api_xml_put(&f->w, inertial, "mass"), "value", inertia->mass);
    xmlNode *tensor = api_xml_put(&f->w, inertial, "inertia");
    for (int i = 0; i < 6; i++)
        api_xml_put_number(&f->w, tensor, entries[i], inertia->about_com[i]);
}

static xmlNode *put_joint(api_urdf_file *f, const urdf_part *part)
{
    xmlNode *joint = api_xml_put(&f->w, f->robot, "joint");
    api_xml_put_text(&f->w, joint, "name", part->name);
    api_xml_put_text(&f->w, joint, "type", part->type);
    api_urdf_put_origin(f, joint, &part->X);
    api_xml_put_text(&f->w, api_xml_put(&f->w, joint, "parent"), "link", part->parent);
    api_xml_put_text(&f->w, api_xml_put(&f->w, joint, "child"), "link", part->child);
    if (part->has_axis) api_xml_put_numbers(&f->w, api_xml_put(&f->w, joint, "axis"), "xyz", part->axis, 3);
    return joint;
}

/* Limits, damping and friction of a joint with one coordinate. */
static void put_figures(api_urdf_file *f, xmlNode *joint, const api_document_link *link)
{
    const dyn_friction *friction = &link->dyn.friction;
    double              damping  = friction->viscous + link->dyn.spring.damping;
    if (link->has_position_limits || link->limits.has_velocity || link->limits.has_effort ||
        link->limits.has_acceleration || link->limits.has_jerk) {
        xmlNode *limit = api_xml_put(&f->w, joint, "limit");
        if (link->has_position_limits) api_xml_put_number(&f->w, limit, "lower", link->lower);
        if (link->has_position_limits) api_xml_put_number(&f->w, limit, "upper", link->upper);
        if (link->limits.has_velocity) api_xml_put_number(&f->w, limit, "velocity", link->limits.velocity);
        if (link->limits.has_effort) api_xml_put_number(&f->w, limit, "effort", link->limits.effort);
        if (link->limits.has_acceleration) api_xml_put_number(&f->w, limit, "acceleration", link->limits.acceleration);
        if (link->limits.has_jerk) api_xml_put_number(&f->w, limit, "jerk", link->limits.jerk);
    }
    if (damping != 0 || friction->positive != 0) {
        xmlNode *dynamics = api_xml_put(&f->w, joint, "dynamics");
        api_xml_put_number(&f->w, dynamics, "damping", damping);
        api_xml_put_number(&f->w, dynamics, "friction", friction->positive);
    }
}

static void put_mimic(api_urdf_file *f, xmlNode *joint, const char *leader, double multiplier, double offset)
{
    xmlNode *mimic = api_xml_put(&f->w, joint, "mimic");
    api_xml_put_text(&f->w, mimic, "joint", leader);
    api_xml_put_number(&f->w, mimic, "multiplier", multiplier);
    api_xml_put_number(&f->w, mimic, "offset", offset);
}

static void report_joint(api_urdf_file *f, size_t i)
{
    const api_document_link *link = &f->w.document->links[i];
    if (link->dyn.spring.stiffness != 0 && dyn_joint_nv(link->dyn.joint) == 1)
        api_xml_joint_not_held(&f->w, i, "spring");
    if (link->has_home && f->w.document->n_loops > 0) api_xml_joint_not_held(&f->w, i, "home");
    if (!link->actuated) api_xml_joint_not_held(&f->w, i, "actuated");
}

/* Puts a transmission whose motor turns with the joint and has the rotor's inertia. */
static void put_rotor(api_urdf_file *f, const api_document_link *link)
{
    if (link->dyn.rotor_inertia == 0 || dyn_joint_nv(link->dyn.joint) != 1) return;
    xmlNode *transmission = api_xml_put(&f->w, f->robot, "transmission");
    api_xml_put_text(&f->w, transmission, "name", api_xml_join(&f->w, link->joint, "transmission"));
    api_xml_put_content(&f->w, api_xml_put(&f->w, transmission, "type"), "transmission_interface/SimpleTransmission");
    api_xml_put_text(&f->w, api_xml_put(&f->w, transmission, "joint"), "name", link->joint);
    xmlNode *actuator = api_xml_put(&f->w, transmission, "actuator");
    api_xml_put_text(&f->w, actuator, "name", api_xml_join(&f->w, link->joint, "motor"));
    api_xml_put_content(&f->w, api_xml_put(&f->w, actuator, "mechanicalReduction"), "1");
    api_xml_put_content_number(&f->w, api_xml_put(&f->w, actuator, "motorInertia"), link->dyn.rotor_inertia);
}

/* Writes a helical joint as two: a slide that mimics the rotation by `pitch`, and the revolute joint. */
static void put_helical(api_urdf_file *f, urdf_part *part, const api_document_link *link)
{
    const char *joint = part->name, *child = part->child;
    const char *leader = link->dyn.mimic ? api_xml_leader_of(f->w.document, link) : joint;
    const char *step   = api_xml_join(&f->w, joint, "slide.link");
    urdf_part   slide  = *part;
    slide.name         = api_xml_join(&f->w, joint, "slide");
    slide.type         = "prismatic";
    slide.child        = step;
    put_link(f, step, NULL, NULL);
    put_mimic(f, put_joint(f, &slide), leader, link->dyn.pitch * link->dyn.ratio, link->dyn.pitch * link->dyn.offset);
    part->parent = step;
    part->X      = dyn_pose_identity();
    part->child  = child;
}

/* Type in the file of the joint that carries a link. The compiler refuses a kind of joint without a case: a further
 * kind needs a form in URDF here. A helical joint is written as two. */
static const char *type_of(const api_document_link *link)
{
    switch (link->dyn.joint) {
    case DYN_REVOLUTE:
    case DYN_HELICAL: return link->has_position_limits ? "revolute" : "continuous";
    case DYN_PRISMATIC: return "prismatic";
    case DYN_PLANAR: return "planar";
    case DYN_FLOATING: return "floating";
    case DYN_FIXED: return "fixed";
    case DYN_SPHERICAL: return "spherical";
    case DYN_JOINT_KINDS: break;
    }
    return "fixed";
}

static void put_moving(api_urdf_file *f, size_t i, urdf_part *part)
{
    const api_document_link *link = &f->w.document->links[i];
    if (link->dyn.joint == DYN_HELICAL) put_helical(f, part, link);
    xmlNode *joint = put_joint(f, part);
    if (dyn_joint_nv(link->dyn.joint) == 1 || dyn_joint_has_quaternion(link->dyn.joint)) put_figures(f, joint, link);
    if (link->dyn.mimic) put_mimic(f, joint, api_xml_leader_of(f->w.document, link), link->dyn.ratio, link->dyn.offset);
    put_rotor(f, link);
    report_joint(f, i);
}

static void put_link_and_joint(api_urdf_file *f, size_t i)
{
    const api_document_link *link  = &f->w.document->links[i];
    bool                     apart = !dyn_pose_is_identity(&link->dyn.after) && link->dyn.joint != DYN_FIXED;
    urdf_part                part  = {.name     = link->joint,
                                      .type     = type_of(link),
                                      .parent   = api_xml_parent_of(f->w.document, link),
                                      .child    = link->name,
                                      .X        = link->dyn.before,
                                      .has_axis = dyn_joint_types[link->dyn.joint].has_axis};
    memcpy(part.axis, link->dyn.axis, sizeof part.axis);
    put_link(f, link->name, &link->dyn.inertia, &link->visuals);
    if (link->dyn.joint == DYN_FIXED) {
        part.X = dyn_pose_compose(&link->dyn.before, &link->dyn.after);
        put_joint(f, &part);
        return;
    }
    if (!apart) {
        put_moving(f, i, &part);
        return;
    }
    const char *mover = api_xml_join(&f->w, link->name, link->joint);
    put_link(f, mover, NULL, NULL);
    part.child = mover;
    put_moving(f, i, &part);
    urdf_part fixed = {.name   = api_xml_join(&f->w, link->name, "fixed"),
                       .type   = "fixed",
                       .parent = mover,
                       .child  = link->name,
                       .X      = link->dyn.after};
    put_joint(f, &fixed);
}

static void put_frames(api_urdf_file *f)
{
    for (size_t i = 0; i < f->w.document->n_frames; i++) {
        const api_document_frame *frame = &f->w.document->frames[i];
        urdf_part                 part  = {.name   = api_xml_join(&f->w, frame->name, "fixed"),
                                           .type   = "fixed",
                                           .parent = api_xml_link_of(f->w.document, frame->link),
                                           .child  = frame->name,
                                           .X      = frame->X_lf};
        put_link(f, frame->name, NULL, NULL);
        put_joint(f, &part);
    }
}

static void report_document(api_urdf_file *f)
{
    const api_document *d = f->w.document;
    if (d->gravity[0] != 0 || d->gravity[1] != 0 || d->gravity[2] != -9.81)
        api_xml_not_held(&f->w, "/gravity", "gravity is not part of the file: readers assume [0,0,-9.81]");
    api_xml_report_compensation(&f->w, 0);
    if (d->floating)
        api_xml_not_held(&f->w, "/base/type", "the floating base is not part of the file: read it with base=floating");
    for (size_t i = 0; i < d->n_loops; i++) {
        char where[40];
        snprintf(where, sizeof where, "/loops/%zu", i);
        api_xml_not_held(&f->w, where, "loop \"%.*s\" is not part of the file", api_text_shown(d->loops[i].name),
                         d->loops[i].name);
    }
    api_xml_report_forces(&f->w);
    api_xml_report_free_forces(&f->w, true);
    api_xml_report_polynomials(&f->w);
    api_xml_report_configurations(&f->w);
}

char *api_urdf_write(const api_document *document, const api_model_heading *heading, api_reader *reader, size_t *length)
{
    api_urdf_file f;
    f.robot       = api_xml_writer_open(&f.w, reader, document, "robot");
    f.quaternions = heading->version && strcmp(heading->version, "1.2") == 0;
    api_xml_put_text(&f.w, f.robot, "name", heading->name);
    if (f.quaternions) api_xml_put_text(&f.w, f.robot, "version", heading->version);
    report_document(&f);
    put_link(&f, document->base, &document->base_inertia, &document->base_visuals);
    for (size_t i = 0; i < document->n_links; i++)
        put_link_and_joint(&f, i);
    put_frames(&f);
    api_xml_report_shapes(&f.w, "URDF has no ellipsoids");
    return api_xml_writer_finish(&f.w, length);
}
