/* book.h - computes rigid-body dynamics by the algorithms of Featherstone (2008), one body after another in doubles.
 *
 * Each algorithm has the steps and the symbols of its table in the book. X is the motion transform from the parent
 * lambda(i) to body i; its transpose takes a force from body i to the parent.
 *
 *     book_rnea  table 5.1, recursive Newton-Euler:  tau = ID(q, qd, qdd)
 *     book_crba  table 6.2, composite rigid bodies:  H(q), the book's name of M
 *     book_aba   table 7.1, articulated bodies:      qdd = FD(q, qd, tau)
 *
 * A tree is made of a description alone: bodies 1 to NB in the order of the links, body 0 is the world. A fixed joint
 * has no coordinate, a planar joint three, a helical joint one. The rotor of a motor is a body that spins about its
 * axis on the link of the motor; if the joint is rigid, the rotor shares the joint's coordinate, as a mimic does.
 * Friction that depends on the load is not included.
 *
 * 6-vectors here are [angular; linear]. Coordinates, units and efforts are those of dynamics.h. Ownership: book_make
 * allocates, book_free frees; the description must outlive the tree. */
#pragma once
#include "spatial.h"

typedef struct book_body {
    int            lambda; /* index of the parent, lambda(i) */
    dyn_joint_kind type;
    double         axis[3], pitch, ratio, offset; /* axis, pitch, ratio and offset of the joint, as in dyn_link */
    int            q, v, n;                       /* first entries in q and qd, number of velocities */
    double         rotor; /* rotor inertia, kg m^2 or kg, added to the inertia of the joint's last coordinate, or of all
                             coordinates of         a joint with a quaternion */
    double   share;       /* part of gravity that its compensation leaves */
    double   damping, stiffness; /* damper and spring of a joint with a quaternion */
    mat6     X_T, I;             /* joint frame in the parent's coordinates; inertia of the body */
    dyn_pose after;              /* pose of the link frame in the moved joint frame, which is the body's frame */

    mat6 X, X_0;         /* motion transforms to this body, from its parent and from body 0 */
    vec6 S[6], v_J, c_J; /* columns of S; S qd; S' qd, with S' the rate of S in the axes of the body */

    vec6   v_i, a, f; /* velocity, acceleration, force */
    mat6   I_c;       /* inertia of the composite body */
    vec6   c, p_A;    /* velocity-product acceleration, bias force */
    mat6   I_A;       /* inertia of the articulated body */
    vec6   U[6];      /* I_A S, and below D = S^T U, u = tau - S^T p_A */
    double D[6][6], u[6];
} book_body;

typedef struct book_tree {
    const dyn_description *description;
    int                    NB, nv;
    bool       shares_coordinates; /* true if a coordinate moves several joints or a transmission couples joints */
    int       *theta;              /* [n_links] entry in qd of the motor coordinate of an elastic joint */
    int       *q_theta;            /* [n_links] entry in q */
    book_body *body;               /* [NB + 1] */
} book_tree;

/* The surroundings. External forces are in the coordinates of body 0. */
typedef struct book_scene {
    const double *gravity; /* gravity a_g, m/s^2 */
    bool          friction, springs;
    const vec6   *fx; /* [NB + 1] external force on each body */
} book_scene;

/* Returns NULL if there is no memory. */
book_tree *book_make(const dyn_description *description);
void       book_free(book_tree *tree);

/* Returns the body of a link, or for DYN_WORLD that of the base: body 0 unless the base floats. */
int book_body_of(const book_tree *tree, int link);

/* Sets X, X_0, S, v_J, c_J of all bodies: the part of each algorithm that the book calls jcalc. qd may be NULL: zeros.
 */
void book_place(book_tree *tree, const double *q, const double *qd);

/* Adds the forces of friction, springs and elastic joints to tau. */
void book_joint_forces(const book_tree *tree, const book_scene *scene, const double *q, const double *qd, double *tau);

/* Computes tau (nv), and in `f` of each body the force through its joint. */
void book_rnea(book_tree *tree, const book_scene *scene, const double *q, const double *qd, const double *qdd,
               double *tau);
/* Computes H (nv x nv). */
void book_crba(book_tree *tree, const double *q, double *H);
/* Computes qdd (nv). The tree must not share coordinates. */
void book_aba(book_tree *tree, const book_scene *scene, const double *q, const double *qd, const double *tau,
              double *qdd);
