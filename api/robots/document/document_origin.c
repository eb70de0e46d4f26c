/* document_origin.c - read "origin" of a joint: xyz and rpy, standard or modified Denavit-Hartenberg parameters, or
 * a matrix.
 *
 * The joint motion lies between two constant poses: parent link frame * before * motion(axis, q) * after = link
 * frame. Standard DH: Denavit & Hartenberg (1955); modified DH: Khalil & Kleinfinger (1986). */
#include "document.h"
#include <math.h>

/* Standard DH: R_z(theta + q) T_z(d) T_x(a) R_x(alpha), or with d + q for a prismatic joint. The joint axis is z of
 * the parent's frame j-1, so the constant part d, a, alpha comes after the motion. */
static bool read_dh(const api_entry *origin, dyn_link *link)
{
    static const char *const fields[] = {"theta", "d", "a", "alpha", NULL};
    double                   theta = 0, d = 0, a = 0, alpha = 0;
    api_entry                dh;
    if (!api_entry_open(&dh, origin, "dh", fields) || !api_entry_angle(&dh, "theta", &theta) ||
        !api_entry_number(&dh, "d", API_OPTIONAL, &d) || !api_entry_number(&dh, "a", API_OPTIONAL, &a) ||
        !api_entry_angle(&dh, "alpha", &alpha))
        return false;
    api_entry_close(&dh, true);

    dyn_pose shift = dyn_pose_translation(a, 0, d), twist = dyn_pose_rotation(DYN_X, alpha);
    link->before                 = dyn_pose_rotation(DYN_Z, theta);
    link->after                  = dyn_pose_compose(&shift, &twist);
    link->moment_at_parent_frame = true;
    return true;
}

/* Modified DH: R_z(gamma) T_z(b) R_x(alpha) T_x(d) R_z(theta + q) T_z(r), or with r + q for a prismatic joint. */
bool api_document_read_modified_dh(const api_entry *owner, dyn_pose *X)
{
    static const char *const fields[] = {"gamma", "b", "alpha", "d", "theta", "r", NULL};
    double                   v[6]     = {0};
    api_entry                dh;
    if (!api_entry_open(&dh, owner, "modified_dh", fields)) return false;
    for (int i = 0; i < 6; i++) {
        bool turns = i % 2 == 0;
        if (!(turns ? api_entry_angle(&dh, fields[i], &v[i]) : api_entry_number(&dh, fields[i], API_OPTIONAL, &v[i])))
            return false;
    }
    api_entry_close(&dh, true);

    dyn_pose part[] = {dyn_pose_rotation(DYN_Z, v[0]), dyn_pose_translation(0, 0, v[1]),
                       dyn_pose_rotation(DYN_X, v[2]), dyn_pose_translation(v[3], 0, 0),
                       dyn_pose_rotation(DYN_Z, v[4]), dyn_pose_translation(0, 0, v[5])};
    *X              = part[0];
    for (int i = 1; i < 6; i++)
        *X = dyn_pose_compose(X, &part[i]);
    return true;
}

bool api_document_check_transform(const api_entry *place, const double *T, dyn_pose *X)
{
    static const double last[4] = {0, 0, 0, 1};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++)
            X->R[i][j] = T[4 * i + j];
        X->p[i] = T[4 * i + 3];
    }
    for (int j = 0; j < 4; j++)
        if (T[12 + j] != last[j])
            return api_entry_fail(place, NULL, API_BAD_ROTATION, "the last row of a rigid transform is [0,0,0,1]");
    double error = dyn_rotation_error((const double(*)[3])X->R);
    if (isinf(error))
        return api_entry_fail(
            place, NULL, API_BAD_ROTATION,
            "the upper left 3x3 block is not a right-handed rotation: its determinant is not positive");
    if (error > 1e-6)
        return api_entry_fail(
            place, NULL, API_BAD_ROTATION,
            "the upper left 3x3 block R is not a rotation: R^T R differs from 1 by %.2g, at most 1e-6 is accepted",
            error);
    if (error <= 1e-12) return true;
    dyn_rotation_orthonormalise(X->R);
    return api_entry_report(place, NULL, "info", "orthonormalised",
                            "R^T R differed from 1 by %.2g: the nearest rotation is used", error);
}

static bool read_matrix(const api_entry *origin, dyn_link *link)
{
    static const size_t shape[2] = {4, 4};
    double              T[16];
    api_entry           place = api_entry_location(origin, "matrix", API_NO_INDEX);
    return api_entry_numbers(origin, "matrix", API_REQUIRED, T, 2, shape) &&
           api_document_check_transform(&place, T, &link->before);
}

static bool read_xyz_rpy(const api_entry *origin, dyn_link *link)
{
    double xyz[3] = {0}, rpy[3] = {0};
    if (!api_entry_vector(origin, "xyz", API_OPTIONAL, xyz, 3) || !api_entry_rpy(origin, rpy)) return false;
    link->before = dyn_pose_rpy(xyz, rpy);
    return true;
}

bool api_document_read_origin(const api_entry *joint_node, dyn_link *link, bool *dh)
{
    static const char *const fields[] = {"xyz", "rpy", "dh", "modified_dh", "matrix", NULL};
    api_entry                origin;
    *dh = false;
    if (!api_entry_has(joint_node, "origin")) return true;
    if (!api_entry_open(&origin, joint_node, "origin", fields)) return false;

    bool standard = api_entry_has(&origin, "dh"), modified = api_entry_has(&origin, "modified_dh");
    bool matrix = api_entry_has(&origin, "matrix");
    bool plain  = api_entry_has(&origin, "xyz") || api_entry_has(&origin, "rpy");
    if (standard + modified + matrix + plain > 1)
        return api_entry_fail(&origin, NULL, API_BAD_VALUE,
                              "an origin has one form: xyz and rpy, or dh, or modified_dh, or matrix");
    *dh     = standard || modified;
    bool ok = standard   ? read_dh(&origin, link)
              : modified ? api_document_read_modified_dh(&origin, &link->before)
              : matrix   ? read_matrix(&origin, link)
                         : read_xyz_rpy(&origin, link);
    api_entry_close(&origin, false);
    return ok;
}
