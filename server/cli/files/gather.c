/* gather.c - gathers the files of a robot. Names are resolved as the readers of the formats do, so that these find in
 * the gathered files what they would find on the disk; too many files do no harm. */
#include "gather.h"
#include "api/robot_files.h"
#include "packages.h"
#include "server/store/durable_file.h"
#include "template.h"
#include "walk.h"
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { FILE_MAX = 1 << 30, ALL_MAX = 1 << 30, FILES_MAX = 10000, FOLDERS_MAX = 16 };

/* The state of a search for the files that the entries name. */
typedef struct gathering {
    cli_robot              *robot;
    const cli_robot_source *source;
    size_t                  entry;                    /* the file that is searched for names */
    char                   *mesh_folder[FOLDERS_MAX]; /* meshdir and assetdir of MJCF */
    size_t                  n_mesh_folders;
    bool template, again, failed; /* again: in the pass that searches the folders of meshes */
} gathering;

/* --- files -------------------------------------------------------------------------------------------------------- */

static bool set_error(cli_robot *robot, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool set_error(cli_robot *robot, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(robot->error, sizeof robot->error, format, arguments);
    va_end(arguments);
    return false;
}

static bool is_gathered(const cli_robot *robot, const char *path)
{
    for (size_t i = 0; i < robot->files.n; i++)
        if (strcmp(robot->entry[i].path, path) == 0) return true;
    return false;
}

/* Adds a file; takes over `bytes`. */
static bool add_bytes(cli_robot *robot, const char *path, char *bytes, size_t length)
{
    char *name = strdup(path);
    if (robot->files.n == robot->capacity) {
        size_t          capacity = robot->capacity > 0 ? 2 * robot->capacity : 32;
        api_file_entry *larger   = realloc(robot->entry, capacity * sizeof *larger);
        if (larger) {
            robot->entry    = larger;
            robot->capacity = capacity;
        }
    }
    robot->files.entry = robot->entry;
    if (!name || robot->files.n == robot->capacity || robot->files.n == FILES_MAX || length > ALL_MAX - robot->bytes) {
        free(name);
        free(bytes);
        return set_error(robot, "/%s: the robot names too many files, or they are too large", path);
    }
    robot->bytes += length;
    robot->entry[robot->files.n++] = (api_file_entry){.path = name, .bytes = bytes, .length = length};
    return true;
}

/* Adds the regular file "/" and path, unless it is there. False: there is none. */
static bool add_path(gathering *s, const char *path)
{
    char   whole[API_FILE_PATH + 1];
    size_t length = 0;
    if (is_gathered(s->robot, path)) return true;
    snprintf(whole, sizeof whole, "/%s", path);
    char *bytes = srv_file_read(AT_FDCWD, whole, FILE_MAX, &length);
    if (!bytes) return false;
    s->failed |= !add_bytes(s->robot, path, bytes, length);
    return !s->failed;
}

static bool add_in(gathering *s, const char *folder, const char *name)
{
    char path[API_FILE_PATH];
    return api_files_join(folder, name, path) && add_path(s, path);
}

static bool add_walked(void *arg, const char *path)
{
    gathering *s = arg;
    add_path(s, path);
    return !s->failed;
}

/* --- names -------------------------------------------------------------------------------------------------------- */

/* Writes the path that package://NAME/REST or model://NAME/REST means on this machine. The folder of the package stays
 * in the paths of an archive. */
static bool package_path(gathering *s, const char *name, char path[API_FILE_PATH])
{
    char   package[API_FILE_PATH], folder[API_FILE_PATH], found[API_FILE_PATH];
    size_t n = strcspn(name, "/");
    if (n == 0 || n >= sizeof package) return false;
    memcpy(package, name, n);
    package[n] = '\0';
    api_files_folder(s->robot->entry[s->entry].path, folder);
    if (!cli_package_find(package, folder, s->source->path, found)) return false;
    const char *base  = strrchr(found, '/') ? strrchr(found, '/') + 1 : found;
    size_t      start = (size_t)(base - found);
    if (strcmp(base, package) != 0) add_in(s, found, "package.xml");
    if (start < s->robot->common) s->robot->common = start;
    if (name[n] == '\0' || name[n + 1] == '\0') {
        snprintf(path, API_FILE_PATH, "%s", found);
        return true;
    }
    return api_files_join(found, name + n + 1, path);
}

/* Writes the path of the file that a file in `folder` refers to as `name`. */
static bool resolve_name(gathering *s, const char *folder, const char *name, char path[API_FILE_PATH])
{
    if (strncmp(name, "package://", 10) == 0) return package_path(s, name + 10, path);
    if (strncmp(name, "model://", 8) == 0) return package_path(s, name + 8, path);
    if (strncmp(name, "file://", 7) == 0) name += 7;
    return !strstr(name, "://") && api_files_join(folder, name, path);
}

/* Adds the file at the path, or the files of a folder with model.config. */
static bool add_model_at(gathering *s, const char *path)
{
    if (add_path(s, path)) return true;
    if (!add_in(s, path, "model.config")) return false;
    return cli_walk_ending(path, ".sdf", add_walked, s);
}

/* Adds a model that a URI of SDF names: by its path or, for a URI without a scheme, by the name of its folder. */
static bool add_sdf_model(gathering *s, const char *folder, const char *uri)
{
    char path[API_FILE_PATH];
    if (resolve_name(s, folder, uri, path) && add_model_at(s, path)) return true;
    const char *plain = api_files_plain_name(uri);
    return plain && package_path(s, plain, path) && add_model_at(s, path);
}

/* Adds a mesh: relative to the main file, to the file that names it, or to a folder of meshes. */
static bool add_mesh(gathering *s, const char *main_folder, const char *folder, const char *name)
{
    char        path[API_FILE_PATH], inner[API_FILE_PATH];
    const char *base = strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
    if (resolve_name(s, main_folder, name, path) && add_path(s, path)) return true;
    if (resolve_name(s, folder, name, path) && add_path(s, path)) return true;
    for (size_t i = 0; i < s->n_mesh_folders; i++)
        if (api_files_join(main_folder, s->mesh_folder[i], inner) && (add_in(s, inner, name) || add_in(s, inner, base)))
            return true;
    return false;
}

static bool keep_mesh_folder(gathering *s, const char *name)
{
    char *copy = s->again || s->n_mesh_folders == FOLDERS_MAX ? NULL : strdup(name);
    if (copy) s->mesh_folder[s->n_mesh_folders++] = copy;
    return true;
}

/* True for meshes that a reader of MJCF or SDF takes inertias from. */
static bool is_read_mesh(const gathering *s, const char *name)
{
    static const char *const endings[] = {".stl", ".obj", ".msh"};
    const char              *path = s->robot->entry[s->entry].path, *dot = strrchr(name, '.');
    size_t                   n = strlen(path);
    if (!s->source->meshes && n > 5 && strcasecmp(path + n - 5, ".urdf") == 0) return false;
    for (size_t i = 0; dot && i < 3; i++)
        if (strcasecmp(dot, endings[i]) == 0) return true;
    return false;
}

static bool visit_name(void *arg, api_reference_kind kind, const char *name)
{
    gathering *s = arg;
    char       main_folder[API_FILE_PATH], folder[API_FILE_PATH];
    bool       found = true;
    api_files_folder(s->robot->entry[0].path, main_folder);
    api_files_folder(s->robot->entry[s->entry].path, folder);
    switch (kind) {
    case API_REFERENCE_MJCF: found = add_in(s, main_folder, name) || add_in(s, folder, name); break;
    case API_REFERENCE_SDF: found = add_sdf_model(s, folder, name); break;
    case API_REFERENCE_FOLDER: return keep_mesh_folder(s, name);
    case API_REFERENCE_MESH:
        if (s->again && is_read_mesh(s, name)) found = add_mesh(s, main_folder, folder, name);
        break;
    case API_REFERENCE_XACRO: s->template = s->template || s->entry == 0; break;
    }
    s->robot->missing += s->again && !found;
    return !s->failed;
}

/* Visits the names in all gathered files, also in those that this adds; then the meshes, once their folders are
 * known. */
static bool gather_names(gathering *s)
{
    for (int pass = 0; pass < 2 && !s->failed; pass++) {
        s->again = pass == 1;
        for (s->entry = 0; s->entry < s->robot->files.n && !s->failed; s->entry++) {
            const api_file_entry *e = &s->robot->entry[s->entry];
            api_xml_references(e->bytes, e->length, visit_name, s);
        }
    }
    for (size_t i = 0; i < s->n_mesh_folders; i++)
        free(s->mesh_folder[i]);
    return !s->failed;
}

/* --- the robot ---------------------------------------------------------------------------------------------------- */

/* Writes the absolute path of an operand, without its first "/". */
static bool absolute_path(cli_robot *robot, const char *operand, char path[API_FILE_PATH])
{
    char cwd[API_FILE_PATH];
    return (getcwd(cwd, sizeof cwd) && api_files_join(cwd + 1, operand, path)) ||
           set_error(robot, "its path is too long");
}

static bool ends_with(const char *path, const char *ending)
{
    size_t length = strlen(path), n = strlen(ending);
    return length > n && strcasecmp(path + length - n, ending) == 0;
}

/* Expands the text by xacro if it is a template. */
static bool expand_template(cli_robot *robot, const char *file, bool is_template)
{
    if (!is_template) return true;
    size_t length = 0;
    char  *text   = cli_template_expand(file, FILE_MAX, &length);
    if (!text) return false;
    free(robot->text);
    robot->text   = text;
    robot->length = length;
    return true;
}

static bool note_template(void *arg, api_reference_kind kind, const char *name)
{
    bool *is_template = arg;
    (void)name;
    *is_template |= kind == API_REFERENCE_XACRO;
    return !*is_template;
}

/* Gathers what a file of that absolute path names. */
static bool gather_file(cli_robot *robot, const cli_robot_source *source, const char *path)
{
    bool      is_template = ends_with(path, ".xacro");
    gathering s           = {.robot = robot, .source = source};
    char      whole[API_FILE_PATH + 1];
    snprintf(whole, sizeof whole, "/%s", path);
    if (!is_template) api_xml_references(robot->text, robot->length, note_template, &is_template);
    if (!expand_template(robot, whole, is_template)) return false;
    char *copy = malloc(robot->length + 1);
    if (!copy) return set_error(robot, "no memory for /%s", path);
    memcpy(copy, robot->text, robot->length);
    if (!add_bytes(robot, path, copy, robot->length)) return false;
    robot->path   = robot->entry[0].path;
    robot->common = strlen(path);
    if (!gather_names(&s)) return false;
    for (size_t i = 0; i < robot->files.n; i++) { /* keeps the folder in which all files are, and its name */
        size_t same = 0, slash = 0;
        for (const char *a = robot->path, *b = robot->entry[i].path; a[same] && a[same] == b[same]; same++)
            if (a[same] == '/') slash = same;
        if (slash < robot->common) robot->common = slash;
    }
    while (robot->common > 0 && robot->path[robot->common - 1] != '/')
        robot->common--;
    return true;
}

/* A walk through the files of a folder. */
typedef struct folder_files {
    cli_robot all; /* paths are relative to the folder */
    size_t    prefix;
} folder_files;

static bool add_relative(void *arg, const char *path)
{
    folder_files *f      = arg;
    size_t        length = 0;
    char          whole[API_FILE_PATH + 1];
    snprintf(whole, sizeof whole, "/%s", path);
    char *bytes = srv_file_read(AT_FDCWD, whole, FILE_MAX, &length);
    return !bytes || add_bytes(&f->all, path + f->prefix, bytes, length);
}

/* Chooses the robot's file in a folder. False with robot->error. */
static bool choose_in_folder(cli_robot *robot, const cli_robot_source *source, const char *folder,
                             char path[API_FILE_PATH])
{
    folder_files f = {.prefix = strlen(folder) + 1};
    api_problem  problem;
    if (source->main)
        return api_files_join(folder, source->main, path) || set_error(robot, "--main %s is no path", source->main);
    api_problem_clear(&problem);
    bool                  good   = cli_walk_all(folder, add_relative, &f);
    const api_file_entry *chosen = good ? api_main_file(&f.all.files, NULL, &problem) : NULL;
    if (!good) snprintf(robot->error, sizeof robot->error, "%s", f.all.error);
    if (good && !chosen) set_error(robot, "%s", problem.detail);
    good = chosen && api_files_join(folder, chosen->path, path);
    cli_robot_free(&f.all);
    return good;
}

static bool read_operand(cli_robot *robot, const char *file)
{
    robot->text = srv_input_read(file, FILE_MAX, &robot->length);
    return robot->text || set_error(robot, "cannot read it: %s", strerror(errno));
}

bool cli_robot_gather(cli_robot *robot, const cli_robot_source *source)
{
    char path[API_FILE_PATH], chosen[API_FILE_PATH], whole[API_FILE_PATH + 1];
    *robot = (cli_robot){0};
    if (strcmp(source->operand, "-") == 0) return read_operand(robot, "-");
    if (!absolute_path(robot, source->operand, path)) return false;
    if (cli_is_folder(source->operand)) {
        if (!choose_in_folder(robot, source, path, chosen)) return false;
        snprintf(path, sizeof path, "%s", chosen);
        snprintf(whole, sizeof whole, "/%s", path);
        return read_operand(robot, whole) && gather_file(robot, source, path);
    }
    if (!read_operand(robot, source->operand)) return false;
    if (api_archive_kind_of(robot->text, robot->length) != API_NO_ARCHIVE) return true;
    return gather_file(robot, source, path);
}

void cli_robot_free(cli_robot *robot)
{
    for (size_t i = 0; i < robot->files.n; i++) {
        free((void *)(uintptr_t)robot->entry[i].path);
        free((void *)(uintptr_t)robot->entry[i].bytes);
    }
    free(robot->entry);
    free(robot->text);
}
