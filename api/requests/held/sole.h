/* sole.h - reads the sole of a foot, a convex polygon in which the centre of pressure must be. */
#pragma once
#include "api/requests/fields/fields.h"

enum { API_SOLE_CORNERS = 16 /* most corners of a sole */ };

typedef struct api_sole {
    size_t n;                           /* number of corners; 0: no sole */
    double corner[API_SOLE_CORNERS][3]; /* m, in the axes of the frame, counterclockwise about the normal */
} api_sole;

/* Reads an array of 3 to 16 corners of a convex polygon in a plane across the unit `normal`, in either order. False
 * with a problem. */
bool api_sole_read(const api_query *q, const api_node *value, const api_place *place, const double normal[3],
                   api_sole *sole);

/* Sets the coefficients w of force and torque about the frame's origin: w.(f, t) >= 0 if the centre of pressure is on
 * the inner side of edge i. With the edge e from corner p, m = n x e and the distance d = n.p of the plane,
 * w = (d m - (m.p) n, e). */
void api_sole_edge(const api_sole *sole, const double normal[3], size_t i, double w[API_FRAME_AXES]);
