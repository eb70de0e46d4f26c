/* polygon.c - finds the projection of a polytope on a plane by expansion (polygon.h): Bretl & Lall 2008, algorithm 1.
 */
#include "polygon.h"
#include <math.h>

#define MERGED   1e-9  /* relative distance up to which two vertices count as one */
#define EXPANDED 1e-10 /* relative distance up to which a vertex counts as on an edge */
#define BOUNDED  1e-9  /* multiplier up to which a bound of an unknown counts as inactive */

enum { AXES = 4, VERTICES = DYN_POLYGON_EDGES - AXES };

typedef struct vertex {
    double y[2];
    size_t next; /* the next vertex, counterclockwise */
    bool   done; /* true: the edge to the next vertex is final */
} vertex;

typedef struct expansion {
    dyn_simplex *s;
    size_t       n;
    vertex       vertex[VERTICES];
    dyn_polygon *polygon;
} expansion;

/* Adds the edge d.y <= r of the last maximised direction d, with the row of the largest multiplier. Adds nothing if a
 * bound of an unknown is active, since the edge then comes from that bound. */
static void add_edge(const expansion *x, const double d[2], double r)
{
    dyn_polygon_edge edge = {.d = {d[0], d[1]}, .r = r};
    double           most = 0;
    for (size_t c = 0; c < x->s->n; c++) {
        const size_t row        = x->s->zero[c];
        const double multiplier = -x->s->cost[c];
        if (row >= x->s->bounds && row < x->s->m && multiplier > BOUNDED) return;
        if (row < x->s->bounds && (multiplier > most || (multiplier == most && row < edge.row)))
            most = multiplier, edge.row = row;
    }
    if (most > 0) x->polygon->edge[x->polygon->n++] = edge;
}

/* Finds the vertices farthest along both axes in both directions, and adds their edges, which hold even if the polygon
 * is a line or a point. */
static dyn_simplex_status find_first_vertices(expansion *x)
{
    static const double direction[AXES][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
    for (size_t i = 0; i < AXES; i++) {
        vertex                  *v      = &x->vertex[i];
        const double            *d      = direction[i];
        const dyn_simplex_status status = dyn_simplex_maximise(x->s, d, v->y);
        if (status != DYN_SIMPLEX_DONE) return status;
        v->next = (i + 1) % AXES;
        v->done = false;
        add_edge(x, d, d[0] * v->y[0] + d[1] * v->y[1]);
    }
    x->n = AXES;
    return DYN_SIMPLEX_DONE;
}

/* Looks for a vertex beyond the edge from vertex i to the next one, and adds the vertex, or else the edge. The new
 * vertex must project between the ends of the edge; rounding errors may violate this if vertices are close to one
 * another. */
static dyn_simplex_status expand_edge(expansion *x, size_t i)
{
    vertex      *from     = &x->vertex[i];
    const double along[2] = {x->vertex[from->next].y[0] - from->y[0], x->vertex[from->next].y[1] - from->y[1]};
    const double length = hypot(along[0], along[1]), size = 1 + hypot(from->y[0], from->y[1]);
    const double d[2] = {along[1] / length, -along[0] / length};
    double       y[2];
    from->done = true;
    if (!(length > MERGED * size)) return DYN_SIMPLEX_DONE;
    const dyn_simplex_status status = dyn_simplex_maximise(x->s, d, y);
    if (status != DYN_SIMPLEX_DONE) return status;
    const double part = ((y[0] - from->y[0]) * along[0] + (y[1] - from->y[1]) * along[1]) / (length * length);
    const double here = d[0] * from->y[0] + d[1] * from->y[1], reached = d[0] * y[0] + d[1] * y[1];
    if (reached - here <= EXPANDED * size || !(part > 0 && part < 1) || x->n == VERTICES) {
        add_edge(x, d, x->n == VERTICES ? here : reached);
        return DYN_SIMPLEX_DONE;
    }
    from->done      = false;
    x->vertex[x->n] = (vertex){.y = {y[0], y[1]}, .next = from->next};
    from->next      = x->n++;
    return DYN_SIMPLEX_DONE;
}

dyn_simplex_status dyn_polygon_find(dyn_simplex *s, dyn_polygon *polygon)
{
    expansion          x      = {.s = s, .polygon = polygon};
    dyn_simplex_status status = dyn_simplex_begin(s);
    polygon->n                = 0;
    if (status == DYN_SIMPLEX_DONE) status = find_first_vertices(&x);
    for (size_t i = 0; status == DYN_SIMPLEX_DONE && i < x.n;) {
        if (x.vertex[i].done)
            i++;
        else
            status = expand_edge(&x, i);
    }
    return status;
}
