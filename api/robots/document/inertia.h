/* inertia.h - check the inertia of a rigid body, and compute the inertia of common solids. */
#pragma once
#include "dynamics/model/model.h"

/* Returns NULL if `inertia` is accepted; otherwise the reason, written into `reason`: a negative mass, or an
 * eigenvalue of the tensor below -1e-9 times the largest and -1e-12 m^2 times the mass, which is rounding. */
const char *api_inertia_refusal(const dyn_inertia *inertia, char reason[160]);

/* True if the inertia is refused for its tensor only. The sum with other bodies may be accepted. */
bool api_inertia_is_indefinite(const dyn_inertia *inertia);

/* Returns NULL if `inertia` is plausible; otherwise the suspicion, written into `reason`: principal moments that
 * violate the triangle inequality, or a tensor without mass. Such an inertia is accepted, since published robots
 * have it. */
const char *api_inertia_suspicion(const dyn_inertia *inertia, char reason[160]);

/* True for principal moments that are negative beyond rounding, and for those of no distribution of mass: one exceeds
 * the sum of the others by more than rounding. */
bool api_inertia_is_impossible(const dyn_inertia *inertia);

/* True if one principal moment is the sum of the others up to rounding. */
bool api_inertia_is_plate(const dyn_inertia *inertia);
/* Sets a principal moment that is negative by a rounding to zero, and the greatest to the sum of the others where it
 * exceeds that by a rounding: MuJoCo compares them without a tolerance, and refuses a rod or a plate whose moments were
 * rounded the wrong way. */
void api_inertia_round_moments(double I[3]);

/* Principal moments of a symmetric tensor (order xx xy xz yy yz zz), and as columns of a rotation their axes:
 * T = axes diag(moments) axes^T. */
void api_tensor_principal(const double T[6], double moments[3], double axes[3][3]);

typedef enum api_solid {
    API_BOX,       /* size: edges x, y, z */
    API_CYLINDER,  /* size: radius, length along z */
    API_SPHERE,    /* size: radius */
    API_ELLIPSOID, /* size: semi-axes x, y, z */
    API_CAPSULE,   /* size: radius, length of the cylindrical part along z; a half ball closes each end */
    API_SOLIDS
} api_solid;

/* Name of a solid, and the sizes that describe it. */
typedef struct api_solid_form {
    const char *name;
    size_t      n_sizes;
    const char *sizes; /* description of the sizes, for messages */
} api_solid_form;
const api_solid_form *api_solid_form_of(api_solid solid);

double api_solid_volume(api_solid solid, const double *size); /* volume, m^3; sizes in m */

/* Inertia of a homogeneous solid of mass `mass` (kg), in the frame in which X is the pose of the solid's axes and
 * centre. Sizes may be 0: thin plates and rods. */
dyn_inertia api_solid_inertia(api_solid solid, const double *size, double mass, const dyn_pose *X);

/* Inertia of a body with the principal moments I (kg m^2) about its centre of mass: X is the pose of the principal axes
 * and that centre. */
dyn_inertia api_principal_inertia(double mass, const double I[3], const dyn_pose *X);

/* Adds the inertia `other` to `sum`; both are in the same frame. */
void api_inertia_add(dyn_inertia *sum, const dyn_inertia *other);

/* turned = R T R^T for a symmetric tensor in the order xx xy xz yy yz zz. */
void api_tensor_rotate(const double R[3][3], const double T[6], double turned[6]);
