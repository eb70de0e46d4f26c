/* algorithms.c - the recursive Newton-Euler, composite-rigid-body and articulated-body algorithms (book.h). */
#include "book.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The first coordinate of a joint to which the rotor inertia belongs: its last one, or all with a quaternion. */
static int first_with_rotor(const book_body *b)
{
    return dyn_joint_has_quaternion(b->type) || b->n == 0 ? 0 : b->n - 1;
}

/* Returns S x, with the columns S of the joint and its entries of x. */
static vec6 joint_rate(const book_body *b, const double *x)
{
    vec6 sum = {{0}};
    for (int k = 0; k < b->n; k++)
        sum = add6(sum, scale6(x[b->v + k], b->S[k]));
    return sum;
}

/* Returns -a_g, the acceleration of body 0. */
static vec6 base_acceleration(const book_scene *scene)
{
    return (vec6){{0, 0, 0, -scene->gravity[0], -scene->gravity[1], -scene->gravity[2]}};
}

/* Returns v x* I v - X_0* fx, where the force transform X_0* is the inverse of X_0^T (eq. 2.25). */
static vec6 velocity_force(const book_body *b, const vec6 *fx)
{
    vec6 force = cross_force(b->v_i, mul6(&b->I, b->v_i));
    for (int i = 0; fx && i < 3; i++)
        for (int k = 0; k < 3; k++) {
            force.e[3 + i] -= b->X_0.e[i][k] * fx->e[3 + k];
            force.e[i] -= b->X_0.e[i][k] * fx->e[k] + b->X_0.e[3 + i][k] * fx->e[3 + k];
        }
    return force;
}

/* Returns I X_0 (1 - share) a_g, minus the force that compensates the weight. */
static vec6 compensated_weight(const book_body *b, const book_scene *scene)
{
    return scale6(-(1 - b->share), mul6(&b->I, mul6(&b->X_0, base_acceleration(scene))));
}

/* Adds the motors of coupled transmissions: w J (w . qdd) to tau, or J w w^T to H; NULL: not wanted. */
static void add_drives(const book_tree *tree, const double *qdd, double *tau, double *H)
{
    for (size_t k = 0; k < tree->description->n_drives; k++) {
        const dyn_drive *d = &tree->description->drives[k];
        for (size_t i = 0; i < d->n; i++)
            for (size_t j = 0; j < d->n; j++) {
                const int    row    = tree->body[book_body_of(tree, d->joint[i])].v;
                const int    column = tree->body[book_body_of(tree, d->joint[j])].v;
                const double J      = d->rotor_inertia * d->weight[i] * d->weight[j];
                if (tau) tau[row] += J * qdd[column];
                if (H) H[row * tree->nv + column] += J;
            }
    }
}

void book_rnea(book_tree *tree, const book_scene *scene, const double *q, const double *qd, const double *qdd,
               double *tau)
{
    book_body *body = tree->body;
    book_place(tree, q, qd);
    body[0].v_i = (vec6){{0}};
    body[0].a   = base_acceleration(scene);
    body[0].f   = (vec6){{0}};
    for (int i = 1; i <= tree->NB; i++) {
        book_body       *b = &body[i];
        const book_body *p = &body[b->lambda];
        /* v_i = X v_p + S qd,   a_i = X a_p + S qdd + c_J + v_i x v_J */
        b->v_i = add6(mul6(&b->X, p->v_i), b->v_J);
        b->a   = add6(mul6(&b->X, p->a), joint_rate(b, qdd));
        b->a   = add6(b->a, add6(b->c_J, cross_motion(b->v_i, b->v_J)));
        /* f_i = I a + v x* I v - X_0* fx */
        b->f = add6(mul6(&b->I, b->a), velocity_force(b, &scene->fx[i]));
        b->f = add6(b->f, compensated_weight(b, scene));
    }
    memset(tau, 0, (size_t)tree->nv * sizeof *tau);
    for (int i = tree->NB; i >= 1; i--) {
        book_body *b = &body[i], *p = &body[b->lambda];
        /* tau_i = S^T f_i,   f_p += X^T f_i */
        for (int k = 0; k < b->n; k++)
            tau[b->v + k] += dot6(b->S[k], b->f);
        for (int k = first_with_rotor(b); k < b->n; k++)
            tau[b->v + k] += b->rotor * qdd[b->v + k];
        p->f = add6(p->f, mul6_transposed(&b->X, b->f));
    }
    add_drives(tree, qdd, tau, NULL);
    book_joint_forces(tree, scene, q, qd, tau);
}

/* Adds H_ij = F^T S_j and its transpose. Both parts are on the diagonal if bodies i and j share a coordinate. */
static void add_block(const book_tree *tree, const book_body *i, const book_body *j, const vec6 *F, double *H)
{
    for (int k = 0; k < i->n; k++)
        for (int l = 0; l < j->n; l++) {
            const int a = i->v + k, b = j->v + l;
            H[a * tree->nv + b] += dot6(F[k], j->S[l]);
            if (i != j) H[b * tree->nv + a] += dot6(F[k], j->S[l]);
        }
}

void book_crba(book_tree *tree, const double *q, double *H)
{
    book_body *body = tree->body;
    book_place(tree, q, NULL);
    memset(H, 0, (size_t)tree->nv * (size_t)tree->nv * sizeof *H);
    for (int i = 0; i <= tree->NB; i++)
        body[i].I_c = body[i].I;
    for (int i = tree->NB; i >= 1; i--) {
        const book_body *b = &body[i];
        vec6             F[6];
        /* I_c of the parent lambda(i) += X^T I_c X */
        add_congruent6(&body[b->lambda].I_c, &b->X, &b->I_c);
        /* F = I_c S,   H_ii = S^T F */
        for (int k = 0; k < b->n; k++)
            F[k] = mul6(&b->I_c, b->S[k]);
        add_block(tree, b, b, F, H);
        for (int k = first_with_rotor(b); k < b->n; k++)
            H[(b->v + k) * (tree->nv + 1)] += b->rotor;
        /* to the base: F = X_j^T F,   H_ij = F^T S_j,   H_ji = H_ij^T */
        for (int j = i; body[j].lambda != 0; j = body[j].lambda) {
            for (int k = 0; k < b->n; k++)
                F[k] = mul6_transposed(&body[j].X, F[k]);
            add_block(tree, b, &body[body[j].lambda], F, H);
        }
    }
    add_drives(tree, NULL, NULL, H);
}

/* Solves D x = y for a positive definite D (n x n), by Cholesky's factorization. */
static void solve(int n, const double D[6][6], const double y[6], double x[6])
{
    double L[6][6];
    for (int i = 0; i < n; i++) {
        x[i] = y[i];
        for (int j = 0; j <= i; j++) {
            L[i][j] = D[i][j];
            for (int k = 0; k < j; k++)
                L[i][j] -= L[i][k] * L[j][k];
            L[i][j] = i == j ? sqrt(L[i][i]) : L[i][j] / L[j][j];
        }
        for (int k = 0; k < i; k++)
            x[i] -= L[i][k] * x[k];
        x[i] /= L[i][i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++)
            x[i] -= L[k][i] * x[k];
        x[i] /= L[i][i];
    }
}

/* I^a = I_A - U D^-1 U^T and p^a = p_A + I^a c + U D^-1 u, added to the parent's I_A and p_A. */
static void add_to_parent(const book_body *b, book_body *p)
{
    mat6   I_a = b->I_A;
    vec6   p_a = b->p_A;
    double y[6], x[6];
    for (int j = 0; j < 6; j++) { /* column j of I^a */
        for (int k = 0; k < b->n; k++)
            y[k] = b->U[k].e[j];
        solve(b->n, b->D, y, x);
        for (int i = 0; i < 6; i++)
            for (int k = 0; k < b->n; k++)
                I_a.e[i][j] -= b->U[k].e[i] * x[k];
    }
    solve(b->n, b->D, b->u, x);
    for (int k = 0; k < b->n; k++)
        p_a = add6(p_a, scale6(x[k], b->U[k]));
    p_a = add6(p_a, mul6(&I_a, b->c));
    add_congruent6(&p->I_A, &b->X, &I_a);
    p->p_A = add6(p->p_A, mul6_transposed(&b->X, p_a));
}

/* The first pass of table 7.1: velocities and bias forces. */
static void velocities_and_bias_forces(book_tree *tree, const book_scene *scene)
{
    tree->body[0].v_i = (vec6){{0}};
    for (int i = 1; i <= tree->NB; i++) {
        book_body *b = &tree->body[i];
        b->v_i       = add6(mul6(&b->X, tree->body[b->lambda].v_i), b->v_J);
        b->c         = add6(b->c_J, cross_motion(b->v_i, b->v_J));
        b->I_A       = b->I;
        b->p_A       = add6(velocity_force(b, &scene->fx[i]), compensated_weight(b, scene));
    }
}

void book_aba(book_tree *tree, const book_scene *scene, const double *q, const double *qd, const double *tau,
              double *qdd)
{
    book_body *body = tree->body;
    book_place(tree, q, qd);
    velocities_and_bias_forces(tree, scene);
    memset(qdd, 0, (size_t)tree->nv * sizeof *qdd);
    book_joint_forces(tree, scene, q, qd, qdd); /* until the last pass, qdd contains the joint forces */
    for (int i = tree->NB; i >= 1; i--) {
        book_body *b = &body[i];
        /* U = I_A S,   D = S^T U + rotor,   u = tau - S^T p_A */
        for (int k = 0; k < b->n; k++)
            b->U[k] = mul6(&b->I_A, b->S[k]);
        for (int k = 0; k < b->n; k++) {
            for (int l = 0; l < b->n; l++)
                b->D[k][l] = dot6(b->S[k], b->U[l]);
            b->u[k] = tau[b->v + k] - qdd[b->v + k] - dot6(b->S[k], b->p_A);
        }
        for (int k = first_with_rotor(b); k < b->n; k++)
            b->D[k][k] += b->rotor;
        add_to_parent(b, &body[b->lambda]);
    }
    body[0].a = base_acceleration(scene);
    for (int i = 1; i <= tree->NB; i++) {
        book_body *b = &body[i];
        double     y[6];
        /* a' = X a_p + c,   qdd = D^-1 (u - U^T a'),   a = a' + S qdd */
        b->a = add6(mul6(&b->X, body[b->lambda].a), b->c);
        for (int k = 0; k < b->n; k++)
            y[k] = b->u[k] - dot6(b->U[k], b->a);
        solve(b->n, b->D, y, qdd + b->v);
        b->a = add6(b->a, joint_rate(b, qdd));
    }
}
