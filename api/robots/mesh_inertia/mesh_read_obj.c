/* mesh_read_obj.c - read the vertices and faces of a Wavefront OBJ file: lines "v x y z", and "f a b c ..." whose
 * entries begin with the number of a vertex, from 1, or from the last one back if it is negative.
 *
 * A quadrilateral is cut along its shorter diagonal, as MuJoCo's reader does; a polygon with more corners becomes a
 * fan, and is refused if it has a reentrant corner. */
#include "api/codec/number.h"
#include "mesh_read.h"
#include <string.h>

enum { MOST_CORNERS = 4096 /* most corners of a polygon */ };

typedef struct obj_file {
    api_mesh *mesh;
    size_t    vertices, faces; /* found so far */
    size_t    line;
    bool      first_group, ended; /* `ended`: the first group with faces is over */
    char     *reason;
} obj_file;

/* A line that is being read. */
typedef struct text_line {
    const char *next, *end;
} text_line;

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static size_t word_length(text_line *line)
{
    while (line->next < line->end && is_space(*line->next))
        line->next++;
    const char *end = line->next;
    while (end < line->end && !is_space(*end))
        end++;
    return (size_t)(end - line->next);
}

/* Sets *line to the next line of the text and moves *cursor after it. False: at the end of the text. */
static bool next_line(const char **cursor, const char *end, text_line *line)
{
    if (*cursor >= end) return false;
    const char *stop = memchr(*cursor, '\n', (size_t)(end - *cursor));
    *line            = (text_line){*cursor, stop ? stop : end};
    *cursor          = stop ? stop + 1 : end;
    return true;
}

/* Returns the keyword of a line if it is one of the letters 'v', 'f', 'g', 'o'; else 0. */
static char line_kind(text_line *line)
{
    size_t size = word_length(line);
    char   kind = size == 1 && strchr("vfgo", *line->next) ? *line->next : '\0';
    line->next += size;
    return kind;
}

static size_t count_words(text_line line)
{
    size_t n = 0;
    for (size_t size = word_length(&line); size > 0; size = word_length(&line), n++)
        line.next += size;
    return n;
}

static void count_all(const char *bytes, size_t length, size_t *vertices, size_t *triangles)
{
    const char *cursor = bytes;
    text_line   line;
    while (next_line(&cursor, bytes + length, &line)) {
        char   kind  = line_kind(&line);
        size_t words = kind == 'f' ? count_words(line) : 0;
        *vertices += kind == 'v';
        *triangles += words > 2 ? words - 2 : 0;
    }
}

static const char *read_vertex(obj_file *o, text_line *line)
{
    for (size_t i = 0; i < 3; i++) {
        double value;
        size_t size = word_length(line);
        if (size == 0 || api_number_read_decimal(line->next, size, &value) != size)
            return api_mesh_fail(o->reason, "line %zu of the OBJ file has no three numbers", o->line);
        o->mesh->vertex[3 * o->vertices + i] = api_mesh_round(value);
        line->next += size;
    }
    o->vertices++;
    return NULL;
}

/* Reads the number of a vertex, up to a slash. Returns false unless it is that of a vertex of the file. */
static bool read_index(const obj_file *o, const char *word, size_t size, uint32_t *index)
{
    size_t n = 0, i = size > 0 && *word == '-' ? 1 : 0;
    for (; i < size && word[i] >= '0' && word[i] <= '9' && n <= API_MESH_VERTICES; i++)
        n = 10 * n + (size_t)(word[i] - '0');
    if (n == 0 || (i < size && word[i] != '/')) return false;
    if (*word == '-' && n > o->vertices) return false;
    *index = (uint32_t)(*word == '-' ? o->vertices - n : n - 1);
    return *index < o->mesh->n_vertices;
}

static double squared_distance(const obj_file *o, uint32_t a, uint32_t b)
{
    double sum = 0;
    for (size_t i = 0; i < 3; i++) {
        double d = o->mesh->vertex[3 * (size_t)a + i] - o->mesh->vertex[3 * (size_t)b + i];
        sum += d * d;
    }
    return sum;
}

static void put_triangle(obj_file *o, uint32_t a, uint32_t b, uint32_t c)
{
    memcpy(o->mesh->face + 3 * o->faces++, (uint32_t[3]){a, b, c}, 3 * sizeof(uint32_t));
}

/* Normal of the triangle between three corners, not of length 1. */
static void normal_of(const obj_file *o, uint32_t a, uint32_t b, uint32_t c, double n[3])
{
    const double *p = o->mesh->vertex + 3 * (size_t)a, *q = o->mesh->vertex + 3 * (size_t)b,
                 *r = o->mesh->vertex + 3 * (size_t)c;
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        n[i] = (q[j] - p[j]) * (r[k] - p[k]) - (q[k] - p[k]) * (r[j] - p[j]);
    }
}

/* True if the triangle at each corner has the orientation of the whole polygon. */
static bool is_convex(const obj_file *o, const uint32_t *corner, size_t n)
{
    double whole[3] = {0}, one[3];
    for (size_t i = 2; i < n; i++) {
        normal_of(o, corner[0], corner[i - 1], corner[i], one);
        for (int k = 0; k < 3; k++)
            whole[k] += one[k];
    }
    for (size_t i = 0; i < n; i++) {
        normal_of(o, corner[i], corner[(i + 1) % n], corner[(i + 2) % n], one);
        double along = 0, size = 0;
        for (int k = 0; k < 3; k++) {
            along += one[k] * whole[k];
            size += whole[k] * whole[k];
        }
        if (along < -1e-6 * size) return false;
    }
    return true;
}

static const char *add_polygon(obj_file *o, const uint32_t *corner, size_t n)
{
    if (n == 4 && squared_distance(o, corner[0], corner[2]) >= squared_distance(o, corner[1], corner[3])) {
        put_triangle(o, corner[0], corner[1], corner[3]);
        put_triangle(o, corner[1], corner[2], corner[3]);
        return NULL;
    }
    if (n > 4 && !is_convex(o, corner, n))
        return api_mesh_fail(
            o->reason, "the polygon in line %zu of the OBJ file has a reentrant corner: write triangles", o->line);
    for (size_t i = 2; i < n; i++)
        put_triangle(o, corner[0], corner[i - 1], corner[i]);
    return NULL;
}

/* Called when all vertices have been read, because a face may refer to vertices of later lines. */
static const char *read_face(obj_file *o, text_line *line)
{
    uint32_t corner[MOST_CORNERS];
    size_t   n = 0;
    for (size_t size = word_length(line); size > 0; size = word_length(line)) {
        if (n == MOST_CORNERS)
            return api_mesh_fail(o->reason, "the polygon in line %zu of the OBJ file has more than %d corners", o->line,
                                 MOST_CORNERS);
        if (!read_index(o, line->next, size, &corner[n++]))
            return api_mesh_fail(o->reason, "line %zu of the OBJ file has a corner that is no vertex of the file",
                                 o->line);
        line->next += size;
    }
    if (n < 3) return api_mesh_fail(o->reason, "line %zu of the OBJ file has a face of %zu corners", o->line, n);
    if (!o->ended) return add_polygon(o, corner, n);
    o->mesh->left_out++;
    return NULL;
}

/* Reads all lines of one kind; lines of groups are read together with those of faces. */
static const char *read_lines(obj_file *o, const char *bytes, size_t length, char kind)
{
    const char *cursor = bytes, *failed = NULL;
    text_line   line;
    o->line = o->vertices = 0;
    while (!failed && next_line(&cursor, bytes + length, &line)) {
        char found = line_kind(&line);
        o->line++;
        if (kind == 'f' && o->first_group && (found == 'g' || found == 'o')) o->ended |= o->faces > 0;
        if (found == 'v' && kind == 'f') o->vertices++;
        if (found != kind) continue;
        failed = kind == 'v' ? read_vertex(o, &line) : read_face(o, &line);
    }
    return failed;
}

const char *api_mesh_read_obj(api_mesh *mesh, api_arena *arena, const char *bytes, size_t length, bool first_group,
                              char reason[API_MESH_REASON])
{
    obj_file o        = {.mesh = mesh, .first_group = first_group, .reason = reason};
    size_t   vertices = 0, triangles = 0;
    count_all(bytes, length, &vertices, &triangles);
    const char *failed = api_mesh_take(mesh, arena, vertices, triangles, reason);
    if (!failed) failed = read_lines(&o, bytes, length, 'v');
    if (!failed) failed = read_lines(&o, bytes, length, 'f');
    mesh->n_faces = o.faces;
    return failed;
}
