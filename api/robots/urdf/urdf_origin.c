/* urdf_origin.c - read the version of a file, and `origin`: a position with roll, pitch and yaw or, from version 1.1
 * on, with a quaternion. */
#include "dynamics/math/geometry.h"
#include "api/codec/number.h"
#include "urdf_reader.h"
#include <math.h>
#include <string.h>

bool api_urdf_read_version(api_urdf *urdf)
{
    static const char *const known[] = {"1.0", "1.1", "1.2"};
    const char              *text    = known[0];
    if (!api_xml_text(&urdf->xml, urdf->xml.root, "version", API_OPTIONAL, &text)) return false;
    for (urdf->minor = 0; urdf->minor < (int)(sizeof known / sizeof *known); urdf->minor++)
        if (strcmp(text, known[urdf->minor]) == 0) return true;
    return api_xml_fail(&urdf->xml, urdf->xml.root, API_NOT_SUPPORTED,
                        "version \"%.*s\" of <robot>: versions 1.0, 1.1 and 1.2 are read", api_text_shown(text), text);
}

/* Normalises a quaternion x y z w, and converts it to roll, pitch and yaw. */
static bool read_quaternion(api_urdf *urdf, const xmlNode *origin, double rpy[3])
{
    double q[4];
    if (!api_xml_numbers(&urdf->xml, origin, "quat_xyzw", API_REQUIRED, q, 4)) return false;
    double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    if (!(length > 0) || isinf(length))
        return api_xml_fail(&urdf->xml, origin, API_BAD_QUATERNION, "quat_xyzw of <origin> has the length %.9g",
                            length);
    const double wxyz[4] = {q[3] / length, q[0] / length, q[1] / length, q[2] / length};
    dyn_pose     X       = dyn_pose_wxyz(wxyz);
    dyn_rpy_of((const double(*)[3])X.R, rpy);
    return fabs(length - 1) <= DYN_QUATERNION_TOLERANCE ||
           api_xml_report(&urdf->xml, origin, "info", "normalised", "quat_xyzw of <origin> has the length %.9g, not 1",
                          length);
}

/* Reads the rotation. Both forms in one origin contradict each other: version 1.1 forbids them. */
static bool read_rotation(api_urdf *urdf, const xmlNode *origin, double rpy[3])
{
    bool quaternion = api_xml_has(origin, "quat_xyzw");
    if (quaternion && urdf->minor == 0 &&
        !api_xml_report(&urdf->xml, origin, "warning", "not-held",
                        "quat_xyzw of <origin> has no effect in a file of version 1.0: <robot version=\"1.1\"> has it"))
        return false;
    if (!quaternion || urdf->minor == 0) return api_xml_numbers(&urdf->xml, origin, "rpy", API_OPTIONAL, rpy, 3);
    if (api_xml_has(origin, "rpy"))
        return api_xml_fail(&urdf->xml, origin, API_BAD_VALUE, "<origin> has both rpy and quat_xyzw: give one of them");
    return read_quaternion(urdf, origin, rpy);
}

bool api_urdf_read_origin(api_urdf *urdf, const xmlNode *element, double xyz[3], double rpy[3])
{
    const xmlNode *origin = api_xml_child(element, "origin");
    for (int i = 0; i < 3; i++)
        xyz[i] = rpy[i] = 0;
    if (origin &&
        !(api_xml_numbers(&urdf->xml, origin, "xyz", API_OPTIONAL, xyz, 3) && read_rotation(urdf, origin, rpy)))
        return false;
    for (int i = 0; i < 3; i++)
        if (fabs(rpy[i]) > DYN_MAX_ANGLE)
            return api_xml_fail(&urdf->xml, origin, API_ANGLE_TOO_LARGE,
                                "rpy of <origin>: an angle of %s; angles are limited to %g rad",
                                API_NUMBER_TEXT(rpy[i]), DYN_MAX_ANGLE);
    return true;
}
