/* mjcf_pose.c - read poses: pos with one of quat, axisangle, euler, xyaxes and zaxis, or the two ends of fromto. */
#include "mjcf_reader.h"
#include "api/codec/number.h"
#include "dynamics/dynamics.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool api_mjcf_normalise(api_mjcf *m, const xmlNode *element, const char *attribute, double *v, size_t n)
{
    double scale = 0, square = 0;
    for (size_t i = 0; i < n; i++)
        scale = fmax(scale, fabs(v[i]));
    if (scale == 0)
        return api_xml_fail(&m->xml, element, API_BAD_VALUE, "%s of <%.40s> has no direction: it is zero", attribute,
                            (const char *)element->name);
    for (size_t i = 0; i < n; i++)
        square += (v[i] / scale) * (v[i] / scale);
    for (size_t i = 0; i < n; i++)
        v[i] = v[i] / scale / sqrt(square);
    return true;
}

/* Converts an angle of the file to radians. */
static bool convert_angle(api_mjcf *m, const xmlNode *element, const char *attribute, double *angle)
{
    if (!api_mjcf_compiler_of(m, element)->radians) *angle *= M_PI / 180;
    return fabs(*angle) <= DYN_MAX_ANGLE ||
           api_xml_fail(&m->xml, element, API_ANGLE_TOO_LARGE, "%s of <%.40s>: an angle of %s rad, beyond %g rad",
                        attribute, (const char *)element->name, API_NUMBER_TEXT(*angle), DYN_MAX_ANGLE);
}

/* --- the forms of an orientation ---------------------------------------------------------------------------------- */

static bool read_quaternion(api_mjcf *m, const xmlNode *element, dyn_pose *X)
{
    double q[4];
    if (!api_xml_numbers(&m->xml, element, "quat", API_REQUIRED, q, 4) || !api_mjcf_normalise(m, element, "quat", q, 4))
        return false;
    *X = dyn_pose_wxyz(q);
    return true;
}

static bool read_axis_angle(api_mjcf *m, const xmlNode *element, dyn_pose *X)
{
    double v[4];
    if (!api_xml_numbers(&m->xml, element, "axisangle", API_REQUIRED, v, 4) ||
        !api_mjcf_normalise(m, element, "axisangle", v, 3) || !convert_angle(m, element, "axisangle", &v[3]))
        return false;
    *X = dyn_pose_about(v, v[3]);
    return true;
}

/* Reads "euler": rotations about axes of the body multiply from the right, rotations about fixed axes from the left. */
static bool read_euler(api_mjcf *m, const xmlNode *element, dyn_pose *X)
{
    double angle[3];
    if (!api_xml_numbers(&m->xml, element, "euler", API_REQUIRED, angle, 3)) return false;
    *X = dyn_pose_identity();
    for (int i = 0; i < 3; i++) {
        char letter = api_mjcf_compiler_of(m, element)->euler[i];
        bool fixed  = letter >= 'X' && letter <= 'Z';
        if (!convert_angle(m, element, "euler", &angle[i])) return false;
        dyn_pose turn = dyn_pose_rotation((dyn_axis)(letter - (fixed ? 'X' : 'x')), angle[i]);
        *X            = fixed ? dyn_pose_compose(&turn, X) : dyn_pose_compose(X, &turn);
    }
    return true;
}

/* Reads "xyaxes"; the y axis is made perpendicular to x. */
static bool read_xy_axes(api_mjcf *m, const xmlNode *element, dyn_pose *X)
{
    double v[6], z[3], *x = v, *y = v + 3;
    if (!api_xml_numbers(&m->xml, element, "xyaxes", API_REQUIRED, v, 6) ||
        !api_mjcf_normalise(m, element, "xyaxes", x, 3))
        return false;
    double along = dyn_dot(x, y);
    for (int i = 0; i < 3; i++)
        y[i] -= along * x[i];
    if (!api_mjcf_normalise(m, element, "xyaxes", y, 3)) return false;
    dyn_cross(x, y, z);
    for (int i = 0; i < 3; i++) {
        X->R[i][0] = x[i];
        X->R[i][1] = y[i];
        X->R[i][2] = z[i];
    }
    return true;
}

/* The smallest rotation that turns (0,0,1) to the unit vector z; about x if z is opposite. Its axis is k = e_z x z, and
 * R = 1 + [k]x + [k]x^2 / (1 + cos). */
static dyn_pose turn_to(const double z[3])
{
    dyn_pose X = dyn_pose_identity();
    if (z[2] < -1 + 1e-14) return dyn_pose_rotation(DYN_X, M_PI);
    double x = z[0], y = z[1], f = 1 / (1 + z[2]);
    X.R[0][0] = 1 - x * x * f, X.R[0][1] = X.R[1][0] = -x * y * f, X.R[1][1] = 1 - y * y * f;
    X.R[0][2] = x, X.R[1][2] = y, X.R[2][2] = z[2];
    X.R[2][0] = -x, X.R[2][1] = -y;
    dyn_rotation_orthonormalise(X.R);
    return X;
}

static bool read_z_axis(api_mjcf *m, const xmlNode *element, dyn_pose *X)
{
    double z[3];
    if (!api_xml_numbers(&m->xml, element, "zaxis", API_REQUIRED, z, 3) ||
        !api_mjcf_normalise(m, element, "zaxis", z, 3))
        return false;
    *X = turn_to(z);
    return true;
}

static const struct {
    const char *attribute;
    bool (*read)(api_mjcf *m, const xmlNode *element, dyn_pose *X);
} forms[] = {{"quat", read_quaternion},
             {"axisangle", read_axis_angle},
             {"euler", read_euler},
             {"xyaxes", read_xy_axes},
             {"zaxis", read_z_axis}};

/* Reads the one orientation of an element; *found tells whether it has one. X is then a pure rotation. */
static bool read_orientation(api_mjcf *m, const xmlNode *element, dyn_pose *X, bool *found)
{
    *found = false;
    *X     = dyn_pose_identity();
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (!api_xml_has(element, forms[i].attribute)) continue;
        if (*found)
            return api_xml_fail(&m->xml, element, API_BAD_VALUE,
                                "<%.40s> has more than one of quat, axisangle, euler, xyaxes and zaxis",
                                (const char *)element->name);
        *found = true;
        if (!forms[i].read(m, element, X)) return false;
    }
    return true;
}

/* --- poses -------------------------------------------------------------------------------------------------------- */

bool api_mjcf_read_plain_pose(api_mjcf *m, const xmlNode *element, dyn_pose *X)
{
    bool found;
    return read_orientation(m, element, X, &found) && api_xml_numbers(&m->xml, element, "pos", API_OPTIONAL, X->p, 3);
}

/* Reads "fromto": the z axis points from the second end to the first. */
static bool read_ends(api_mjcf *m, const api_mjcf_item *item, dyn_pose *X, double *half_length)
{
    double         ends[6], z[3];
    const xmlNode *element = api_mjcf_with(m, item, "fromto");
    if (!api_xml_numbers(&m->xml, element, "fromto", API_REQUIRED, ends, 6)) return false;
    for (int i = 0; i < 3; i++)
        z[i] = ends[i] - ends[i + 3];
    *half_length = dyn_norm(z) / 2;
    if (!api_mjcf_normalise(m, element, "fromto", z, 3)) return false;
    *X = turn_to(z);
    for (int i = 0; i < 3; i++)
        X->p[i] = ends[i] / 2 + ends[i + 3] / 2;
    return true;
}

static bool has_alternative(const xmlNode *element)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (forms[i].read != read_quaternion && api_xml_has(element, forms[i].attribute)) return true;
    return false;
}

/* Reads the orientation of an item. The nearest of axisangle, euler, xyaxes and zaxis counts, even that of a class, and
 * a quaternion only where there is none of them: MuJoCo keeps the two kinds apart and applies the second kind last. */
static bool read_item_orientation(api_mjcf *m, const api_mjcf_item *item, dyn_pose *X)
{
    bool found = false;
    *X         = dyn_pose_identity();
    for (int quaternion = 0; quaternion < 2 && !found; quaternion++) {
        int cursor = API_MJCF_OWN;
        for (const xmlNode *e; !found && (e = api_mjcf_next_level(m, item, &cursor));)
            if ((quaternion || has_alternative(e)) && !read_orientation(m, e, X, &found)) return false;
    }
    return true;
}

bool api_mjcf_read_pose(api_mjcf *m, const api_mjcf_item *item, dyn_pose *X, double *half_length)
{
    *half_length = 0;
    if (api_mjcf_has(m, item, "fromto")) return read_ends(m, item, X, half_length);
    return read_item_orientation(m, item, X) && api_mjcf_numbers(m, item, "pos", X->p, 3);
}
