/* mesh_hull.c - find the convex hull of the vertices of a mesh by Quickhull (Barber, Dobkin & Huhdanpaa 1996).
 *
 * Vertices are rounded to integers of at most 2^40, finer than the 32-bit floats of the largest coordinates, so that
 * the test on which side of a face a point lies is exact in 128 bits: no tolerance, and no hull that is not closed.
 * Libqhull, which MuJoCo calls, ends the process when an error meets another error, and allocates without a limit.
 *
 * Each face has a list of points outside it. The farthest one joins the hull: the faces that it sees are replaced by
 * faces between it and their horizon, and the points of their lists move to those. */
#include "mesh.h"
#include <math.h>
#include <string.h>

__extension__ typedef __int128 wide;

#define NONE      UINT32_MAX
#define MOST_WORK 300000000u /* tests of a point against a face: a few seconds */

enum { COORDINATE_BITS = 40 };

typedef struct hull_face {
    uint32_t corner[3];    /* counter-clockwise from outside */
    uint32_t neighbour[3]; /* face beyond the edge from corner k to corner k + 1 */
    uint32_t outside;      /* first point of the list of points outside the face; NONE: empty */
    uint32_t seen_by;      /* last point from which the face was seen */
    bool     used;
    wide     normal[3];
} hull_face;

typedef struct horizon_edge {
    uint32_t from, to, beyond; /* ends of the edge, and the face beyond it, which stays */
} horizon_edge;

typedef struct hull {
    const api_mesh *mesh;
    int64_t        *point;          /* [3 n] */
    uint32_t       *next;           /* [n] next point of the same list */
    uint32_t       *face_from;      /* [n] new face whose edge on the horizon begins at the point */
    hull_face      *face;           /* [capacity] */
    uint32_t       *seen, *pending; /* [capacity] faces that the point sees; faces to be looked at */
    horizon_edge   *horizon;        /* [capacity] */
    uint32_t       *spare;          /* [capacity] indices of faces that are free for reuse */
    size_t          capacity, n_spare, n_seen, n_pending, n_horizon, work;
} hull;

/* --- exact tests -------------------------------------------------------------------------------------------------- */

static void subtract_points(const hull *h, uint32_t a, uint32_t b, int64_t d[3])
{
    for (int i = 0; i < 3; i++)
        d[i] = h->point[3 * (size_t)a + (size_t)i] - h->point[3 * (size_t)b + (size_t)i];
}

static void cross_exactly(const int64_t u[3], const int64_t v[3], wide n[3])
{
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        n[i] = (wide)u[j] * v[k] - (wide)u[k] * v[j];
    }
}

/* Positive if the point lies outside the plane of the face, in proportion to its distance. */
static wide height(hull *h, const hull_face *face, uint32_t point)
{
    int64_t d[3];
    h->work++;
    subtract_points(h, point, face->corner[0], d);
    return face->normal[0] * d[0] + face->normal[1] * d[1] + face->normal[2] * d[2];
}

/* --- faces -------------------------------------------------------------------------------------------------------- */

static uint32_t add_face(hull *h, uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t   index = h->spare[--h->n_spare];
    hull_face *face  = &h->face[index];
    int64_t    u[3], v[3];
    *face = (hull_face){.corner = {a, b, c}, .outside = NONE, .seen_by = NONE, .used = true};
    subtract_points(h, b, a, u);
    subtract_points(h, c, a, v);
    cross_exactly(u, v, face->normal);
    return index;
}

static void push_outside(hull *h, hull_face *face, uint32_t point)
{
    h->next[point] = face->outside;
    face->outside  = point;
}

/* Moves the farthest point of the list to its front. */
static void raise_farthest(hull *h, hull_face *face)
{
    uint32_t best = face->outside, before_best = NONE;
    wide     most = height(h, face, best);
    for (uint32_t before = face->outside, p = h->next[before]; p != NONE; before = p, p = h->next[p]) {
        wide its = height(h, face, p);
        if (its <= most) continue;
        most        = its;
        best        = p;
        before_best = before;
    }
    if (before_best == NONE) return;
    h->next[before_best] = h->next[best];
    push_outside(h, face, best);
}

/* --- the first tetrahedron ---------------------------------------------------------------------------------------- */

/* Finds the point farthest from a point, a line or a plane, by doubles: the choice needs no exactness. */
static uint32_t farthest(const hull *h, const uint32_t *corner, int n)
{
    uint32_t best = 0;
    double   most = -1;
    int64_t  u[3] = {0}, v[3] = {0}, d[3];
    wide     normal[3] = {0}, turned[3];
    if (n > 1) subtract_points(h, corner[1], corner[0], u);
    if (n > 2) subtract_points(h, corner[2], corner[0], v);
    cross_exactly(u, v, normal);
    for (uint32_t p = 0; p < h->mesh->n_vertices; p++) {
        subtract_points(h, p, corner[0], d);
        cross_exactly(u, d, turned);
        double value = 0, along = 0;
        for (int i = 0; i < 3; i++) {
            double x = n == 1 ? (double)d[i] : (double)turned[i];
            value += x * x;
            along += (double)normal[i] * (double)d[i];
        }
        if (n == 3) value = fabs(along);
        if (value <= most) continue;
        most = value;
        best = p;
    }
    return best;
}

static void link_tetrahedron(hull *h, const uint32_t f[4])
{
    for (int a = 0; a < 4; a++)
        for (int k = 0; k < 3; k++)
            for (int b = 0; b < 4; b++)
                for (int l = 0; l < 3; l++)
                    if (h->face[f[a]].corner[k] == h->face[f[b]].corner[(l + 1) % 3] &&
                        h->face[f[a]].corner[(k + 1) % 3] == h->face[f[b]].corner[l])
                        h->face[f[a]].neighbour[k] = f[b];
}

/* False if all vertices lie in a plane. */
static bool begin_tetrahedron(hull *h)
{
    uint32_t c[4] = {0}, f[4];
    for (int n = 1; n < 4; n++)
        c[n] = farthest(h, c, n);
    f[0]       = add_face(h, c[0], c[1], c[2]);
    wide above = height(h, &h->face[f[0]], c[3]);
    if (above == 0) return false;
    if (above > 0) { /* turn the base so that the fourth corner is inside */
        h->face[f[0]].used     = false;
        h->spare[h->n_spare++] = f[0];
        uint32_t swapped       = c[1];
        c[1]                   = c[2];
        c[2]                   = swapped;
        f[0]                   = add_face(h, c[0], c[1], c[2]);
    }
    f[1] = add_face(h, c[0], c[3], c[1]);
    f[2] = add_face(h, c[1], c[3], c[2]);
    f[3] = add_face(h, c[2], c[3], c[0]);
    link_tetrahedron(h, f);
    for (uint32_t p = 0; p < h->mesh->n_vertices; p++)
        for (int k = 0; k < 4; k++)
            if (height(h, &h->face[f[k]], p) > 0) {
                push_outside(h, &h->face[f[k]], p);
                break;
            }
    return true;
}

/* --- one more point ----------------------------------------------------------------------------------------------- */

/* Collects the faces that the point sees, beginning with one of them, and the edges of their horizon. */
static void look(hull *h, uint32_t point, uint32_t first)
{
    h->n_seen = h->n_horizon = 0;
    h->n_pending             = 1;
    h->pending[0]            = first;
    h->face[first].seen_by   = point;
    while (h->n_pending > 0) {
        uint32_t   index     = h->pending[--h->n_pending];
        hull_face *face      = &h->face[index];
        h->seen[h->n_seen++] = index;
        for (int k = 0; k < 3; k++) {
            hull_face *other = &h->face[face->neighbour[k]];
            if (other->seen_by == point) continue;
            if (height(h, other, point) > 0) {
                other->seen_by             = point;
                h->pending[h->n_pending++] = face->neighbour[k];
            } else {
                h->horizon[h->n_horizon++] =
                    (horizon_edge){face->corner[k], face->corner[(k + 1) % 3], face->neighbour[k]};
            }
        }
    }
}

/* Removes the faces that the point sees, and joins their lists of points to one list without the point itself. */
static uint32_t remove_seen(hull *h, uint32_t point)
{
    uint32_t orphans = NONE;
    for (size_t i = 0; i < h->n_seen; i++) {
        hull_face *face = &h->face[h->seen[i]];
        for (uint32_t p = face->outside, next; p != NONE; p = next) {
            next = h->next[p];
            if (p == point) continue;
            h->next[p] = orphans;
            orphans    = p;
        }
        face->used             = false;
        h->spare[h->n_spare++] = h->seen[i];
    }
    return orphans;
}

/* Sets the new face as neighbour in the face beyond an edge of the horizon. */
static void join_beyond(hull *h, const horizon_edge *edge, uint32_t added)
{
    hull_face *beyond = &h->face[edge->beyond];
    for (int k = 0; k < 3; k++)
        if (beyond->corner[k] == edge->to && beyond->corner[(k + 1) % 3] == edge->from) beyond->neighbour[k] = added;
}

/* Adds the faces between the point and the horizon, and lists them in `seen`. */
static void add_cone(hull *h, uint32_t point)
{
    for (size_t i = 0; i < h->n_horizon; i++) {
        const horizon_edge *edge    = &h->horizon[i];
        uint32_t            added   = add_face(h, edge->from, edge->to, point);
        h->face[added].neighbour[0] = edge->beyond;
        h->face_from[edge->from]    = added;
        h->seen[i]                  = added;
        join_beyond(h, edge, added);
    }
    for (size_t i = 0; i < h->n_horizon; i++) {
        uint32_t after                   = h->face_from[h->horizon[i].to];
        h->face[h->seen[i]].neighbour[1] = after;
        h->face[after].neighbour[2]      = h->seen[i];
    }
}

/* Adds the farthest point outside a face to the hull. */
static void add_point(hull *h, hull_face *face, uint32_t index)
{
    raise_farthest(h, face);
    uint32_t point = face->outside;
    look(h, point, index);
    uint32_t orphans = remove_seen(h, point);
    add_cone(h, point);
    for (uint32_t p = orphans, next; p != NONE; p = next) {
        next = h->next[p];
        for (size_t i = 0; i < h->n_horizon; i++)
            if (height(h, &h->face[h->seen[i]], p) > 0) {
                push_outside(h, &h->face[h->seen[i]], p);
                break;
            }
    }
}

/* Adds points in sweeps over all faces until no face has one outside; false if this takes too long. */
static bool add_all_points(hull *h)
{
    for (bool grown = true; grown;) {
        grown = false;
        for (uint32_t i = 0; i < h->capacity; i++) {
            h->work++;
            while (h->face[i].used && h->face[i].outside != NONE && h->work <= MOST_WORK) {
                add_point(h, &h->face[i], i);
                grown = true;
            }
        }
        if (h->work > MOST_WORK) return false;
    }
    return true;
}

/* --- the whole ---------------------------------------------------------------------------------------------------- */

/* Rounds the vertices to integers. */
static void round_points(hull *h)
{
    double largest = 0;
    int    exponent;
    for (size_t i = 0; i < 3 * h->mesh->n_vertices; i++)
        largest = fmax(largest, fabs(h->mesh->vertex[i]));
    frexp(largest, &exponent);
    for (size_t i = 0; i < 3 * h->mesh->n_vertices; i++)
        h->point[i] = llrint(ldexp(h->mesh->vertex[i], COORDINATE_BITS - exponent));
}

static bool take_hull_arrays(hull *h, api_arena *arena)
{
    size_t n     = h->mesh->n_vertices;
    h->capacity  = 2 * n + 8; /* a hull of n points has at most 2 n - 4 faces */
    h->point     = api_arena_take(arena, 3 * n, sizeof *h->point);
    h->next      = api_arena_take(arena, n, sizeof *h->next);
    h->face_from = api_arena_take(arena, n, sizeof *h->face_from);
    h->face      = api_arena_take(arena, h->capacity, sizeof *h->face);
    h->seen      = api_arena_take(arena, h->capacity, sizeof *h->seen);
    h->pending   = api_arena_take(arena, h->capacity, sizeof *h->pending);
    h->horizon   = api_arena_take(arena, h->capacity, sizeof *h->horizon);
    h->spare     = api_arena_take(arena, h->capacity, sizeof *h->spare);
    if (!h->point || !h->next || !h->face_from || !h->face || !h->seen || !h->pending || !h->horizon || !h->spare)
        return false;
    for (size_t i = 0; i < h->capacity; i++)
        h->spare[h->n_spare++] = (uint32_t)(h->capacity - 1 - i);
    return true;
}

static void list_faces(const hull *h, api_mesh *to)
{
    to->n_faces = 0;
    for (size_t i = 0; i < h->capacity; i++)
        if (h->face[i].used) memcpy(to->face + 3 * to->n_faces++, h->face[i].corner, sizeof h->face[i].corner);
}

const char *api_mesh_hull(const api_mesh *mesh, api_arena *arena, api_mesh *out, char reason[API_MESH_REASON])
{
    hull h = {.mesh = mesh};
    if (mesh->n_vertices < 4) return api_mesh_fail(reason, "the mesh has %zu vertices, and needs 4", mesh->n_vertices);
    if (mesh->n_vertices > API_MESH_POINTS)
        return api_mesh_fail(reason, "the mesh has %zu vertices; a convex hull is found of at most %d",
                             mesh->n_vertices, API_MESH_POINTS);
    if (!take_hull_arrays(&h, arena)) return api_mesh_no_memory(reason);
    *out      = (api_mesh){.n_vertices = mesh->n_vertices, .vertex = mesh->vertex};
    out->face = api_arena_take(arena, 3 * h.capacity, sizeof *out->face);
    if (!out->face) return api_mesh_no_memory(reason);
    round_points(&h);
    if (!begin_tetrahedron(&h))
        return api_mesh_fail(reason, "all vertices of the mesh lie in one plane: it has no convex hull");
    if (!add_all_points(&h)) return api_mesh_fail(reason, "the convex hull of the mesh would take too long");
    list_faces(&h, out);
    return NULL;
}
