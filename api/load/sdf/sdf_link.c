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

static bool read_inertial(api_sdf *sdf, const xmlNode *inertial, dyn_inertia *inertia)
{
    static const char *const flags[]   = {"false", "true", NULL};
    double                   T[6]      = {1, 0, 0, 1, 0, 1};
    int                      automatic = 0;
    dyn_pose                 X;
    if (!api_xml_choice(&sdf->xml, inertial, "auto", flags, &automatic)) return false;
    if (automatic == 1)
        return api_xml_fail(
            &sdf->xml, inertial, API_NOT_SUPPORTED,
            "<inertial auto=\"true\"> follows from shapes and densities of collisions, which are not read: "
            "give mass and inertia");
    if (!api_sdf_number(sdf, inertial, "mass", &inertia->mass) || !api_sdf_read_pose(sdf, inertial, &X) ||
        !read_tensor(sdf, inertial, T))
        return false;
    memcpy(inertia->com, X.p, sizeof X.p);
    api_tensor_rotate((const double(*)[3])X.R, T, inertia->about_com);
    return true;
}

static bool report_defaults(api_sdf *sdf, const xmlNode *link, const xmlNode *inertial)
{
    const char *missing = !inertial                             ? "inertial"
                          : !api_xml_child(inertial, "mass")    ? "mass"
                          : !api_xml_child(inertial, "inertia") ? "inertia"
                                                                : NULL;
    return !missing ||
           api_xml_report(&sdf->xml, link, "warning", "assumed", "the link has no <%s>: SDF's default is %s", missing,
                          strcmp(missing, "inertia") == 0 ? "1 kg m^2 about each axis"
                          : strcmp(missing, "mass") == 0  ? "1 kg"
                                                          : "1 kg and 1 kg m^2 about each axis");
}

/* Reports what would make a link move in another way. */
static bool report_link(api_sdf *sdf, const xmlNode *link, size_t *weightless)
{
    bool gravity = true, kinematic = false;
    if (!api_sdf_flag(sdf, link, "gravity", &gravity) || !api_sdf_flag(sdf, link, "kinematic", &kinematic))
        return false;
    *weightless += !gravity;
    return !kinematic ||
           api_xml_report(&sdf->xml, link, "warning", "not-held",
                          "the link is kinematic, moved by position alone: that is not part of the model");
}

/* Links without gravity: a model holds that for all links only. */
static bool apply_gravity(api_sdf *sdf, size_t weightless, size_t n)
{
    static const double none[3];
    if (weightless == 0) return true;
    if (weightless < n)
        return api_xml_report(&sdf->xml, sdf->model, "warning", "not-held",
                              "<gravity> is false for %zu of %zu links: that is not part of the model", weightless, n);
    sdf->gravity = none;
    return api_xml_report(&sdf->xml, sdf->model, "info", "compensated",
                          "<gravity> is false for all links: the model has no gravity");
}

bool api_sdf_read_links(api_sdf *sdf)
{
    size_t weightless = 0, n = 0;
    for (size_t i = 0; i < sdf->n_frames; i++) {
        api_sdf_frame *frame = &sdf->frames[i];
        if (frame->kind != API_SDF_IS_LINK) continue;
        const xmlNode *inertial = api_xml_child(frame->element, "inertial");
        frame->inertia          = (dyn_inertia){.mass = 1, .about_com = {1, 0, 0, 1, 0, 1}};
        n++;
        if ((inertial && !read_inertial(sdf, inertial, &frame->inertia)) ||
            !report_defaults(sdf, frame->element, inertial) || !report_link(sdf, frame->element, &weightless) ||
            !api_xml_reserve_given(&sdf->document, sdf->document.names, frame->element, frame->name, &frame->link_name))
            return false;
    }
    return apply_gravity(sdf, weightless, n);
}
