/* archive.c - reads archives into named files, with all limits; see archive.h. */
#include "archive.h"
#include "api/codec/utf8.h"
#include "gzip.h"
#include "multipart.h"
#include "tar.h"
#include "zip.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

/* --- memory ------------------------------------------------------------------------------------------------------- */

static bool claim_bytes(api_archive *a, size_t bytes, api_problem *problem)
{
    if (a->share && !api_claim(a->share, bytes, problem)) return false;
    a->claimed += bytes;
    return true;
}

static char *take_claimed(api_archive *a, api_arena *arena, size_t bytes, api_problem *problem)
{
    char *taken = claim_bytes(a, bytes, problem) ? api_arena_take(arena, bytes, 1) : NULL;
    if (!taken) api_fail(problem, API_MEMORY_FULL, NULL, "no memory to read the archive");
    return taken;
}

/* Makes space for one more file in the list. */
static bool grow_list(api_archive *a, api_problem *problem)
{
    if (a->files.n < a->capacity) return true;
    size_t          capacity = a->capacity > 0 ? 2 * a->capacity : 64;
    api_file_entry *entry    = (api_file_entry *)(void *)take_claimed(a, &a->names, capacity * sizeof *entry, problem);
    if (!entry) return false;
    if (a->files.n > 0) memcpy(entry, a->entry, a->files.n * sizeof *entry);
    a->entry       = entry;
    a->files.entry = entry;
    a->capacity    = capacity;
    return true;
}

/* --- one entry ---------------------------------------------------------------------------------------------------- */

static bool refuse_entry(api_problem *problem, const char *name, const char *text)
{
    return api_fail(problem, API_BAD_ARCHIVE, NULL, "\"%.80s\" in the archive %s", name, text);
}

static bool has_part(const char *name, const char *part)
{
    size_t n = strlen(part);
    for (const char *part_start = name; *part_start;
         part_start += strcspn(part_start, "/"), part_start += *part_start == '/')
        if (strcspn(part_start, "/") == n && memcmp(part_start, part, n) == 0) return true;
    return false;
}

static bool has_control(const char *name)
{
    for (; *name; name++)
        if ((unsigned char)*name < ' ' || *name == 127) return true;
    return false;
}

/* Checks the name of a file or folder, and writes it in normal form: "" for a folder "./". */
static bool check_entry_name(const char *name, size_t length, char path[API_FILE_PATH], api_problem *problem)
{
    char   shown[API_FILE_PATH];
    size_t depth = 0;
    if (length == 0 || length >= sizeof shown || memchr(name, '\0', length))
        return api_fail(problem, API_BAD_ARCHIVE, NULL, "a name in the archive is empty, has a NUL or %d bytes or more",
                        API_FILE_PATH);
    memcpy(shown, name, length);
    shown[length] = '\0';
    if (api_utf8_prefix(name, length) < length || has_control(shown))
        return api_fail(problem, API_BAD_ARCHIVE, NULL, "a name in the archive is not UTF-8 or has control characters");
    if (*shown == '/')
        return refuse_entry(problem, shown, "has an absolute name: archive the folder by a relative one");
    if (strchr(shown, '\\')) return refuse_entry(problem, shown, "has a backslash in its name: folders end with \"/\"");
    if (has_part(shown, "..")) return refuse_entry(problem, shown, "leads outside by \"..\"");
    for (const char *c = shown; *c; c++)
        depth += *c == '/';
    if (depth > API_ARCHIVE_DEPTH) return refuse_entry(problem, shown, "is in more than 32 folders");
    if (!api_files_join("", shown, path)) *path = '\0';
    return true;
}

static bool ends_in(const char *path, const char *ending)
{
    size_t length = strlen(path), n = strlen(ending);
    return length > n && strcasecmp(path + length - n, ending) == 0;
}

/* True for a file that no reader of robots needs: a picture, or the attributes that macOS adds. */
static bool is_left_out(const char *path)
{
    static const char *const endings[] = {".png", ".jpg", ".jpeg", ".gif", ".bmp", ".tga", ".tif", ".tiff",
                                          ".hdr", ".exr", ".dds",  ".ktx", ".psd", ".svg", ".mp4", NULL};
    for (size_t i = 0; endings[i]; i++)
        if (ends_in(path, endings[i])) return true;
    return strncmp(path, "__MACOSX/", 9) == 0 || has_part(path, ".git");
}

/* Counts an entry. */
static bool count_entry(api_archive *a, api_problem *problem)
{
    return ++a->seen <= API_ARCHIVE_ENTRIES ||
           api_fail(problem, API_BAD_ARCHIVE, NULL,
                    "the archive has more than %d entries: archive the robot's folder only", API_ARCHIVE_ENTRIES);
}

/* Checks the size of a file of `packed` bytes before it is unpacked. */
static bool check_size(api_archive *a, const char *path, size_t packed, size_t length, api_problem *problem)
{
    if (length > API_ARCHIVE_SMALL && length / API_ARCHIVE_RATIO > packed)
        return refuse_entry(problem, path, "unpacks to more than 200 times its size");
    if (length > a->most - a->unpacked)
        return api_fail(problem, API_BAD_ARCHIVE, NULL,
                        "with \"%.80s\" the archive unpacks to more than %zu bytes; limits.body is the limit", path,
                        a->most);
    a->unpacked += length;
    return a->unpacked <= API_ARCHIVE_SMALL || a->unpacked / API_ARCHIVE_RATIO <= a->packed ||
           refuse_entry(problem, path, "and the files before it unpack to more than 200 times the archive's size");
}

static bool add_file(api_archive *a, const char *path, const char *bytes, size_t length, api_problem *problem)
{
    size_t n    = strlen(path) + 1;
    char  *name = grow_list(a, problem) ? take_claimed(a, &a->names, n, problem) : NULL;
    if (!name) return false;
    memcpy(name, path, n);
    a->entry[a->files.n++] = (api_file_entry){.path = name, .bytes = bytes, .length = length};
    return true;
}

/* --- the forms ---------------------------------------------------------------------------------------------------- */

static bool add_zip_entry(api_archive *a, const api_zip_entry *entry, api_problem *problem)
{
    char   path[API_FILE_PATH];
    mode_t kind = entry->mode & S_IFMT;
    if (!check_entry_name(entry->name, entry->name_length, path, problem)) return false;
    if (kind == S_IFLNK)
        return refuse_entry(problem, path, "is a symbolic link: archive the file that it names (zip without -y)");
    if (kind != 0 && kind != S_IFREG && kind != S_IFDIR)
        return refuse_entry(problem, path, "is a device or no plain file");
    bool folder = kind == S_IFDIR || entry->name[entry->name_length - 1] == '/';
    if (folder && entry->length > 0) return refuse_entry(problem, path, "is a folder with content");
    if (folder || is_left_out(path)) return true;
    if (!check_size(a, path, entry->packed_length, entry->length, problem)) return false;
    char *bytes = take_claimed(a, &a->content, entry->length, problem);
    return bytes && api_zip_unpack(entry, bytes, problem) && add_file(a, path, bytes, entry->length, problem);
}

static bool read_zip(api_archive *a, const char *bytes, size_t length, api_problem *problem)
{
    api_zip       zip;
    api_zip_entry entry;
    if (!api_zip_open(&zip, bytes, length, problem)) return false;
    for (size_t i = 0; i < zip.files; i++)
        if (!count_entry(a, problem) || !api_zip_next(&zip, &entry, problem) || !add_zip_entry(a, &entry, problem))
            return false;
    return true;
}

static bool add_tar_entry(api_archive *a, const api_tar_entry *entry, api_problem *problem)
{
    char path[API_FILE_PATH];
    if (!check_entry_name(entry->name, entry->name_length, path, problem)) return false;
    switch (entry->type) {
    case '0': break;
    case '5': return true;
    case '1': return refuse_entry(problem, path, "is a hard link: archive the files by tar --hard-dereference");
    case '2': return refuse_entry(problem, path, "is a symbolic link: archive the files by tar --dereference");
    default: return refuse_entry(problem, path, "is a device or no plain file");
    }
    if (entry->name[entry->name_length - 1] == '/' || is_left_out(path)) return true;
    return add_file(a, path, entry->bytes, entry->length, problem);
}

static bool read_tar(api_archive *a, const char *bytes, size_t length, api_problem *problem)
{
    api_tar       tar = {.bytes = bytes, .length = length};
    api_tar_entry entry;
    for (bool more = true;;) {
        if (!api_tar_next(&tar, &entry, &more, problem)) return false;
        if (!more) return true;
        if (!count_entry(a, problem) || !add_tar_entry(a, &entry, problem)) return false;
    }
}

/* Counts the bytes that a gzip file unpacks to, and refuses more than the limits. */
static bool count_unpacked(api_archive *a, const char *bytes, size_t length, size_t *unpacked, api_problem *problem)
{
    const size_t by_ratio = API_ARCHIVE_RATIO * length;
    const size_t expected = by_ratio < API_ARCHIVE_SMALL ? API_ARCHIVE_SMALL : by_ratio;
    if (!api_gzip_count(bytes, length, expected < a->most ? expected : a->most, unpacked, problem)) return false;
    if (*unpacked > a->most)
        return api_fail(problem, API_BAD_ARCHIVE, NULL,
                        "the gzip file unpacks to more than %zu bytes; limits.body is the limit", a->most);
    return *unpacked <= expected || api_fail(problem, API_BAD_ARCHIVE, NULL,
                                             "the gzip file unpacks to more than %d times its size", API_ARCHIVE_RATIO);
}

static bool read_gzip(api_archive *a, const char *bytes, size_t length, api_problem *problem)
{
    size_t unpacked = 0;
    if (!count_unpacked(a, bytes, length, &unpacked, problem)) return false;
    char *tar = take_claimed(a, &a->content, unpacked, problem);
    if (!tar || !api_gzip_unpack(bytes, length, tar, unpacked, problem)) return false;
    return api_tar_begins(tar, unpacked)
               ? read_tar(a, tar, unpacked, problem)
               : api_fail(problem, API_BAD_ARCHIVE, NULL,
                          "the gzip file has no tar archive: send a robot's file itself uncompressed");
}

static bool read_multipart(api_archive *a, const char *bytes, size_t length, api_problem *problem)
{
    char               path[API_FILE_PATH];
    api_multipart      form;
    api_multipart_part part;
    bool               more = true;
    if (!api_multipart_open(&form, bytes, length, problem)) return false;
    for (;;) {
        if (!api_multipart_next(&form, &part, &more, problem)) return false;
        if (!more) return true;
        if (!count_entry(a, problem) || !check_entry_name(part.name, strlen(part.name), path, problem)) return false;
        if (*path && !is_left_out(path) && !add_file(a, path, part.bytes, part.length, problem)) return false;
    }
}

/* --- all entries -------------------------------------------------------------------------------------------------- */

static int compare_paths(const void *a, const void *b)
{
    return strcmp(((const api_file_entry *)a)->path, ((const api_file_entry *)b)->path);
}

/* Sorts the files by their paths, of which none may occur twice. */
static bool check_duplicates(api_archive *a, api_problem *problem)
{
    if (a->files.n == 0) return api_fail(problem, API_BAD_ARCHIVE, NULL, "the archive has no file of a robot");
    qsort(a->entry, a->files.n, sizeof *a->entry, compare_paths);
    for (size_t i = 1; i < a->files.n; i++)
        if (strcmp(a->entry[i - 1].path, a->entry[i].path) == 0)
            return refuse_entry(problem, a->entry[i].path, "occurs twice");
    return true;
}

api_archive_kind api_archive_kind_of(const char *bytes, size_t length)
{
    if (api_zip_begins(bytes, length)) return API_ARCHIVE_ZIP;
    if (api_gzip_begins(bytes, length)) return API_ARCHIVE_GZIP;
    if (api_tar_begins(bytes, length)) return API_ARCHIVE_TAR;
    return api_multipart_begins(bytes, length) ? API_ARCHIVE_FORM : API_NO_ARCHIVE;
}

bool api_archive_open(api_archive *a, api_archive_kind kind, const char *bytes, size_t length, api_problem *problem)
{
    static const char *const names[] = {"no archive", "a zip archive", "a tar archive", "a tar.gz archive",
                                        "multipart/form-data"};
    api_archive_kind         found   = api_archive_kind_of(bytes, length);
    bool                     read    = false;
    a->packed                        = length;
    if (kind != found || kind == API_NO_ARCHIVE)
        return api_fail(problem, API_BAD_ARCHIVE, NULL, "the body begins as %s, but its Content-Type names %s",
                        names[found], names[kind]);
    switch (kind) {
    case API_NO_ARCHIVE: break;
    case API_ARCHIVE_ZIP: read = read_zip(a, bytes, length, problem); break;
    case API_ARCHIVE_TAR: read = read_tar(a, bytes, length, problem); break;
    case API_ARCHIVE_GZIP: read = read_gzip(a, bytes, length, problem); break;
    case API_ARCHIVE_FORM: read = read_multipart(a, bytes, length, problem); break;
    }
    return read && check_duplicates(a, problem);
}

void api_archive_close(api_archive *a)
{
    api_arena_free(&a->names);
    api_arena_free(&a->content);
    if (a->share) api_unclaim(a->share, a->claimed);
}
