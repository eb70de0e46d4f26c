/* pose.c - composes and inverts poses (pose.h). */
#include "pose.h"

dyn_pose pose_compose(const dyn_pose *a, const dyn_pose *b)
{
    dyn_pose c = {.R = {{0}}};
    for (int i = 0; i < 3; i++) {
        c.p[i] = a->p[i];
        for (int j = 0; j < 3; j++) {
            c.p[i] += a->R[i][j] * b->p[j];
            for (int k = 0; k < 3; k++)
                c.R[i][j] += a->R[i][k] * b->R[k][j];
        }
    }
    return c;
}

dyn_pose pose_inverse(const dyn_pose *a)
{
    dyn_pose c;
    for (int i = 0; i < 3; i++) {
        c.p[i] = 0;
        for (int j = 0; j < 3; j++) {
            c.R[i][j] = a->R[j][i];
            c.p[i] -= a->R[j][i] * a->p[j];
        }
    }
    return c;
}
