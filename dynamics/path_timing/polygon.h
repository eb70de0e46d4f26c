/* polygon.h - finds the polygon of the two unknowns y_0 and y_1 that a polytope with more unknowns allows (simplex.h):
 * the projection of the polytope on a plane.
 *
 * The polygon is expanded outwards from the vertices along four directions (Bretl & Lall 2008, algorithm 1). The
 * largest value along the normal of an edge between two known vertices is either that of the edge, which is then an
 * edge of the projection, or that of a further vertex between the two. */
#pragma once
#include "simplex.h"

enum { DYN_POLYGON_EDGES = 64 };

/* The half plane d.(y_0, y_1) <= r, |d| = 1. */
typedef struct dyn_polygon_edge {
    double d[2], r;
    size_t row; /* row of the polytope with the largest multiplier at this edge */
} dyn_polygon_edge;

/* The edges of the polygon. If the projection has more than DYN_POLYGON_EDGES edges, the polygon is inside it and has
 * some of its vertices. Edges that come from bounds of unknowns are left out. */
typedef struct dyn_polygon {
    size_t           n;
    dyn_polygon_edge edge[DYN_POLYGON_EDGES];
} dyn_polygon;

/* Finds the polygon of the polytope that s describes. After DYN_SIMPLEX_INFEASIBLE, dyn_simplex_multiplier gives the
 * multipliers of the rows that contradict each other. */
dyn_simplex_status dyn_polygon_find(dyn_simplex *s, dyn_polygon *polygon);
