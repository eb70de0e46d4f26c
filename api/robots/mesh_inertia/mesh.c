/* mesh.c - take memory for meshes, check their indices, join vertices at the same place, and count edges. Vertices and
 * edges are found in tables of hashes with linear probing, at most half full. */
#include "mesh.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NONE UINT32_MAX

double api_mesh_round(double x)
{
    volatile float rounded = (float)x;
    return (double)rounded + 0.0;
}

const char *api_mesh_fail(char reason[API_MESH_REASON], const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(reason, API_MESH_REASON, format, args);
    va_end(args);
    return reason;
}

const char *api_mesh_no_memory(char reason[API_MESH_REASON])
{
    return api_mesh_fail(reason, "there is no memory for the mesh");
}

const char *api_mesh_take(api_mesh *mesh, api_arena *arena, size_t n_vertices, size_t n_faces,
                          char reason[API_MESH_REASON])
{
    if (n_vertices > API_MESH_VERTICES || n_faces > API_MESH_FACES)
        return api_mesh_fail(reason, "the mesh has %zu vertices and %zu faces; the limits are %d and %d", n_vertices,
                             n_faces, API_MESH_VERTICES, API_MESH_FACES);
    *mesh        = (api_mesh){.n_vertices = n_vertices, .n_faces = n_faces};
    mesh->vertex = api_arena_take(arena, 3 * n_vertices, sizeof *mesh->vertex);
    mesh->face   = api_arena_take(arena, 3 * n_faces, sizeof *mesh->face);
    return mesh->vertex && mesh->face ? NULL : api_mesh_no_memory(reason);
}

const char *api_mesh_check(const api_mesh *mesh, char reason[API_MESH_REASON])
{
    if (mesh->n_vertices < 4) return api_mesh_fail(reason, "the mesh has %zu vertices, and needs 4", mesh->n_vertices);
    for (size_t i = 0; i < 3 * mesh->n_vertices; i++)
        if (!isfinite(mesh->vertex[i])) return api_mesh_fail(reason, "vertex %zu of the mesh is not finite", i / 3);
    for (size_t i = 0; i < 3 * mesh->n_faces; i++)
        if (mesh->face[i] >= mesh->n_vertices)
            return api_mesh_fail(reason, "face %zu of the mesh has vertex %u, and there are %zu, from 0", i / 3,
                                 mesh->face[i], mesh->n_vertices);
    return NULL;
}

/* Returns the number of entries of a table for n keys: a power of two of at least 2 n. */
static size_t table_size(size_t n)
{
    size_t size = 16;
    while (size < 2 * n)
        size *= 2;
    return size;
}

/* Spreads the bits of a key (the finalizer of MurmurHash3). */
static uint64_t mix(uint64_t h)
{
    h = (h ^ (h >> 33)) * UINT64_C(0xff51afd7ed558ccd);
    h = (h ^ (h >> 33)) * UINT64_C(0xc4ceb9fe1a85ec53);
    return h ^ (h >> 33);
}

static uint64_t hash_vertex(const double v[3])
{
    uint64_t bits[3];
    memcpy(bits, v, sizeof bits);
    return mix(mix(mix(bits[0]) ^ bits[1]) ^ bits[2]);
}

/* Returns the index of the table entry for a vertex: an empty one, or one with a vertex at the same coordinates. */
static size_t find_vertex(const api_mesh *mesh, const uint32_t *table, size_t size, const double v[3])
{
    size_t place = (size_t)hash_vertex(v) & (size - 1);
    while (table[place] != NONE && memcmp(mesh->vertex + 3 * (size_t)table[place], v, 3 * sizeof *v) != 0)
        place = (place + 1) & (size - 1);
    return place;
}

const char *api_mesh_merge(api_mesh *mesh, api_arena *arena, char reason[API_MESH_REASON])
{
    size_t    size = table_size(mesh->n_vertices), n = 0;
    uint32_t *table = api_arena_take(arena, size, sizeof *table);
    uint32_t *place = api_arena_take(arena, mesh->n_vertices, sizeof *place);
    if (!table || !place) return api_mesh_no_memory(reason);
    memset(table, 0xff, size * sizeof *table);
    for (size_t i = 0; i < mesh->n_vertices; i++) {
        double v[3] = {mesh->vertex[3 * i] + 0.0, mesh->vertex[3 * i + 1] + 0.0, mesh->vertex[3 * i + 2] + 0.0};
        size_t slot = find_vertex(mesh, table, size, v);
        if (table[slot] == NONE) {
            memcpy(mesh->vertex + 3 * n, v, sizeof v);
            table[slot] = (uint32_t)n++;
        }
        place[i] = table[slot];
    }
    for (size_t i = 0; i < 3 * mesh->n_faces; i++)
        mesh->face[i] = place[mesh->face[i]];
    mesh->n_vertices = n;
    return NULL;
}

/* An edge between two vertices, the lower index first, and the numbers of faces that pass it from the lower to the
 * higher index and back. */
typedef struct edge {
    uint32_t low, high;
    uint32_t up, down;
} edge;

static void count_edge(edge *table, size_t size, uint32_t from, uint32_t to)
{
    uint32_t low = from < to ? from : to, high = from < to ? to : from;
    size_t   place = (size_t)mix((uint64_t)low << 32 | high) & (size - 1);
    while (table[place].up + table[place].down > 0 && (table[place].low != low || table[place].high != high))
        place = (place + 1) & (size - 1);
    table[place].low  = low;
    table[place].high = high;
    table[place].up += from < to;
    table[place].down += from > to;
}

const char *api_mesh_count_edges(const api_mesh *mesh, api_arena *arena, api_mesh_edges *edges,
                                 char reason[API_MESH_REASON])
{
    size_t size  = table_size(3 * mesh->n_faces);
    edge  *table = api_arena_take(arena, size, sizeof *table);
    if (!table) return api_mesh_no_memory(reason);
    for (size_t i = 0; i < mesh->n_faces; i++) {
        const uint32_t *f = mesh->face + 3 * i;
        if (f[0] == f[1] || f[1] == f[2] || f[2] == f[0]) continue;
        for (int k = 0; k < 3; k++)
            count_edge(table, size, f[k], f[(k + 1) % 3]);
    }
    *edges = (api_mesh_edges){0};
    for (size_t i = 0; i < size; i++) {
        edges->n += table[i].up + table[i].down > 0;
        edges->open += table[i].up != table[i].down;
    }
    return NULL;
}
