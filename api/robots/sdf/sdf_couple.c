/* sdf_couple.c - read couplings of joints: mimics and gears; and rotors behind gears, an extension of Drake. */
#include "sdf_reader.h"
#include <math.h>
#include <string.h>

/* --- mimics and gears --------------------------------------------------------------------------------------------- */

static bool report_independent(api_sdf *sdf, const xmlNode *element, const char *why)
{
    return api_xml_report(&sdf->xml, element, "warning", "not-held", "<%.40s> is not part of the model: %s",
                          (const char *)element->name, why);
}

/* Sets *couple if the option `mimic` is "coupled"; otherwise reports or refuses the coupling. */
static bool ask_mimic(api_sdf *sdf, const xmlNode *element, bool *couple)
{
    *couple = sdf->mimic == API_SDF_MIMIC_COUPLED;
    if (*couple) return true;
    if (sdf->mimic == API_SDF_MIMIC_REFUSE)
        return api_xml_fail(&sdf->xml, element, API_NOT_SUPPORTED, "<%.40s>: mimic=refuse was requested",
                            (const char *)element->name);
    return report_independent(sdf, element, "mimic=independent was requested");
}

static api_sdf_joint *joint_of_frame(api_sdf *sdf, int frame)
{
    for (size_t i = 0; i < sdf->n_joints; i++)
        if (sdf->joints[i].frame == frame) return &sdf->joints[i];
    return NULL;
}

/* Values of a mimic: q = multiplier (q_leader - reference) + offset. Drake states them in attributes. */
typedef struct sdf_mimic {
    const xmlNode *element; /* NULL: the joint has none */
    double         multiplier, offset, reference;
} sdf_mimic;

static bool read_mimic_figures(api_sdf *sdf, const api_sdf_joint *joint, int part, sdf_mimic *m)
{
    const xmlNode *drake = part == 0 ? api_xml_qualified_child(sdf->frames[joint->frame].element, "drake:mimic") : NULL;
    *m                   = (sdf_mimic){.multiplier = 1};
    if (joint->axis[part].element) m->element = api_xml_child(joint->axis[part].element, "mimic");
    if (m->element && drake)
        return api_xml_fail(&sdf->xml, drake, API_BAD_VALUE,
                            "the joint has <mimic> and <drake:mimic>: give one of them");
    if (m->element)
        return api_sdf_number(sdf, m->element, "multiplier", &m->multiplier) &&
               api_sdf_number(sdf, m->element, "offset", &m->offset) &&
               api_sdf_number(sdf, m->element, "reference", &m->reference);
    m->element = drake;
    return !drake || (api_xml_numbers(&sdf->xml, drake, "multiplier", API_OPTIONAL, &m->multiplier, 1) &&
                      api_xml_numbers(&sdf->xml, drake, "offset", API_OPTIONAL, &m->offset, 1));
}

/* Reads which axis of the leader is followed: by default its first one. */
static bool read_mimic_axis(api_sdf *sdf, const xmlNode *mimic, const api_sdf_joint *leader, int *part)
{
    static const char *const axes[] = {"axis", "axis2", NULL};
    *part                           = 0;
    if (!api_xml_choice(&sdf->xml, mimic, "axis", axes, part)) return false;
    return *part == 0 || api_sdf_has_two_axes(leader) ||
           api_xml_fail(&sdf->xml, mimic, API_BAD_VALUE, "axis is \"axis2\", but the joint that it names has one axis");
}

static bool read_mimic(api_sdf *sdf, api_sdf_joint *joint, int part)
{
    const char *name = NULL;
    sdf_mimic   m;
    bool        couple;
    if (!read_mimic_figures(sdf, joint, part, &m)) return false;
    const xmlNode *mimic = m.element;
    if (!mimic) return true;
    if (!api_xml_name(&sdf->xml, mimic, "joint", &name) || !ask_mimic(sdf, mimic, &couple)) return false;
    int            frame  = api_sdf_find_frame(sdf, mimic, &sdf->frames[joint->frame], name);
    api_sdf_joint *leader = frame == API_SDF_NONE ? NULL : joint_of_frame(sdf, frame);
    if (frame == API_SDF_NONE) return false;
    if (!leader || leader == joint)
        return api_xml_fail(&sdf->xml, mimic, API_UNKNOWN_NAME, "\"%.*s\" is not another joint of this model",
                            api_text_shown(name), name);
    api_sdf_mimicked follows = {(int)(leader - sdf->joints), 0, m.multiplier, m.offset - m.multiplier * m.reference};
    if (!read_mimic_axis(sdf, mimic, leader, &follows.part)) return false;
    if (!couple) return true;
    if (joint->type == API_SDF_BALL || leader->type == API_SDF_BALL)
        return report_independent(sdf, mimic, "a ball joint has several coordinates");
    joint->follows[part] = follows;
    return true;
}

static bool turns(const api_sdf_joint *joint)
{
    return joint->type == API_SDF_REVOLUTE || joint->type == API_SDF_CONTINUOUS;
}

/* Finds the revolute joint that connects a link to the reference body of a gearbox. */
static api_sdf_joint *find_geared(api_sdf *sdf, int link, int body)
{
    for (size_t i = 0; i < sdf->n_joints; i++) {
        api_sdf_joint *joint = &sdf->joints[i];
        if (turns(joint) &&
            ((joint->parent == body && joint->child == link) || (joint->child == body && joint->parent == link)))
            return joint;
    }
    return NULL;
}

/* Returns 1 if the rotation of `link` about the axis of a gear is the joint's coordinate, -1 if it is the opposite, 0
 * if the axes differ. */
static int gear_sign(const api_sdf *sdf, const api_sdf_joint *gear, int which, const api_sdf_joint *joint, int link)
{
    double   along = 0;
    int      sign  = joint->child == link ? 1 : -1;
    dyn_pose X_g = api_sdf_in_world(sdf, gear->frame), X_j = api_sdf_in_world(sdf, joint->frame);
    if (!gear->axis[which].element) return sign;
    for (int i = 0; i < 3; i++)
        along += dyn_dot(X_g.R[i], gear->axis[which].axis) * dyn_dot(X_j.R[i], joint->axis[0].axis);
    return fabs(along) < 1 - 1e-6 ? 0 : along > 0 ? sign : -sign;
}

/* Couples the two joints of a gearbox: relative to the reference body the child rotates by -ratio times the angle of
 * the parent. */
static bool read_gearbox(api_sdf *sdf, const api_sdf_joint *gear)
{
    const api_sdf_frame *frame = &sdf->frames[gear->frame];
    const char          *name;
    double               ratio = 1;
    bool                 couple;
    if (!api_xml_child(frame->element, "gearbox_ratio") &&
        !api_xml_report(&sdf->xml, frame->element, "warning", "assumed",
                        "the gearbox has no <gearbox_ratio>: SDF's default is 1"))
        return false;
    if (!api_sdf_number(sdf, frame->element, "gearbox_ratio", &ratio) ||
        !api_sdf_text(sdf, frame->element, "gearbox_reference_body", &name) || !ask_mimic(sdf, frame->element, &couple))
        return false;
    int body = api_sdf_find_frame(sdf, frame->element, frame, name);
    if (body == API_SDF_NONE) return false;
    int base = body == API_SDF_WORLD ? API_SDF_WORLD : sdf->frames[body].link;
    if (!couple) return true;
    api_sdf_joint *first  = find_geared(sdf, gear->parent, base);
    api_sdf_joint *second = find_geared(sdf, gear->child, base);
    int            sign   = first && second
                                ? gear_sign(sdf, gear, 0, first, gear->parent) * gear_sign(sdf, gear, 1, second, gear->child)
                                : 0;
    if (sign == 0 || first == second || second->follows[0].leader >= 0 ||
        first->follows[0].leader == (int)(second - sdf->joints))
        return report_independent(sdf, frame->element,
                                  "it must couple two revolute joints between its links and the reference body, about "
                                  "its axes");
    second->follows[0] = (api_sdf_mimicked){(int)(first - sdf->joints), 0, -ratio * sign, 0};
    return true;
}

bool api_sdf_read_couplings(api_sdf *sdf)
{
    for (size_t i = 0; i < sdf->n_joints; i++)
        for (int part = 0; part < (api_sdf_has_two_axes(&sdf->joints[i]) ? 2 : 1); part++)
            if (sdf->joints[i].type != API_SDF_GEARBOX && !read_mimic(sdf, &sdf->joints[i], part)) return false;
    for (size_t i = 0; i < sdf->n_joints; i++)
        if (sdf->joints[i].type == API_SDF_GEARBOX && !read_gearbox(sdf, &sdf->joints[i])) return false;
    return true;
}

/* Refuses an axis that follows a joint which closes a loop, or which follows it in turn. */
static bool check_leader(api_sdf *sdf, const api_sdf_joint *joint, int part)
{
    const api_sdf_joint    *leader  = &sdf->joints[joint->follows[part].leader];
    const xmlNode          *element = sdf->frames[joint->frame].element;
    const char             *name    = sdf->frames[leader->frame].name;
    const api_sdf_mimicked *next    = &joint->follows[part];
    if (api_sdf_closes_loop(leader))
        return api_xml_fail(&sdf->xml, element, API_NOT_SUPPORTED,
                            "the joint follows \"%.*s\", which closes a loop and is no joint of the tree: with "
                            "mimic=independent it moves on its own",
                            api_text_shown(name), name);
    for (size_t n = 0; next->leader >= 0 && n <= 2 * sdf->n_joints; n++) {
        if (&sdf->joints[next->leader] == joint && next->part == part)
            return api_xml_fail(&sdf->xml, element, API_BAD_MODEL, "the joint mimics \"%.*s\", which mimics it in turn",
                                api_text_shown(name), name);
        next = &sdf->joints[next->leader].follows[next->part];
    }
    return true;
}

bool api_sdf_check_leaders(api_sdf *sdf)
{
    for (size_t i = 0; i < sdf->n_joints; i++)
        for (int part = 0; part < 2; part++) {
            const api_sdf_joint *joint = &sdf->joints[i];
            if (joint->used && joint->follows[part].leader >= 0 && !check_leader(sdf, joint, part)) return false;
        }
    return true;
}

/* --- rotors ------------------------------------------------------------------------------------------------------- */

/* Reads <drake:rotor_inertia> and <drake:gear_ratio> of a joint or of one of its axes: a rotor of inertia I behind a
 * gear of ratio n has the inertia n^2 I at the joint. *rotor is unchanged without the first. */
static bool read_rotor(api_sdf *sdf, const xmlNode *owner, double *rotor, const xmlNode **element)
{
    const xmlNode *inertia = api_xml_qualified_child(owner, "drake:rotor_inertia");
    const xmlNode *ratio   = api_xml_qualified_child(owner, "drake:gear_ratio");
    double         I = 0, n = 1;
    if (!inertia) return true;
    if (*element)
        return api_xml_fail(&sdf->xml, inertia, API_BAD_VALUE,
                            "<drake:rotor_inertia> stands in the joint and in its axis: give one of them");
    *element = inertia;
    if (!api_xml_content_numbers(&sdf->xml, inertia, &I, 1) ||
        (ratio && !api_xml_content_numbers(&sdf->xml, ratio, &n, 1)))
        return false;
    if (I < 0) return api_xml_fail(&sdf->xml, inertia, API_BAD_VALUE, "the rotor inertia %.9g is negative", I);
    if (n == 0) return api_xml_fail(&sdf->xml, ratio, API_BAD_VALUE, "a gear ratio must not be 0");
    *rotor = n * n * I;
    return api_xml_report(
        &sdf->xml, inertia, "info", "reflected",
        "the rotor, %.9g kg m^2 behind a gear of %.9g, has %.9g kg m^2 at the joint (kg at a prismatic one)", I, n,
        *rotor);
}

/* Reports a rotor that no coordinate of the joint drives. */
static bool report_lost_rotor(api_sdf *sdf, const xmlNode *element, double *rotor)
{
    bool lost = *rotor != 0;
    *rotor    = 0;
    return !lost || api_xml_report(&sdf->xml, element, "warning", "not-held",
                                   "the rotor is not part of the model: a rotor belongs to one axis of a joint");
}

bool api_sdf_read_rotors(api_sdf *sdf, api_sdf_joint *joint)
{
    const xmlNode *element = sdf->frames[joint->frame].element;
    const xmlNode *axis = api_xml_child(element, "axis"), *axis2 = api_xml_child(element, "axis2"), *where[3] = {NULL};
    double         rotor[3] = {0};
    int            axes     = api_sdf_has_two_axes(joint) ? 2 : 1;
    if (joint->type == API_SDF_FIXED || joint->type == API_SDF_BALL || joint->type == API_SDF_GEARBOX) axes = 0;
    if ((axis && !read_rotor(sdf, axis, &rotor[0], &where[0])) ||
        (axis2 && !read_rotor(sdf, axis2, &rotor[1], &where[1])))
        return false;
    if (axes == 1) where[2] = where[0];
    if (!read_rotor(sdf, element, &rotor[2], &where[2])) return false;
    if (axes == 1) rotor[0] += rotor[2], rotor[2] = 0;
    for (int i = axes; i < 3; i++)
        if (!report_lost_rotor(sdf, where[i], &rotor[i])) return false;
    memcpy(joint->rotor, rotor, sizeof joint->rotor);
    return true;
}
