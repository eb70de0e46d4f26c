/* shell.h - compute area and inertia of the surfaces of common solids: bodies of thin sheet whose mass is spread evenly
 * over the surface, as <geom shellinertia="true"> of MJCF has it. Sizes are those of inertia.h. */
#pragma once
#include "api/robots/document/inertia.h"

/* Area of the surface in m^2, bases of cylinders included. The area of an ellipsoid is Thomsen's approximation, within
 * 1.1 %, as in MuJoCo. */
double api_shell_area(api_solid solid, const double *size);

/* Inertia of a shell of mass `mass` (kg), in the frame in which X is the pose of the solid's axes and centre. The shell
 * of an ellipsoid lies between it and the one whose semi-axes are 1e-6 m longer, as in MuJoCo: it is thinner where the
 * ellipsoid is more curved. */
dyn_inertia api_shell_inertia(api_solid solid, const double *size, double mass, const dyn_pose *X);
