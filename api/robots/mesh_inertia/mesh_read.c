/* mesh_read.c - choose the reader of a mesh file, and read MSH and STL. Numbers of binary files are little-endian, as
 * are all processors that the server runs on. */
#include "mesh_read.h"
#include "api/codec/number.h"
#include <string.h>
#include <strings.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers of mesh files are copied as they are");

enum { STL_HEAD = 84, STL_FACE = 50, MSH_HEAD = 16 };

api_mesh_format api_mesh_format_of(const char *name)
{
    static const struct {
        const char     *ending;
        api_mesh_format format;
    } known[]     = {{".stl", API_MESH_STL},      {".obj", API_MESH_OBJ},      {".msh", API_MESH_MSH},
                     {"model/stl", API_MESH_STL}, {"model/obj", API_MESH_OBJ}, {"model/vnd.mujoco.msh", API_MESH_MSH}};
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t ending = strlen(known[i].ending);
        if (length >= ending && strcasecmp(name + length - ending, known[i].ending) == 0) return known[i].format;
    }
    return API_MESH_FORMATS;
}

/* --- MSH ---------------------------------------------------------------------------------------------------------- */

static void copy_vertices(api_mesh *mesh, const char *bytes)
{
    for (size_t i = 0; i < 3 * mesh->n_vertices; i++) {
        float x;
        memcpy(&x, bytes + i * sizeof x, sizeof x);
        mesh->vertex[i] = (double)x;
    }
}

/* Reads MSH: the numbers of vertices, normals, texture coordinates and faces, then these arrays. */
static const char *read_msh(api_mesh *mesh, api_arena *arena, const char *bytes, size_t length,
                            char reason[API_MESH_REASON])
{
    int32_t count[4];
    if (length < MSH_HEAD) return api_mesh_fail(reason, "the MSH file ends in its head");
    memcpy(count, bytes, sizeof count);
    for (int i = 0; i < 4; i++)
        if (count[i] < 0 || count[i] > API_MESH_VERTICES)
            return api_mesh_fail(reason, "the MSH file has a count of %d in its head; the limit is %d", count[i],
                                 API_MESH_VERTICES);
    size_t vertices = (size_t)count[0], faces = (size_t)count[3];
    size_t before_faces = MSH_HEAD + 12 * vertices + 12 * (size_t)count[1] + 8 * (size_t)count[2];
    if (length != before_faces + 12 * faces)
        return api_mesh_fail(reason, "the MSH file has %zu bytes; by its head it would have %zu", length,
                             before_faces + 12 * faces);
    const char *failed = api_mesh_take(mesh, arena, vertices, faces, reason);
    if (failed) return failed;
    copy_vertices(mesh, bytes + MSH_HEAD);
    memcpy(mesh->face, bytes + before_faces, 12 * faces);
    return NULL;
}

/* --- STL ---------------------------------------------------------------------------------------------------------- */

/* Numbers the vertices in order: each face has three of its own. */
static void number_corners(api_mesh *mesh)
{
    for (size_t i = 0; i < mesh->n_vertices; i++)
        mesh->face[i] = (uint32_t)i;
}

/* Reads binary STL: 80 bytes, the number of faces, then for each face a normal, three corners and two bytes. */
static const char *read_binary_stl(api_mesh *mesh, api_arena *arena, const char *bytes, size_t length,
                                   char reason[API_MESH_REASON])
{
    size_t      n      = (length - STL_HEAD) / STL_FACE;
    const char *failed = api_mesh_take(mesh, arena, 3 * n, n, reason);
    if (failed) return failed;
    for (size_t f = 0; f < n; f++) {
        float corner[9];
        memcpy(corner, bytes + STL_HEAD + STL_FACE * f + 12, sizeof corner);
        for (int i = 0; i < 9; i++)
            mesh->vertex[9 * f + (size_t)i] = (double)corner[i];
    }
    number_corners(mesh);
    return NULL;
}

typedef struct words {
    const char *next, *end;
} words;

/* Returns the length of the next word, which begins at w->next; 0: there is none. */
static size_t find_word(words *w)
{
    static const char space[] = " \t\r\n\f\v";
    while (w->next < w->end && (*w->next == '\0' || strchr(space, *w->next)))
        w->next++;
    const char *end = w->next;
    while (end < w->end && *end != '\0' && !strchr(space, *end))
        end++;
    return (size_t)(end - w->next);
}

static bool is_word(const words *w, size_t length, const char *word)
{
    return length == strlen(word) && strncasecmp(w->next, word, length) == 0;
}

/* Counts the words "vertex". */
static size_t count_corners(const char *bytes, size_t length)
{
    words  w = {bytes, bytes + length};
    size_t n = 0;
    for (size_t size = find_word(&w); size > 0; size = find_word(&w)) {
        n += is_word(&w, size, "vertex");
        w.next += size;
    }
    return n;
}

static bool read_corner(words *w, double v[3])
{
    for (int i = 0; i < 3; i++) {
        double value;
        size_t size = find_word(w);
        if (size == 0 || api_number_read_decimal(w->next, size, &value) != size) return false;
        v[i] = api_mesh_round(value);
        w->next += size;
    }
    return true;
}

/* Reads the three numbers after each "vertex"; three of them are a face. */
static const char *read_text_stl(api_mesh *mesh, api_arena *arena, const char *bytes, size_t length,
                                 char reason[API_MESH_REASON])
{
    size_t n = count_corners(bytes, length), found = 0;
    words  w = {bytes, bytes + length};
    if (n == 0 || n % 3 != 0)
        return api_mesh_fail(reason, "the STL file has %zu corners, which is no multiple of 3 above 0", n);
    const char *failed = api_mesh_take(mesh, arena, n, n / 3, reason);
    if (failed) return failed;
    for (size_t size = find_word(&w); size > 0; size = find_word(&w)) {
        bool corner = is_word(&w, size, "vertex");
        w.next += size;
        if (corner && !read_corner(&w, mesh->vertex + 3 * found))
            return api_mesh_fail(reason, "corner %zu of the STL file has no three numbers", found + 1);
        found += corner;
    }
    number_corners(mesh);
    return NULL;
}

const char *api_mesh_read_stl(api_mesh *mesh, api_arena *arena, const char *bytes, size_t length,
                              char reason[API_MESH_REASON])
{
    uint32_t n = 0;
    if (length >= STL_HEAD) memcpy(&n, bytes + STL_HEAD - sizeof n, sizeof n);
    if (length >= STL_HEAD && length == STL_HEAD + STL_FACE * (size_t)n)
        return n > 0 ? read_binary_stl(mesh, arena, bytes, length, reason)
                     : api_mesh_fail(reason, "the STL file has no faces");
    if (length >= 5 && strncasecmp(bytes, "solid", 5) == 0 && memchr(bytes, '\0', length) == NULL)
        return read_text_stl(mesh, arena, bytes, length, reason);
    return api_mesh_fail(reason, "the STL file has %zu bytes; by its head it would have %zu", length,
                         STL_HEAD + STL_FACE * (size_t)n);
}

/* --- all ---------------------------------------------------------------------------------------------------------- */

const char *api_mesh_read(api_mesh *mesh, api_arena *arena, const api_mesh_file *file, char reason[API_MESH_REASON])
{
    static const char pointer[] = "version https://git-lfs";
    const char       *bytes     = file->bytes;
    const size_t      length    = file->length;
    if (file->format == API_MESH_FORMATS)
        return api_mesh_fail(reason, "the format of the mesh file is none of STL, OBJ and MSH");
    if (length == 0) return api_mesh_fail(reason, "the mesh file is empty");
    if (length >= sizeof pointer - 1 && memcmp(bytes, pointer, sizeof pointer - 1) == 0)
        return api_mesh_fail(reason, "the mesh file is a Git LFS pointer: fetch the file itself with git lfs pull");
    switch (file->format) {
    case API_MESH_STL: return api_mesh_read_stl(mesh, arena, bytes, length, reason);
    case API_MESH_OBJ: return api_mesh_read_obj(mesh, arena, bytes, length, file->first_group, reason);
    case API_MESH_MSH: return read_msh(mesh, arena, bytes, length, reason);
    case API_MESH_FORMATS: break;
    }
    return NULL;
}
