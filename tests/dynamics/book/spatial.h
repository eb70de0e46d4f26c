/* spatial.h - adds, multiplies and transforms spatial vectors, [angular; linear] as in Featherstone (2008), ch. 2. */
#pragma once
#include "dynamics/model/model.h"

typedef struct vec6 {
    double e[6];
} vec6;

typedef struct mat6 {
    double e[6][6];
} mat6;

static inline vec6 add6(vec6 a, vec6 b)
{
    for (int i = 0; i < 6; i++)
        a.e[i] += b.e[i];
    return a;
}

static inline vec6 scale6(double k, vec6 a)
{
    for (int i = 0; i < 6; i++)
        a.e[i] *= k;
    return a;
}

static inline double dot6(vec6 a, vec6 b)
{
    double sum = 0;
    for (int i = 0; i < 6; i++)
        sum += a.e[i] * b.e[i];
    return sum;
}

/* Returns A x. */
static inline vec6 mul6(const mat6 *A, vec6 x)
{
    vec6 y = {{0}};
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            y.e[i] += A->e[i][j] * x.e[j];
    return y;
}

/* Returns A^T x. */
static inline vec6 mul6_transposed(const mat6 *A, vec6 x)
{
    vec6 y = {{0}};
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            y.e[j] += A->e[i][j] * x.e[i];
    return y;
}

/* Returns A B. */
static inline mat6 product6(const mat6 *A, const mat6 *B)
{
    mat6 C = {{{0}}};
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            for (int k = 0; k < 6; k++)
                C.e[i][j] += A->e[i][k] * B->e[k][j];
    return C;
}

/* Adds X^T I X to A: the inertia I in the coordinates of a child, turned into those of its parent. */
static inline void add_congruent6(mat6 *A, const mat6 *X, const mat6 *I)
{
    const mat6 IX = product6(I, X);
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            for (int k = 0; k < 6; k++)
                A->e[i][j] += X->e[k][i] * IX.e[k][j];
}

/* Sets `out` to [xx], the matrix with [xx] y = x x y. */
static inline void skew3(const double x[3], double out[3][3])
{
    const double value[3][3] = {{0, -x[2], x[1]}, {x[2], 0, -x[0]}, {-x[1], x[0], 0}};
    for (int i = 0; i < 9; i++)
        out[i / 3][i % 3] = value[i / 3][i % 3];
}

/* Returns v x m for two motion vectors (eq. 2.31). */
static inline vec6 cross_motion(vec6 v, vec6 m)
{
    double w[3][3], o[3][3];
    vec6   out = {{0}};
    skew3(v.e, w), skew3(v.e + 3, o);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            out.e[i] += w[i][j] * m.e[j];
            out.e[3 + i] += o[i][j] * m.e[j] + w[i][j] * m.e[3 + j];
        }
    return out;
}

/* Returns v x* f for a motion and a force vector (eq. 2.32). */
static inline vec6 cross_force(vec6 v, vec6 f)
{
    double w[3][3], o[3][3];
    vec6   out = {{0}};
    skew3(v.e, w), skew3(v.e + 3, o);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            out.e[i] += w[i][j] * f.e[j] + o[i][j] * f.e[3 + j];
            out.e[3 + i] += w[i][j] * f.e[3 + j];
        }
    return out;
}

/* Returns X_BA = [E 0; -E rx E] for a frame B with the pose R = E^T, p = r in frame A (eq. 2.24). Its transpose takes a
 * force from B to A. */
static inline mat6 transform6(const dyn_pose *X_ab)
{
    double r[3][3];
    mat6   X = {{{0}}};
    skew3(X_ab->p, r);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            X.e[i][j] = X.e[3 + i][3 + j] = X_ab->R[j][i];
            for (int k = 0; k < 3; k++)
                X.e[3 + i][j] -= X_ab->R[k][i] * r[k][j];
        }
    return X;
}
