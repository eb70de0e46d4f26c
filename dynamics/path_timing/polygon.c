/* polygon.c - finds the projection of a polytope on a plane by expansion (polygon.h): Bretl & Lall 2008, algorithm 1.
 */
#include "polygon.h"
#include <math.h>

#define MERGED   1e-9  /* distance within which two vertices are one */
#define EXPANDED 1e-10 /* distance of a vertex from an edge that counts as none */
#define BOUNDED  1e-9  /* multiplier of a bound that counts as none */

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

/* Adds the edge d.y <= r with the multipliers of the last direction, unless a bound is among its rows. */
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

/* Finds the vertices along the axes, whose half planes also hold where the polygon is a line or a point. */
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

/* Looks for a vertex beyond the edge that begins at vertex i: adds the vertex, or the edge. The projection of the
 * vertex is between the ends of the edge; rounding errors of vertices close to one another may move it. */
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
