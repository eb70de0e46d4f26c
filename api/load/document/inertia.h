/* inertia.h - what a rigid body's inertia may be, and that of common solids. */
#pragma once
#include "dynamics/model/model.h"

/* NULL when `inertia` is accepted; else why it is refused: a negative mass, or an eigenvalue of the tensor
 * below -1e-9 times the largest. The text is written into `reason`. */
const char *api_inertia_refusal(const dyn_inertia *inertia, char reason[160]);

/* NULL when no real body contradicts it; else what is suspicious: principal moments that violate the triangle
 * inequality, or a tensor without a mass. Accepted all the same: published arms have such figures. */
const char *api_inertia_suspicion(const dyn_inertia *inertia, char reason[160]);

typedef enum api_solid {
    API_BOX,       /* size: edges x, y, z */
    API_CYLINDER,  /* size: radius, length along z */
    API_SPHERE,    /* size: radius */
    API_ELLIPSOID, /* size: semi-axes x, y, z */
    API_CAPSULE,   /* size: radius, length of the cylindrical part along z; a half ball closes each end */
    API_SOLIDS
} api_solid;

/* Name and number of sizes of each solid. */
typedef struct api_solid_form {
    const char *name;
    size_t      n_sizes;
    const char *sizes; /* in words */
} api_solid_form;
const api_solid_form *api_solid_form_of(api_solid solid);

double api_solid_volume(api_solid solid, const double *size); /* m^3 */

/* The homogeneous solid of that mass with its centre at the origin of X's frame, in the frame in which X gives
 * the pose of the solid's axes. Sizes may be 0: thin plates and rods. */
dyn_inertia api_solid_inertia(api_solid solid, const double *size, double mass, const dyn_pose *X);

/* Both bodies as one; in the same frame. */
void api_inertia_add(dyn_inertia *sum, const dyn_inertia *other);

/* T' = R T R^T for a symmetric tensor in the order xx xy xz yy yz zz. */
void api_tensor_rotate(const double R[3][3], const double T[6], double turned[6]);
