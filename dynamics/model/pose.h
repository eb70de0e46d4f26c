/* pose.h - computes with poses in plain doubles, for building models; private to dynamics/model/. */
#pragma once
#include "model.h"

static inline void mat_mul(const double A[3][3], const double B[3][3], double C[3][3])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            C[i][j] = A[i][0] * B[0][j] + A[i][1] * B[1][j] + A[i][2] * B[2][j];
}
static inline void mat_vec(const double A[3][3], const double v[3], double out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = A[i][0] * v[0] + A[i][1] * v[1] + A[i][2] * v[2];
}
/* Returns X_ac = X_ab X_bc: the pose of frame c in a, from those of b in a and of c in b. */
static inline dyn_pose pose_mul(const dyn_pose *ab, const dyn_pose *bc)
{
    dyn_pose ac;
    mat_mul(ab->R, bc->R, ac.R);
    mat_vec(ab->R, bc->p, ac.p);
    for (int i = 0; i < 3; i++)
        ac.p[i] += ab->p[i];
    return ac;
}
static inline dyn_pose pose_identity(void)
{
    return (dyn_pose){.R = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
}
