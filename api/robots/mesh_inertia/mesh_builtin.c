/* mesh_builtin.c - see mesh_builtin.h. Vertices lie in rings or grids; faces join neighbours. The superquadrics are
 * those of Barr 1981. */
#include "mesh_builtin.h"
#include <math.h>
#include <string.h>

enum { MOST_RESOLUTION = 200 }; /* gives a supertorus of 80 000 faces */

const char *const api_builtin_mesh_names[API_BUILTIN_MESHES + 1] = {"hemisphere", "sphere", "supersphere", "supertorus",
                                                                    "wedge",      "plate",  "cone",        NULL};
const size_t      api_builtin_mesh_parameters[API_BUILTIN_MESHES] = {1, 1, 3, 4, 5, 2, 2};

/* A mesh that is being made: the next vertex and the next face. */
typedef struct maker {
    api_mesh *mesh;
    size_t    v, f;
} maker;

static uint32_t put_vertex(maker *m, double x, double y, double z)
{
    double *v = m->mesh->vertex + 3 * m->v;
    v[0]      = api_mesh_round(x);
    v[1]      = api_mesh_round(y);
    v[2]      = api_mesh_round(z);
    return (uint32_t)m->v++;
}

static void put_face(maker *m, size_t a, size_t b, size_t c)
{
    memcpy(m->mesh->face + 3 * m->f++, (uint32_t[3]){(uint32_t)a, (uint32_t)b, (uint32_t)c}, 3 * sizeof(uint32_t));
}

/* --- hemisphere --------------------------------------------------------------------------------------------------- */

/* Appends row `row` of the hemisphere: 4 (row + 1) vertices of an octahedron, projected to the sphere. */
static void put_row_of_hemisphere(maker *m, int row, int n_rows)
{
    static const double equator[5][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}, {1, 0}};
    double              part = (row + 1.0) / n_rows, z = 1 - part;
    for (int side = 0; side < 4; side++)
        for (int i = 0; i <= row; i++) {
            double step = (double)i / (row + 1);
            double x    = part * (equator[side][0] + step * (equator[side + 1][0] - equator[side][0]));
            double y    = part * (equator[side][1] + step * (equator[side + 1][1] - equator[side][1]));
            double size = sqrt(x * x + y * y + z * z);
            put_vertex(m, x / size, y / size, z / size);
        }
}

/* Appends the faces between row `row` and the next one. */
static void join_rows(maker *m, size_t row)
{
    size_t start = 2 * row * (row + 1) + 1, count = 4 * (row + 1), next = start + count, more = 4 * (row + 2);
    for (size_t side = 0; side < 4; side++)
        for (size_t i = 0; i < row + 2; i++) {
            size_t here = i + (row + 1) * side, below = i + (row + 2) * side;
            put_face(m, start + here % count, next + below % more, next + (below + 1) % more);
            if (i <= row) put_face(m, start + here % count, next + (below + 1) % more, start + (here + 1) % count);
        }
}

static const char *make_hemisphere(maker *m, api_arena *arena, const double *p, char reason[API_MESH_REASON])
{
    if (!(p[0] >= 0 && p[0] < 11)) return api_mesh_fail(reason, "the resolution of a hemisphere is 0 to 10");
    size_t      n_rows = (size_t)p[0] + 1, bottom = 4 * n_rows;
    const char *failed =
        api_mesh_take(m->mesh, arena, 2 + 2 * n_rows * (n_rows + 1), 4 * n_rows * n_rows + bottom, reason);
    if (failed) return failed;
    put_vertex(m, 0, 0, 1);
    for (size_t row = 0; row < n_rows; row++)
        put_row_of_hemisphere(m, (int)row, (int)n_rows);
    size_t centre = put_vertex(m, 0, 0, 0), start = 2 * n_rows * (n_rows - 1) + 1;
    for (size_t i = 0; i < 4; i++)
        put_face(m, 0, 1 + i, 1 + (i + 1) % 4);
    for (size_t row = 0; row + 1 < n_rows; row++)
        join_rows(m, row);
    for (size_t i = 0; i < bottom; i++)
        put_face(m, start + i, centre, start + (i + 1) % bottom);
    return NULL;
}

/* --- sphere ------------------------------------------------------------------------------------------------------- */

static void put_icosahedron(maker *m)
{
    static const uint8_t corner[20][3] = {{0, 11, 5}, {0, 5, 1},  {0, 1, 7},   {0, 7, 10}, {0, 10, 11},
                                          {1, 5, 9},  {5, 11, 4}, {11, 10, 2}, {10, 7, 6}, {7, 1, 8},
                                          {3, 9, 4},  {3, 4, 2},  {3, 2, 6},   {3, 6, 8},  {3, 8, 9},
                                          {4, 9, 5},  {2, 4, 11}, {6, 2, 10},  {8, 6, 7},  {9, 8, 1}};
    const float          ratio         = (float)((1 + sqrt(5)) / 2); /* MuJoCo computes in floats here */
    const double         size          = sqrt(1 + (double)(ratio * ratio));
    const double         one = 1 / size, phi = (double)ratio / size;
    for (int turn = 0; turn < 3; turn++)
        for (int k = 0; k < 4; k++) {
            double a = k % 2 ? one : -one, b = k < 2 ? phi : -phi, v[3];
            v[turn]           = a;
            v[(turn + 1) % 3] = b;
            v[(turn + 2) % 3] = 0;
            put_vertex(m, v[0], v[1], v[2]);
        }
    for (int f = 0; f < 20; f++)
        put_face(m, corner[f][0], corner[f][1], corner[f][2]);
}

/* Returns the vertex in the middle of an edge: the one that the other face at the edge has made, or a new one. `middle`
 * has six entries for each vertex, since it has at most six edges: pairs of the other end and the middle. */
static uint32_t middle_of(maker *m, uint32_t (*middle)[2], uint32_t a, uint32_t b)
{
    uint32_t low = a < b ? a : b, high = a < b ? b : a;
    int      k = 0;
    while (middle[6 * (size_t)low + (size_t)k][1] != 0 && middle[6 * (size_t)low + (size_t)k][0] != high)
        k++;
    uint32_t *entry = middle[6 * (size_t)low + (size_t)k];
    if (entry[1] != 0) return entry[1];
    const double *u = m->mesh->vertex + 3 * (size_t)a, *v = m->mesh->vertex + 3 * (size_t)b;
    float         w[3];
    for (int i = 0; i < 3; i++)
        w[i] = ((float)u[i] + (float)v[i]) / 2;
    float size = sqrtf(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
    entry[0]   = high;
    entry[1]   = put_vertex(m, (double)(w[0] / size), (double)(w[1] / size), (double)(w[2] / size));
    return entry[1];
}

/* Replaces each face by four. The old faces move to the end of the array before they are read. */
static void subdivide(maker *m, uint32_t (*middle)[2])
{
    size_t    n   = m->f;
    uint32_t *old = m->mesh->face + 3 * (m->mesh->n_faces - n);
    memmove(old, m->mesh->face, 3 * n * sizeof *old);
    m->f = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t c[3], mid[3];
        memcpy(c, old + 3 * i, sizeof c);
        for (int k = 0; k < 3; k++)
            mid[k] = middle_of(m, middle, c[k], c[(k + 1) % 3]);
        for (int k = 0; k < 3; k++)
            put_face(m, c[k], mid[k], mid[(k + 2) % 3]);
        put_face(m, mid[0], mid[1], mid[2]);
    }
}

static const char *make_sphere(maker *m, api_arena *arena, const double *p, char reason[API_MESH_REASON])
{
    if (!(p[0] >= 0 && p[0] < 5)) return api_mesh_fail(reason, "a sphere has 0 to 4 subdivisions");
    size_t      n      = (size_t)1 << 2 * (int)p[0];
    const char *failed = api_mesh_take(m->mesh, arena, 10 * n + 2, 20 * n, reason);
    if (failed) return failed;
    size_t room          = 6 * m->mesh->n_vertices;
    uint32_t(*middle)[2] = api_arena_take(arena, room, sizeof *middle);
    if (!middle) return api_mesh_no_memory(reason);
    put_icosahedron(m);
    for (int k = 0; k < (int)p[0]; k++) {
        memset(middle, 0, room * sizeof *middle);
        subdivide(m, middle);
    }
    return NULL;
}

/* --- superquadrics ------------------------------------------------------------------------------------------------ */

static double power_of(double x, double exponent)
{
    return copysign(pow(fabs(x), exponent), x);
}

/* Checks a resolution, at least `least`. */
static const char *check_resolution(double value, size_t least, size_t *n, char reason[API_MESH_REASON])
{
    if (!(value >= (double)least && value <= MOST_RESOLUTION))
        return api_mesh_fail(reason, "a resolution of a built-in mesh is %zu to %d", least, MOST_RESOLUTION);
    *n = (size_t)value;
    return NULL;
}

static const char *make_supersphere(maker *m, api_arena *arena, const double *p, char reason[API_MESH_REASON])
{
    size_t      n      = 0;
    const char *failed = check_resolution(p[0], 3, &n, reason);
    if (!failed && !(p[1] >= 0 && p[2] >= 0))
        failed = api_mesh_fail(reason, "exponents of a supersphere are not negative");
    if (!failed) failed = api_mesh_take(m->mesh, arena, (n - 1) * n + 2, 2 * n * (n - 1), reason);
    if (failed) return failed;
    put_vertex(m, 0, 0, -1);
    for (size_t i = 1; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double v = -M_PI / 2 + (double)i * M_PI / (double)n, u = -M_PI + (double)j * 2 * M_PI / (double)n;
            put_vertex(m, power_of(cos(v), p[2]) * power_of(cos(u), p[1]),
                       power_of(cos(v), p[2]) * power_of(sin(u), p[1]), power_of(sin(v), p[2]));
        }
    size_t pole = put_vertex(m, 0, 0, 1), last = 1 + (n - 2) * n;
    for (size_t j = 0; j < n; j++)
        put_face(m, 0, 1 + (j + 1) % n, 1 + j);
    for (size_t i = 0; i + 2 < n; i++)
        for (size_t j = 0; j < n; j++) {
            size_t a = 1 + i * n + j, b = 1 + i * n + (j + 1) % n;
            put_face(m, a, b, a + n);
            put_face(m, b, b + n, a + n);
        }
    for (size_t j = 0; j < n; j++)
        put_face(m, last + j, last + (j + 1) % n, pole);
    return NULL;
}

static const char *make_supertorus(maker *m, api_arena *arena, const double *p, char reason[API_MESH_REASON])
{
    size_t      n      = 0;
    const char *failed = check_resolution(p[0], 3, &n, reason);
    if (!failed && !(p[1] > 0 && p[1] <= 1))
        failed = api_mesh_fail(reason, "the radius of a supertorus is above 0, up to 1");
    if (!failed && !(p[2] > 0 && p[3] > 0)) failed = api_mesh_fail(reason, "exponents of a supertorus are positive");
    if (!failed) failed = api_mesh_take(m->mesh, arena, n * n, 2 * n * n, reason);
    if (failed) return failed;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double u = 2 * M_PI * (double)i / (double)n, v = 2 * M_PI * (double)j / (double)n;
            double away = 1 + p[1] * power_of(cos(v), p[2]);
            put_vertex(m, away * power_of(cos(u), p[3]), away * power_of(sin(u), p[3]), p[1] * power_of(sin(v), p[2]));
        }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            size_t a = i * n + j, b = (i + 1) % n * n + j, c = (i + 1) % n * n + (j + 1) % n, d = i * n + (j + 1) % n;
            put_face(m, a, b, d);
            put_face(m, b, c, d);
        }
    return NULL;
}

/* --- wedge, plate, cone ------------------------------------------------------------------------------------------- */

/* Middle of bin i of n over the field of view, rad; gamma makes bins in the centre smaller. */
static double bin_centre(size_t i, size_t n, double view, double gamma)
{
    double edge[2];
    for (int k = 0; k < 2; k++) {
        double x = -1 + 2 * (double)(i + (size_t)k) / (double)n;
        edge[k]  = (gamma * x * x * x * x * x + (1 - gamma) * x) * (view * M_PI / 180);
    }
    return (edge[0] + edge[1]) / 2;
}

static const char *make_wedge(maker *m, api_arena *arena, const double *p, char reason[API_MESH_REASON])
{
    size_t      n[2]   = {0};
    const char *failed = check_resolution(p[0], 1, &n[0], reason);
    if (!failed) failed = check_resolution(p[1], 1, &n[1], reason);
    if (!failed && !(p[2] > 0 && p[2] <= 180 && p[3] > 0 && p[3] <= 90 && p[4] >= 0 && p[4] <= 1))
        failed = api_mesh_fail(reason, "fields of view of a wedge are up to 180 and 90 degrees, its gamma 0 to 1");
    if (!failed) failed = api_mesh_take(m->mesh, arena, n[0] * n[1], 0, reason);
    if (failed) return failed;
    for (size_t i = 0; i < n[0]; i++)
        for (size_t j = 0; j < n[1]; j++) {
            double a = bin_centre(i, n[0], p[2], p[4]), e = bin_centre(j, n[1], p[3], p[4]);
            put_vertex(m, cos(e) * sin(a), sin(e), -cos(e) * cos(a));
        }
    return NULL;
}

static const char *make_plate(maker *m, api_arena *arena, const double *p, char reason[API_MESH_REASON])
{
    size_t      n[2]   = {0};
    const char *failed = check_resolution(p[0], 2, &n[0], reason);
    if (!failed) failed = check_resolution(p[1], 2, &n[1], reason);
    if (!failed) failed = api_mesh_take(m->mesh, arena, n[0] * n[1], 2 * (n[0] - 1) * (n[1] - 1), reason);
    if (failed) return failed;
    for (size_t i = 0; i < n[0]; i++)
        for (size_t j = 0; j < n[1]; j++)
            put_vertex(m, -1 + ((double)i + 0.5) * (2 / (double)n[0]), -1 + ((double)j + 0.5) * (2 / (double)n[1]), -1);
    for (size_t i = 1; i < n[0]; i++)
        for (size_t j = 1; j < n[1]; j++) {
            size_t here = i * n[1] + j, before = here - n[1];
            put_face(m, before - 1, here - 1, before);
            put_face(m, here, before, here - 1);
        }
    return NULL;
}

static void put_ring(maker *m, size_t n, double radius, double z)
{
    for (size_t i = 0; i < n; i++) {
        double angle = 2 * (double)i * M_PI / (double)n;
        put_vertex(m, radius * cos(angle), radius * sin(angle), z);
    }
}

static const char *make_cone(maker *m, api_arena *arena, const double *p, char reason[API_MESH_REASON])
{
    size_t      n      = 0;
    const char *failed = check_resolution(p[0], 3, &n, reason);
    if (!failed && !(p[1] >= 0 && p[1] <= 1e6))
        failed = api_mesh_fail(reason, "the radius of the top of a cone is not negative");
    if (!failed) failed = api_mesh_take(m->mesh, arena, p[1] > 0 ? 2 * n : n + 1, 0, reason);
    if (failed) return failed;
    put_ring(m, n, 1, -1);
    if (p[1] > 0)
        put_ring(m, n, p[1], 1);
    else
        put_vertex(m, 0, 0, 1);
    return NULL;
}

const char *api_mesh_build(api_mesh *mesh, api_arena *arena, api_builtin_mesh shape, const double *parameters,
                           char reason[API_MESH_REASON])
{
    maker m = {.mesh = mesh};
    switch (shape) {
    case API_BUILTIN_HEMISPHERE: return make_hemisphere(&m, arena, parameters, reason);
    case API_BUILTIN_SPHERE: return make_sphere(&m, arena, parameters, reason);
    case API_BUILTIN_SUPERSPHERE: return make_supersphere(&m, arena, parameters, reason);
    case API_BUILTIN_SUPERTORUS: return make_supertorus(&m, arena, parameters, reason);
    case API_BUILTIN_WEDGE: return make_wedge(&m, arena, parameters, reason);
    case API_BUILTIN_PLATE: return make_plate(&m, arena, parameters, reason);
    case API_BUILTIN_CONE: return make_cone(&m, arena, parameters, reason);
    case API_BUILTIN_MESHES: break;
    }
    return api_mesh_fail(reason, "there is no such built-in mesh");
}
