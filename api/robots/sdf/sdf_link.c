/* sdf_link.c - read the inertias of links. A link without <inertial>, <mass> or <inertia> has the format's defaults: 1
 * kg and 1 kg m^2 about each axis. */
#include "sdf_reader.h"
#include <string.h>

static bool read_tensor(api_sdf *sdf, const xmlNode *inertial, double T[6])
{
    static const char *const entries[6] = {"ixx", "ixy", "ixz", "iyy", "iyz", "izz"};
    const xmlNode           *inertia    = api_xml_child(inertial, "inertia");
    for (int i = 0; inertia && i < 6; i++)
        if (!api_sdf_number(sdf, inertia, entries[i], &T[i])) return false;
    return true;
}

/* The pose of the centre of mass is in the frame of the link; another frame is reported. */
static bool report_frame(api_sdf *sdf, const xmlNode *inertial)
{
    static const char *const attributes[] = {"relative_to", "frame"};
    const xmlNode           *pose         = api_xml_child(inertial, "pose");
    for (int i = 0; pose && i < 2; i++) {
        const char *name = "";
        if (!api_xml_text(&sdf->xml, pose, attributes[i], API_OPTIONAL, &name)) return false;
        if (*name && !api_xml_report(&sdf->xml, pose, "warning", "not-held",
                                     "%s of the <pose> in <inertial> has no effect: the pose is in the link's frame",
                                     attributes[i]))
            return false;
    }
    return true;
}

static bool read_stated(api_sdf *sdf, const xmlNode *inertial, dyn_inertia *inertia)
{
    double   T[6] = {1, 0, 0, 1, 0, 1};
    dyn_pose X;
    if (!api_sdf_number(sdf, inertial, "mass", &inertia->mass) || !api_sdf_read_pose(sdf, inertial, &X) ||
        !report_frame(sdf, inertial) || !read_tensor(sdf, inertial, T))
        return false;
    memcpy(inertia->com, X.p, sizeof X.p);
    api_tensor_rotate((const double(*)[3])X.R, T, inertia->about_com);
    return true;
}

static bool report_default(api_sdf *sdf, const xmlNode *link, const char *missing, const char *value)
{
    return api_xml_report(&sdf->xml, link, "warning", "assumed", "the link has no <%s>: SDF's default is %s", missing,
                          value);
}

static bool report_defaults(api_sdf *sdf, const xmlNode *link, const xmlNode *inertial)
{
    static const char *const diagonal[] = {"ixx", "iyy", "izz"};
    const xmlNode           *inertia    = inertial ? api_xml_child(inertial, "inertia") : NULL;
    if (!inertial) return report_default(sdf, link, "inertial", "1 kg and 1 kg m^2 about each axis");
    if (!api_xml_child(inertial, "mass") && !report_default(sdf, link, "mass", "1 kg")) return false;
    if (!inertia) return report_default(sdf, link, "inertia", "1 kg m^2 about each axis");
    for (int i = 0; i < 3; i++)
        if (!api_xml_child(inertia, diagonal[i]) && !report_default(sdf, link, diagonal[i], "1 kg m^2")) return false;
    return true;
}

/* Reads the inertial of a link, and reports the values that it omits, for which the format has defaults. */
static bool read_inertial(api_sdf *sdf, const api_sdf_frame *link, const xmlNode *inertial, dyn_inertia *inertia)
{
    static const char *const flags[]   = {"false", "true", "0", "1", NULL};
    int                      automatic = 0;
    if (inertial && !api_xml_choice(&sdf->xml, inertial, "auto", flags, &automatic)) return false;
    if (automatic % 2 == 1) return api_sdf_read_auto_inertia(sdf, link, inertial, inertia);
    return (!inertial || read_stated(sdf, inertial, inertia)) && report_defaults(sdf, link->element, inertial);
}

/* Reads whether gravity acts on a link, and reports a link whose motion is prescribed (<kinematic>). */
static bool read_link_flags(api_sdf *sdf, api_sdf_frame *frame)
{
    const xmlNode *link    = frame->element;
    bool           gravity = true, kinematic = false;
    if (!api_sdf_flag(sdf, link, "gravity", &gravity) || !api_sdf_flag(sdf, link, "kinematic", &kinematic))
        return false;
    frame->weightless = !gravity;
    return !kinematic ||
           api_xml_report(&sdf->xml, link, "warning", "not-held",
                          "the link is kinematic, moved by position alone: that is not part of the model");
}

/* Counts the links, and those on which gravity does not act. */
static size_t count_weightless(const api_sdf *sdf, size_t *links)
{
    size_t n = 0;
    *links   = 0;
    for (size_t i = 0; i < sdf->n_frames; i++) {
        *links += sdf->frames[i].kind == API_SDF_IS_LINK;
        n += sdf->frames[i].weightless;
    }
    return n;
}

/* A model whose links all lack gravity has none; else such links have compensation of gravity. */
static bool apply_gravity(api_sdf *sdf)
{
    static const double none[3];
    size_t              links, n = count_weightless(sdf, &links);
    if (n == 0) return true;
    if (n < links)
        return api_xml_report(&sdf->xml, sdf->model, "info", "compensated",
                              "<gravity> is false for %zu of %zu links: their \"gravity_compensation\" is 1", n, links);
    for (size_t i = 0; i < sdf->n_frames; i++)
        sdf->frames[i].weightless = false;
    sdf->gravity = none;
    return api_xml_report(&sdf->xml, sdf->model, "info", "compensated",
                          "<gravity> is false for all links: the model has no gravity");
}

bool api_sdf_read_links(api_sdf *sdf)
{
    for (size_t i = 0; i < sdf->n_frames; i++) {
        api_sdf_frame *frame = &sdf->frames[i];
        if (frame->kind != API_SDF_IS_LINK) continue;
        const xmlNode *inertial = api_xml_child(frame->element, "inertial");
        frame->inertia          = (dyn_inertia){.mass = 1, .about_com = {1, 0, 0, 1, 0, 1}};
        if (!read_inertial(sdf, frame, inertial, &frame->inertia) || !read_link_flags(sdf, frame) ||
            !api_xml_reserve_given(&sdf->document, sdf->document.names, frame->element, frame->name, &frame->link_name))
            return false;
    }
    return apply_gravity(sdf);
}
